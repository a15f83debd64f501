import { decodeBase64 } from "../encoding/base64.ts";
import type { Request } from "../http/request.ts";
import { decodeUtf8 } from "../platform.ts";
import { authenticate, checkVerify, credentials, type Identified, type WithUser } from "./authenticate.ts";
import type { Middleware } from "./types.ts";

const BASIC = /^basic +([A-Za-z0-9+/]+=*)$/i;
/** The control characters, which a name or password never has (RFC 7617, section 2). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
const CONTROL = /[\0-\x1f\x7f]/;

/**
 * Authenticates by name and password of `Authorization: Basic …` (RFC 7617, in UTF-8): `verify(name, password, req)`
 * returns the user, whom handlers find as `user` in their context. Without a user the answer is 401. Compare a password
 * of your own with `safeEqual`.
 *
 * @param options `realm` is the name that a browser may show; `"restricted"` by default
 * @throws TypeError when `verify` is not a function, or the realm has a quote, a backslash or a character beyond
 *   visible ASCII.
 * @example
 * const admin = use(basicAuth((name, password) => (safeEqual(password, secret("ADMIN")) ? { name } : undefined)));
 */
export function basicAuth<User>(
  verify: (name: string, password: string, req: Request) => Identified<User>,
  { realm = "restricted" }: { readonly realm?: string } = {},
): Middleware<WithUser<User>> {
  checkVerify("basicAuth", verify);
  if (!/^[ !#-[\]-~]*$/.test(realm)) throw new TypeError('basicAuth: "realm" must be visible ASCII without quotes');
  return authenticate<User>({ kind: "basic" }, `Basic realm="${realm}", charset="UTF-8"`, async (req) => {
    const encoded = credentials(req, BASIC);
    const bytes = encoded === undefined ? undefined : decodeBase64(encoded);
    const text = bytes === undefined ? undefined : decodeUtf8(bytes);
    const colon = text === undefined ? -1 : text.indexOf(":");
    if (text === undefined || colon < 0 || CONTROL.test(text)) return undefined;
    return verify(text.slice(0, colon), text.slice(colon + 1), req);
  });
}
