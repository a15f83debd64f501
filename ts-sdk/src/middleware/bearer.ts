import type { Request } from "../http/request.ts";
import { authenticate, checkVerify, credentials, type Identified, type WithUser } from "./authenticate.ts";
import type { Middleware } from "./types.ts";

/** RFC 6750, section 2.1. */
export const BEARER = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i;

/**
 * Authenticates by the token of `Authorization: Bearer …` (RFC 6750): `verify(token, req)` returns the user, whom
 * handlers find as `user` in their context. Without a user the answer is 401. Compare a secret of your own with
 * `safeEqual`.
 *
 * @example
 * const signedIn = use(bearer(async (token) => findUser(token)));
 * @throws TypeError when `verify` is not a function.
 */
export function bearer<User>(verify: (token: string, req: Request) => Identified<User>): Middleware<WithUser<User>> {
  checkVerify("bearer", verify);
  return authenticate<User>({ kind: "bearer" }, "Bearer", async (req) => {
    const token = credentials(req, BEARER);
    return token === undefined ? undefined : verify(token, req);
  });
}
