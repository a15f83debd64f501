/** Cookies: reading, writing, signing. */
import { encodeBase64Url } from "../encoding/base64.ts";
import { hmac } from "../middleware/hmac.ts";
import { safeEqual } from "../middleware/safe-equal.ts";
import { type Headers, isToken } from "./headers.ts";
import { copyOf, type LaterCookie, SENDING, type SendableResponse } from "./sending.ts";

/** The attributes of a cookie (RFC 6265bis, section 4.1). */
export interface CookieOptions {
  /** Seconds until the cookie expires; it lasts for the browser's session when neither this nor `expires` is given. */
  readonly maxAge?: number;
  /** The time when the cookie expires. */
  readonly expires?: Date;
  /** The paths that it is sent to; `"/"` by default. */
  readonly path?: string;
  /** The domain that it is sent to, with its subdomains; only the host itself by default. */
  readonly domain?: string;
  /** Sends it over HTTPS only (and to localhost); true by default. */
  readonly secure?: boolean;
  /** Hides it from scripts; true by default. */
  readonly httpOnly?: boolean;
  /** Limits the requests from other sites that carry it; `"Lax"` by default. */
  readonly sameSite?: "Strict" | "Lax" | "None" | "strict" | "lax" | "none";
  /** Separates it by the site that embeds this one. */
  readonly partitioned?: boolean;
  /** Appends an HMAC-SHA-256 of name and value with this key; `req.cookies.signed` checks it. */
  readonly sign?: string | Uint8Array;
}

/** The longest name and value that browsers accept, in bytes (RFC 6265bis, section 5.7). */
const MAX_BYTES = 4096;
/** An attribute's value: visible ASCII and spaces except `;`. */
const ATTRIBUTE = /^[ -:<-~]*$/;
/** The length of an HMAC-SHA-256 in base64url. */
const SIGNATURE_LENGTH = 43;
const SITES = ["Strict", "Lax", "None"];
const KNOWN = /^(?:maxAge|expires|path|domain|secure|httpOnly|sameSite|partitioned|sign)$/;

/**
 * The value of a `Set-Cookie` header.
 *
 * @throws TypeError or RangeError naming the cookie and the part that browsers refuse.
 */
function setCookie(name: string, value: string, options: CookieOptions): string {
  const wrong = (why: string) => new TypeError(`cookie ${JSON.stringify(name)}: ${why}`);
  if (!isToken(name)) throw wrong("is not a cookie name");
  const unknown = Object.keys(options).find((key) => !KNOWN.test(key));
  if (unknown !== undefined) throw wrong(`unknown "${unknown}"`);
  const { maxAge, expires, path = "/", domain, secure = true, httpOnly = true, sameSite: site = "Lax" } = options;
  const sameSite = SITES.find((each) => each.toLowerCase() === String(site).toLowerCase());
  const prefix = /^__(host|secure)-/i.exec(name)?.[1]?.toLowerCase();
  if (!secure && (prefix || sameSite === "None" || options.partitioned)) {
    throw wrong("its prefix, SameSite=None and Partitioned each need Secure");
  }
  if (prefix === "host" && (path !== "/" || domain !== undefined))
    throw wrong('__Host- must have path "/" and no domain');
  if (!path.startsWith("/") || !ATTRIBUTE.test(path)) throw wrong('"path" must begin with "/" and have no ";"');
  if (domain !== undefined && !/^[A-Za-z0-9.-]+$/.test(domain)) throw wrong('"domain" must be the name of a host');
  if (sameSite === undefined) throw wrong('"sameSite" must be Strict, Lax or None');
  if (maxAge !== undefined && !Number.isSafeInteger(maxAge)) throw wrong('"maxAge" must be a whole number of seconds');
  if (expires !== undefined && Number.isNaN(Number(expires))) throw wrong('"expires" must be a valid Date');
  const pair = `${name}=${encodeURIComponent(value)}`;
  if (pair.length > MAX_BYTES) throw new RangeError(`cookie "${name}": is longer than ${MAX_BYTES} bytes`);
  return [
    pair,
    maxAge !== undefined && `Max-Age=${maxAge}`,
    expires && `Expires=${expires.toUTCString()}`,
    domain && `Domain=${domain}`,
    `Path=${path}`,
    httpOnly && "HttpOnly",
    secure && "Secure",
    `SameSite=${sameSite}`,
    options.partitioned && "Partitioned",
  ]
    .filter(Boolean)
    .join("; ");
}

function checkKey(name: string, key: string | Uint8Array): void {
  if (key.length === 0) throw new TypeError(`cookie "${name}": the key to sign with is empty`);
}

/** Appends the signature that `signed` checks. */
async function signedValue(name: string, value: string, key: string | Uint8Array): Promise<string> {
  checkKey(name, key);
  return `${value}.${encodeBase64Url(await hmac(key, `${name}=${value}`))}`;
}

/** `Response.cookie`. */
export function withCookie<R extends SendableResponse>(
  response: R,
  name: string,
  value: string,
  options: CookieOptions,
): R {
  const { sign } = options;
  const header = (text: string) => ["set-cookie", setCookie(name, text, options)] as const;
  if (sign === undefined) return copyOf(response, response.headers.concat([header(value)]));
  // Checked here, because sending happens later.
  checkKey(name, sign);
  header(`${value}.${"x".repeat(SIGNATURE_LENGTH)}`);
  const before = response.headers.filter(isCookie).length;
  const make = async () => header(await signedValue(name, value, sign));
  const later = [...(response[SENDING]?.later ?? []), { before, make }];
  return copyOf(response, response.headers, { ...response[SENDING], later, complete });
}

async function complete<R extends SendableResponse>(response: R): Promise<R> {
  const { later = [], complete: _, ...sending } = response[SENDING] ?? {};
  const made = await Promise.all(later.map(({ make }) => make()));
  const signed = (isAt: (before: number) => boolean) => made.filter((_, i) => isAt((later[i] as LaterCookie).before));
  let cookies = 0;
  // A browser takes the last of two cookies of one name.
  const headers = response.headers.flatMap((header) => {
    if (!isCookie(header)) return [header];
    const place = cookies++;
    return [...signed((before) => before === place), header];
  });
  return copyOf(response, headers.concat(signed((before) => before >= cookies)), sending);
}

function isCookie([name]: SendableResponse["headers"][number]): boolean {
  return name === "set-cookie";
}

/** `Request.cookies`. */
export function cookiesOf(headers: Headers): Cookies {
  const given = headers.getAll("cookie");
  // HTTP/2 may send cookies in several lines (RFC 9113, section 8.2.3).
  return new Cookies(given.length === 0 ? undefined : given.join("; "));
}

/** The cookies of a request. */
export class Cookies {
  readonly #header: string | undefined;

  /** @internal */
  constructor(header: string | undefined) {
    this.#header = header;
  }

  /** The value of a cookie, percent-decoded; `undefined` when it is absent. The first of two with one name counts. */
  get(name: string): string | undefined {
    for (const pair of this.#header?.split(";") ?? []) {
      const equals = pair.indexOf("=");
      if (equals < 0 || pair.slice(0, equals).trim() !== name) continue;
      const value = pair
        .slice(equals + 1)
        .trim()
        .replace(/^"(.*)"$/, "$1");
      try {
        return decodeURIComponent(value);
      } catch {
        return value;
      }
    }
    return undefined;
  }

  /** The value of a cookie that was signed with the key; `undefined` when it is absent or was tampered with. */
  async signed(name: string, key: string | Uint8Array): Promise<string | undefined> {
    const given = this.get(name);
    const dot = given?.lastIndexOf(".") ?? -1;
    if (given === undefined || dot < 0) return undefined;
    const value = given.slice(0, dot);
    return safeEqual(given, await signedValue(name, value, key)) ? value : undefined;
  }
}
