import type * as real from "../app/prefix.ts";
import { leftOut } from "./left-out.ts";

export const checkPrefix: typeof real.checkPrefix = /* @__PURE__ */ leftOut("prefix");
