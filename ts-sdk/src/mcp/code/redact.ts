/** Keeps credentials of the caller out of answers that a program reads: a route may repeat its request. */
import { decodeUtf8Leniently } from "../../platform.ts";
import type { RawHeader } from "../../raw.ts";

const SECRET = /^(?:authorization|proxy-authorization|cookie)$/;
/** Shorter values would be found in any text; those of most cookies are no secrets. */
const MIN_TOKEN = 4;
const MIN_COOKIE = 12;

/**
 * The values of the caller's credentials: whole headers, tokens after their scheme, and long values of cookies.
 *
 * @param keyHeaders headers of API keys, in lower case
 */
export function credentialsOf(headers: readonly RawHeader[], keyHeaders: readonly string[]): string[] {
  const values = headers.flatMap(([name, bytes]) => {
    const lower = name.toLowerCase();
    if (!SECRET.test(lower) && !keyHeaders.includes(lower)) return [];
    const value = decodeUtf8Leniently(bytes).trim();
    if (lower !== "cookie") return [value, value.replace(/^\S+\s+/, "")];
    return [value, ...value.split(";").flatMap(cookieForms)].filter((each) => each.length >= MIN_COOKIE);
  });
  const all = values.flatMap((value) => [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value)]);
  // The longest first, because it may have a shorter one in it.
  return [...new Set(all)].filter((value) => value.length >= MIN_TOKEN).sort((one, other) => other.length - one.length);
}

/** The value of a cookie as it was sent, as `req.cookies` reads it, and without the signature of `sign`. */
function cookieForms(pair: string): string[] {
  const value = pair.replace(/^[^=]*=/, "").trim();
  const plain = value.replace(/^"(.*)"$/, "$1");
  let read = plain;
  try {
    read = decodeURIComponent(plain);
  } catch {
    // It is read as it is.
  }
  return [value, plain, read, read.replace(/\.[^.]*$/, "")];
}

/** Replaces credentials in a text. In JSON only strings and numbers are changed, so that it stays JSON. */
export function redact(text: string, credentials: readonly string[], isJson: boolean): string {
  if (!credentials.some((value) => text.includes(value))) return text;
  const replaced = (part: string) => credentials.reduce((left, value) => left.replaceAll(value, "[credential]"), part);
  if (!isJson) return replaced(text);
  return text.replace(/"([^"\\]*(?:\\.[^"\\]*)*)"|-?\d[\d.eE+-]*/g, (token, inner?: string) =>
    inner !== undefined ? `"${replaced(inner)}"` : replaced(token) === token ? token : '"[credential]"',
  );
}
