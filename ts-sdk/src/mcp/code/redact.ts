/** Keeps credentials of the caller out of answers that a program reads: a route may repeat its request. */
import { decodeUtf8Leniently } from "../../platform.ts";
import type { RawHeader } from "../../raw.ts";

const SECRET = /^(?:authorization|proxy-authorization|cookie)$/;
/** Shorter values would be found in any text; those of most cookies are no secrets. */
const MIN_TOKEN = 4;
const MIN_COOKIE = 12;

/** The values of the caller's credentials: whole headers, tokens after their scheme, and long values of cookies. */
export function credentialsOf(headers: readonly RawHeader[]): string[] {
  const values = headers.flatMap(([name, bytes]) => {
    if (!SECRET.test(name.toLowerCase())) return [];
    const value = decodeUtf8Leniently(bytes).trim();
    if (name.toLowerCase() !== "cookie") return [value, value.replace(/^\S+\s+/, "")];
    const parts = value.split(/;\s*/).map((each) => each.replace(/^[^=]*=/, ""));
    return [value, ...parts].filter((each) => each.length >= MIN_COOKIE);
  });
  const all = values.flatMap((value) => [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value)]);
  // The longest first, because it may have a shorter one in it.
  return [...new Set(all)].filter((value) => value.length >= MIN_TOKEN).sort((one, other) => other.length - one.length);
}

/** Replaces credentials in a text. In JSON only strings are changed, so that it stays JSON. */
export function redact(text: string, credentials: readonly string[], isJson: boolean): string {
  if (!credentials.some((value) => text.includes(value))) return text;
  const replaced = (part: string) => credentials.reduce((left, value) => left.replaceAll(value, "[credential]"), part);
  return isJson ? text.replace(/"(?:[^"\\]|\\.)*"/g, replaced) : replaced(text);
}
