import type * as real from "../app/header-input.ts";
import { leftOut } from "./left-out.ts";

export const headerReader: typeof real.headerReader = /* @__PURE__ */ leftOut("headers");
