/** Keeps credentials of the caller out of answers that a program reads: a route may repeat its request. */
import { decodeBase64 } from "../../encoding/base64.ts";
import { decodeUtf8Leniently } from "../../platform.ts";
import type { RawHeader } from "../../raw.ts";

const SECRET = /^(?:authorization|proxy-authorization|cookie)$/;
/** Shorter values would be found in any text: passwords may be words, and the values of most cookies are no secrets. */
const MIN_TOKEN = 4;
const MIN_PASSWORD = 8;
const MIN_COOKIE = 12;

/** The text that a program reads in the place of a credential. */
const REDACTED = "[credential]";

/**
 * The values of the caller's credentials: whole headers, tokens after their scheme, passwords of `Basic`, and long values of cookies.
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
  // The longest first, because it may have a shorter one in it.
  return [...new Set(values)]
    .filter((value) => value.length >= MIN_TOKEN)
    .sort((one, other) => other.length - one.length);
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

/** A character as URLs, HTML and JSON escape it. Writers differ in the characters that they escape, and in how. */
const URL_ESCAPE =
  /%(?:[0-7][\da-f]|[cd][\da-f]%[89ab][\da-f]|e[\da-f](?:%[89ab][\da-f]){2}|f[0-7](?:%[89ab][\da-f]){3})/gi;
const HTML_ESCAPE = /&(?:#\d{1,7}|#x[\da-f]{1,6}|amp|lt|gt|quot|apos);?/gi;
const JSON_ESCAPE = /\\(?:u[\da-f]{4}|[^u])/gi;
const ANY_ESCAPE = new RegExp(
  `(?=[%&\\\\])(?:${[URL_ESCAPE, HTML_ESCAPE, JSON_ESCAPE].map(({ source }) => source).join("|")})`,
  "gi",
);
const NAMED: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function characterOf(escaped: string): string {
  if (escaped.startsWith("\\")) {
    const after = escaped.slice(1);
    if (after.length > 1) return String.fromCharCode(Number.parseInt(after.slice(1), 16));
    return after === "t" ? "\t" : after;
  }
  const name = escaped.slice(1).replace(";", "").toLowerCase();
  try {
    if (escaped.startsWith("%")) return decodeURIComponent(escaped);
    if (!name.startsWith("#")) return NAMED[name] ?? escaped;
    return String.fromCodePoint(name[1] === "x" ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1)));
  } catch {
    return escaped;
  }
}

/** Replaces credentials in a text, also where a URL, HTML or JSON has escaped characters of them. */
export function redact(text: string, credentials: readonly string[]): string {
  const redacted = credentials.reduce((left, value) => left.replaceAll(value, REDACTED), text);
  return escapesIn(redacted).reduce((left, escapes) => redactEscaped(left, credentials, escapes), redacted);
}

/** The escapes that a text may have. A credential may have some itself: so it is read with those of one kind as well. */
function escapesIn(text: string): RegExp[] {
  const kinds = [
    ...(/[%+]/.test(text) ? [URL_ESCAPE] : []),
    ...(text.includes("&") ? [HTML_ESCAPE] : []),
    ...(text.includes("\\") ? [JSON_ESCAPE] : []),
  ];
  return kinds.length > 1 ? [ANY_ESCAPE, ...kinds] : kinds;
}

/** A text without escapes, and where each escape ends: in that, and in the text. */
function withoutEscapes(text: string, escapes: RegExp): { read: string; ends: [number, number][] } {
  let read = "";
  const ends: [number, number][] = [[0, 0]];
  let from = 0;
  for (const { 0: escaped, index } of text.matchAll(escapes)) {
    read += text.slice(from, index) + characterOf(escaped);
    from = index + escaped.length;
    ends.push([read.length, from]);
  }
  return { read: read + text.slice(from), ends };
}

function redactEscaped(text: string, credentials: readonly string[], escapes: RegExp): string {
  const { read, ends } = withoutEscapes(text, escapes);
  const placeOf = (at: number) => {
    let [low, high] = [0, ends.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((ends[middle] as [number, number])[0] <= at) low = middle;
      else high = middle;
    }
    const [inRead, inText] = ends[low] as [number, number];
    return inText + at - inRead;
  };
  // A form has a plus for a space.
  const spaced = read.replaceAll("+", " ");
  // Some writers of URLs leave an escape of the value as it is.
  const values = new Set(credentials.flatMap((value) => [value, withoutEscapes(value, escapes).read]));
  const found = [...values].flatMap((value) => {
    const places: [start: number, end: number][] = [];
    const needle = value.replaceAll("+", " ");
    for (let at = spaced.indexOf(needle); at !== -1; at = spaced.indexOf(needle, at + needle.length))
      places.push([placeOf(at), placeOf(at + needle.length)]);
    return places;
  });
  let [made, done] = ["", 0];
  for (const [start, end] of found.sort(([one], [other]) => one - other)) {
    if (start >= done) made += text.slice(done, start) + REDACTED;
    done = Math.max(done, end);
  }
  return made + text.slice(done);
}

/** Replaces credentials in the strings, names and numbers of JSON, which stays JSON. A serializer may escape any character. */
export function redactJson(text: string, credentials: readonly string[]): string {
  const { read } = withoutEscapes(text, JSON_ESCAPE);
  if (redact(read, credentials) === read) return text;
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
