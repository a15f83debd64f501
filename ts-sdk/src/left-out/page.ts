import type * as real from "../outbound/page.ts";
import { leftOut } from "./left-out.ts";

export const readPage: typeof real.readPage = /* @__PURE__ */ leftOut(".page(");
