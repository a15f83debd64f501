import type * as real from "../app/on-invalid.ts";
import { leftOut } from "./left-out.ts";

export const invalidHandler: typeof real.invalidHandler = /* @__PURE__ */ leftOut("onInvalid");
