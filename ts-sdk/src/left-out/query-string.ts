import type * as real from "../app/query-string.ts";
import { leftOut } from "./left-out.ts";

export const queryReader: typeof real.queryReader = /* @__PURE__ */ leftOut("query");
export const fieldReader: typeof real.fieldReader = /* @__PURE__ */ leftOut("Form");
