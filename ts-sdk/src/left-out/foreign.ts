import type * as real from "../app/foreign.ts";
import { leftOut } from "./left-out.ts";

export const foreignParser: typeof real.foreignParser = /* @__PURE__ */ leftOut("~standard");
export const pathOf: typeof real.pathOf = /* @__PURE__ */ leftOut("~standard");
