/** `application/x-www-form-urlencoded` (URL Standard, section 5). */
import { utf8Decode } from "tenon:engine";

export type Pair = [name: string, value: string];

const decodeComponent = globalThis.decodeURIComponent;
const encodeComponent = globalThis.encodeURIComponent;

/** Parses a string of scalar values. */
export function parseForm(text: string): Pair[] {
  const pairs: Pair[] = [];
  const isPlain = !text.includes("%") && !text.includes("+");
  let found = text.indexOf("=");
  for (let start = 0; start < text.length; ) {
    const next = text.indexOf("&", start);
    const end = next < 0 ? text.length : next;
    if (end > start) {
      // Without this the text would be searched to its end for each part that has no value.
      if (found >= 0 && found < start) found = text.indexOf("=", start);
      const equals = found < 0 || found > end ? end : found;
      const name = text.slice(start, equals);
      const value = text.slice(equals + 1, end);
      pairs.push(isPlain ? [name, value] : [unescapeText(name), unescapeText(value)]);
    }
    start = end + 1;
  }
  return pairs;
}

export function serializeForm(pairs: readonly Pair[]): string {
  let text = "";
  for (const [name, value] of pairs) {
    text += `${text === "" ? "" : "&"}${encodeComponent(name)}=${encodeComponent(value)}`;
  }
  // `encodeURIComponent` keeps five characters, and escapes a space in another way.
  return /%20|[!'()~]/.test(text) ? text.replaceAll(/%20|[!'()~]/g, replace) : text;
}

function replace(found: string): string {
  return found === "%20" ? "+" : `%${found.charCodeAt(0).toString(16).toUpperCase()}`;
}

function unescapeText(text: string): string {
  const spaced = text.includes("+") ? text.replaceAll("+", " ") : text;
  if (!spaced.includes("%")) return spaced;
  try {
    return decodeComponent(spaced);
  } catch {
    return unescapeBytes(spaced);
  }
}

/** Decodes what `decodeURIComponent` refuses: escapes that are incomplete, or that are not UTF-8. */
function unescapeBytes(text: string): string {
  // Everything else than an escape is escaped first, so that each character stands for a byte.
  const escaped = encodeComponent(text).replaceAll(/%25([0-9a-f]{2})/gi, "%$1");
  const bytes = new Uint8Array(escaped.length);
  let length = 0;
  for (let at = 0; at < escaped.length; length++) {
    const isEscape = escaped[at] === "%";
    bytes[length] = isEscape ? Number.parseInt(escaped.slice(at + 1, at + 3), 16) : escaped.charCodeAt(at);
    at += isEscape ? 3 : 1;
  }
  return utf8Decode(bytes.subarray(0, length), false, true);
}
