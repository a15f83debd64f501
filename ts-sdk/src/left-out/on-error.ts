import type * as real from "../app/on-error.ts";
import { leftOut } from "./left-out.ts";

export const errorHandler: typeof real.errorHandler = /* @__PURE__ */ leftOut("onError");
