/** A look at JSON text before `JSON.parse` sees it: how deep, how long its lists are, and whether a key is repeated. */

/** Why a text is refused unparsed. */
export type ScanRefusal = "nesting" | "list" | "duplicate";

/** What a text may hold. */
export interface ScanBounds {
  /** Open brackets and braces at any place. */
  readonly nesting: number;
  /** Elements of one list. */
  readonly list: number;
}

interface OpenBracket {
  /** The keys so far, when it is a brace. */
  readonly keys: Set<string> | undefined;
  /** Commas so far. */
  commas: number;
  /** A brace's next string is a key. */
  expectsKey: boolean;
}

/**
 * Scans once, from the left, with a stack no higher than `bounds.nesting`. Text that is not JSON may pass: `JSON.parse`
 * comes next, and refuses it.
 *
 * JSON.parse keeps the last of a repeated key without a word (RFC 8259 section 4 leaves it open), so one reader of a
 * filter could see another filter than the next one does.
 *
 * @returns `undefined` when nothing is wrong
 */
export function scanJson(text: string, bounds: ScanBounds): ScanRefusal | undefined {
  const open: OpenBracket[] = [];
  for (let i = 0; i < text.length; i++) {
    const top = open[open.length - 1];
    switch (text[i]) {
      case "{":
      case "[": {
        if (open.length >= bounds.nesting) return "nesting";
        const isObject = text[i] === "{";
        open.push({ keys: isObject ? new Set() : undefined, commas: 0, expectsKey: isObject });
        break;
      }
      case "}":
      case "]":
        open.pop();
        break;
      case ",":
        if (top === undefined) break;
        top.commas++;
        top.expectsKey = top.keys !== undefined;
        if (top.keys === undefined && top.commas >= bounds.list) return "list";
        break;
      case '"': {
        const end = endOfString(text, i);
        if (top?.expectsKey) {
          const key = decodeString(text.slice(i, end + 1));
          if (top.keys?.has(key)) return "duplicate";
          top.keys?.add(key);
          top.expectsKey = false;
        }
        i = end;
        break;
      }
    }
  }
  return undefined;
}

/** The index of the closing quote, or the text's last when there is none. */
function endOfString(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    if (text[i] === "\\") i++;
    else if (text[i] === '"') return i;
  }
  return text.length - 1;
}

/** `"a"` and `"\u0061"` are one key. */
function decodeString(quoted: string): string {
  if (!quoted.includes("\\")) return quoted.slice(1, -1);
  try {
    return String(JSON.parse(quoted));
  } catch {
    return quoted;
  }
}
