import type * as real from "../http/cookies.ts";
import { leftOut } from "./left-out.ts";

export const withCookie: typeof real.withCookie = /* @__PURE__ */ leftOut("cookie");
export const cookiesOf: typeof real.cookiesOf = /* @__PURE__ */ leftOut("cookie");
