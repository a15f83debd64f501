/** Keeps credentials of the caller out of answers that a program reads: a route may repeat its request. */
import { decodeBase64 } from "../../encoding/base64.ts";
import { decodeUtf8Leniently } from "../../platform.ts";
import type { RawHeader } from "../../raw.ts";

const SECRET = /^(?:authorization|proxy-authorization|cookie)$/;
/** Shorter values would be found in any text: passwords may be words, and the values of most cookies are no secrets. */
const MIN_TOKEN = 4;
const MIN_PASSWORD = 8;
const MIN_COOKIE = 12;

/**
 * The values of the caller's credentials: whole headers, tokens after their scheme, passwords of `Basic`, and long values of cookies. Each
 * is also in the list as JSON, URLs and HTML escape it.
 *
 * @param keyHeaders headers of API keys, in lower case
 */
export function credentialsOf(headers: readonly RawHeader[], keyHeaders: readonly string[]): string[] {
  const values = headers.flatMap(([name, bytes]) => {
    const lower = name.toLowerCase();
    if (!SECRET.test(lower) && !keyHeaders.includes(lower)) return [];
    const value = decodeUtf8Leniently(bytes).trim();
    if (lower !== "cookie") return [value, value.replace(/^\S+\s+/, ""), ...basicForms(value)];
    return [value, ...value.split(";").flatMap(cookieForms)].filter((each) => each.length >= MIN_COOKIE);
  });
  const all = values.flatMap((value) => {
    const json = JSON.stringify(value).slice(1, -1);
    return [value, json, json.replaceAll("/", "\\/"), encodeURIComponent(value), escapedHtml(value)];
  });
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

/** The user name and the password of `Basic` (RFC 7617), and the password alone. */
function basicForms(value: string): string[] {
  const [, encoded] = /^basic\s+(\S+)$/i.exec(value) ?? [];
  const bytes = encoded === undefined ? undefined : decodeBase64(encoded);
  if (bytes === undefined) return [];
  const pair = decodeUtf8Leniently(bytes);
  const password = pair.replace(/^[^:]*:/, "");
  return password.length < MIN_PASSWORD ? [pair] : [pair, password];
}

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escapedHtml(value: string): string {
  return value.replace(/[&<>"']/g, (character) => ESCAPES[character] as string);
}

/** Replaces credentials in a text. */
export function redact(text: string, credentials: readonly string[]): string {
  return credentials.reduce((left, value) => left.replaceAll(value, "[credential]"), text);
}

/** Replaces credentials in the strings, names and numbers of JSON, which stays JSON. A serializer may escape any character. */
export function redactJson(text: string, credentials: readonly string[]): string {
  if (!text.includes("\\") && redact(text, credentials) === text) return text;
  return text.replace(/"([^"\\]*(?:\\.[^"\\]*)*)"|-?\d[\d.eE+-]*/g, (token, inner?: string) => {
    const value = inner?.includes("\\") ? decoded(token) : (inner ?? token);
    const redacted = redact(value, credentials);
    return redacted === value ? token : JSON.stringify(redacted);
  });
}

/** The value of a string in JSON; the text itself when it is none. */
function decoded(token: string): string {
  try {
    return JSON.parse(token) as string;
  } catch {
    return token;
  }
}
