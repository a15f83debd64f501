/** Writes regular expressions without flags, because the keyword `pattern` of JSON Schema has none. */

/** A piece of a regular expression's source. */
const piece =
  /\\(?:k<[^>]*>|p\{[^}]*\}|P\{[^}]*\}|u\{[^}]*\}|ud[89ab][\da-f]{2}\\ud[c-f][\da-f]{2}|u[\da-f]{4}|x[\da-f]{2}|c[a-z]|[1-9]\d*|[\s\S])|\(\?(?:<?[=!]|:|<[^>]*>|[a-z-]+:)|\[(?:\\[\s\S]|[^\]\\])*\]|[\s\S]/giuy;

/** The ends of lines, which `^` and `$` look at with the flag `m`. */
const lineEnds = "\\n\\r\\u2028\\u2029";

/** Characters that differ from their upper or lower case: no others are affected by the flag `i`. */
let cased: readonly string[] | undefined;

function casedCharacters(): readonly string[] {
  cased ??= Array.from({ length: 0x1ff00 }, (_, code) => String.fromCodePoint(code)).filter(
    (char) => char.toLowerCase() !== char || char.toUpperCase() !== char,
  );
  return cased;
}

/**
 * Returns the source of a regular expression that matches the same texts without flags. Validators read it with the flag `u`,
 * as JSON Schema asks them to.
 *
 * @throws TypeError when there is none
 */
export function withoutFlags(regex: RegExp): string {
  const { source, flags, ignoreCase, dotAll, multiline, sticky } = regex;
  const refused = (why: string) => new TypeError(`the regular expression ${regex} has no form without flags: ${why}`);
  if (flags.includes("v") && /\[[^\]]*(?:\[|--|&&|\\q)/.test(source)) throw refused("it has operations of the flag v");
  if (!ignoreCase && !dotAll && !multiline && !sticky) return source;
  const mode = flags.replace(/[^uv]/g, "");
  const parts = (source.match(piece) ?? []).map((part) => {
    if (/^\(\?[a-z-]*:$/.test(part) && part !== "(?:") throw refused(`it has the modifiers ${part}…)`);
    if (multiline && part === "^") return `(?:^|(?<=[${lineEnds}]))`;
    if (multiline && part === "$") return `(?=$|[${lineEnds}])`;
    if (dotAll && part === ".") return "[\\s\\S]";
    if (!ignoreCase || !isCharacter(part)) {
      if (ignoreCase && /^\\(?:[1-9]|k<)/.test(part)) throw refused("it refers to a group and ignores case");
      return part;
    }
    return ignoringCase(part, mode) ?? refusedPart(part);
  });
  function refusedPart(part: string): never {
    throw refused(`${part} ignores case`);
  }
  const found = parts.join("");
  return sticky ? `^(?:${found})` : found;
}

/** Reports whether a piece matches one character, and may match others in another case. */
function isCharacter(part: string): boolean {
  if (part.startsWith("(") || /^[.^$*+?{}|)]$/.test(part)) return false;
  return !/^\\(?:[bBdDsS1-9]|k<)/.test(part);
}

/** Writes a character or a class that ignores case; undefined when that is no class. */
function ignoringCase(part: string, mode: string): string | undefined {
  const [plain, ignoring] = ["", "i"].map((flag) => new RegExp(`^(?:${part})$`, flag + mode)) as [RegExp, RegExp];
  const chars = casedCharacters().filter((char) => mode !== "" || char.length === 1);
  const added = chars.filter((char) => !plain.test(char) && ignoring.test(char));
  const removed = chars.filter((char) => plain.test(char) && !ignoring.test(char));
  if (added.length === 0 && removed.length === 0) return part;
  if (part.startsWith("[^")) return added.length === 0 ? withMore(part, "[^", removed) : undefined;
  if (removed.length > 0) return undefined;
  if (part.startsWith("[")) return withMore(part, "[", added);
  return `[${part}${ranges(added)}]`;
}

/** Adds characters to a class. They are first, and a hyphen after them must not make a range. */
function withMore(part: string, open: string, chars: readonly string[]): string {
  return `${open}${ranges(chars)}${part.slice(open.length).replace(/^-/, "\\-")}`;
}

/** Characters in their order as the inside of a class. */
function ranges(chars: readonly string[]): string {
  const codes = chars.map((char) => char.codePointAt(0) as number);
  let text = "";
  for (let from = 0; from < codes.length; ) {
    let to = from;
    while (codes[to + 1] === (codes[to] as number) + 1) to++;
    const [first, last] = [codes[from] as number, codes[to] as number];
    text += first === last ? shown(first) : `${shown(first)}${last > first + 1 ? "-" : ""}${shown(last)}`;
    from = to + 1;
  }
  return text;
}

function shown(code: number): string {
  if (code < 0x80) return String.fromCodePoint(code);
  const digits = code.toString(16);
  return code < 0x1_0000 ? `\\u${digits.padStart(4, "0")}` : `\\u{${digits}}`;
}
