/** `application/x-www-form-urlencoded` (URL Standard, section 5). */
import { utf8Decode } from "tenon:engine";

export type Pair = [name: string, value: string];

const decodeComponent = globalThis.decodeURIComponent;
const encodeComponent = globalThis.encodeURIComponent;

/** Parses a string of scalar values. */
export function parseForm(text: string): Pair[] {
  const pairs: Pair[] = [];
  if (text === "") return pairs;
  for (const part of text.split("&")) {
    if (part === "") continue;
    const equals = part.indexOf("=");
    pairs.push(
      equals < 0
        ? [unescapeText(part), ""]
        : [unescapeText(part.slice(0, equals)), unescapeText(part.slice(equals + 1))],
    );
  }
  return pairs;
}

export function serializeForm(pairs: readonly Pair[]): string {
  let text = "";
  for (const [name, value] of pairs) text += `${text === "" ? "" : "&"}${escapeText(name)}=${escapeText(value)}`;
  return text;
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

/** The characters that `encodeURIComponent` keeps or escapes otherwise. */
const others = /%20|[!'()~]/;
const replacements: Readonly<Record<string, string>> = {
  "%20": "+",
  "!": "%21",
  "'": "%27",
  "(": "%28",
  ")": "%29",
  "~": "%7E",
};

function escapeText(text: string): string {
  const escaped = encodeComponent(text);
  if (!others.test(escaped)) return escaped;
  return escaped.replaceAll(/%20|[!'()~]/g, (found) => replacements[found] as string);
}
