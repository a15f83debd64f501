import { isToken } from "../http/headers.ts";
import type { Request } from "../http/request.ts";
import { authenticate, checkVerify, type Identified, type WithUser } from "./authenticate.ts";
import type { Middleware } from "./types.ts";

/**
 * Authenticates by a key in a header of its own, as in `apiKey({ header: "x-api-key" }, verify)`: `verify(key, req)`
 * returns the user, whom handlers find as `user` in their context. Without a user the answer is 401. Compare a key of
 * your own with `safeEqual`.
 *
 * @throws TypeError when the header's name is invalid, or `verify` is not a function.
 * @example
 * routes({ … }, { use: [apiKey({ header: "x-api-key" }, (key) => (safeEqual(key, secret("API_KEY")) ? { name: "cron" } : undefined))] })
 */
export function apiKey<User>(
  { header }: { readonly header: string },
  verify: (key: string, req: Request) => Identified<User>,
): Middleware<WithUser<User>> {
  if (!isToken(header)) throw new TypeError('apiKey: expects { header: "x-api-key" } and a function');
  checkVerify("apiKey", verify);
  const name = header.toLowerCase();
  // No scheme is registered for custom headers; this challenge names the header.
  return authenticate<User>({ kind: "apiKey", header }, `ApiKey header="${name}"`, async (req) => {
    const all = req.headers.getAll(name);
    return all.length === 1 && all[0] !== "" ? verify(all[0] as string, req) : undefined;
  });
}
