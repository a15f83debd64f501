/** Scans JSON text before `JSON.parse`, for its depth, the length of its lists, and repeated keys. */

/** The reason for refusing a text unparsed. */
export type ScanRefusal = "nesting" | "list" | "duplicate";

/** The limits of a text. */
export interface ScanBounds {
  /** The limit of nested brackets and braces. */
  readonly nesting: number;
  /** The limit of elements of one list. */
  readonly list: number;
}

interface OpenBracket {
  /** The keys so far, of a brace. */
  readonly keys: Set<string> | undefined;
  /** Commas so far. */
  commas: number;
  /** True when a brace's next string is a key. */
  expectsKey: boolean;
}

/**
 * Scans once, from the left, with a stack no higher than `bounds.nesting`. Text that is not JSON may pass: `JSON.parse`
 * comes next, and refuses it.
 *
 * JSON.parse silently keeps the last of a repeated key (RFC 8259 section 4 leaves it open), so two readers of a filter
 * could see different filters.
 *
 * @returns `undefined` for an acceptable text
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
