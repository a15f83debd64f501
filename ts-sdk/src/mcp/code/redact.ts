/** Keeps credentials of the caller out of answers that a program reads: a route may repeat its request. */
import { decodeUtf8Leniently } from "../../platform.ts";
import type { RawHeader } from "../../raw.ts";

const SECRET = /^(?:authorization|proxy-authorization|cookie)$/;
/** Shorter values would be found in any text. */
const MIN_LENGTH = 8;

/** The values of the caller's credentials: whole headers, tokens after their scheme, and values of cookies. */
export function credentialsOf(headers: readonly RawHeader[]): string[] {
  const values = headers.flatMap(([name, bytes]) => {
    if (!SECRET.test(name.toLowerCase())) return [];
    const value = decodeUtf8Leniently(bytes).trim();
    const parts = name.toLowerCase() === "cookie" ? value.split(/;\s*/).map((each) => each.replace(/^[^=]*=/, "")) : [];
    return [value, value.replace(/^\S+\s+/, ""), ...parts];
  });
  const all = values.flatMap((value) => [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value)]);
  // The longest first, because it may have a shorter one in it.
  return [...new Set(all)]
    .filter((value) => value.length >= MIN_LENGTH)
    .sort((one, other) => other.length - one.length);
}

/** Replaces credentials in a text. */
export function redact(text: string, credentials: readonly string[]): string {
  return credentials.reduce((left, value) => left.replaceAll(value, "[credential]"), text);
}
