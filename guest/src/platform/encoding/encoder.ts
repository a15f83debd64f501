/** `TextEncoder` (Encoding Standard, section 6.4). */
import { utf8Encode } from "tenon:engine";

export class TextEncoder {
  readonly #isEncoder = true;

  // biome-ignore lint/complexity/noUselessConstructor: the class has a length of 0.
  constructor() {}

  get encoding(): string {
    // Throws for other objects.
    this.#isEncoder;
    return "utf-8";
  }

  encode(input: string = ""): Uint8Array {
    this.#isEncoder;
    return utf8Encode(`${input}`);
  }

  encodeInto(source: string, destination: Uint8Array): { read: number; written: number } {
    this.#isEncoder;
    const text = `${source}`;
    if (!(destination instanceof Uint8Array)) {
      throw new TypeError("TextEncoder.encodeInto: the destination must be a Uint8Array");
    }
    const space = destination.length;
    // A unit of the text is at least one byte.
    const start = text.length > space ? text.slice(0, space) : text;
    const bytes = utf8Encode(start);
    // The first part may end within a pair of surrogates.
    if (bytes.length <= space && start.length === text.length) {
      destination.set(bytes);
      return { read: text.length, written: bytes.length };
    }
    const fitting = measure(text, space);
    destination.set(utf8Encode(text.slice(0, fitting.read)));
    return fitting;
  }
}

/** Counts the units of the text, and their bytes, that fit in a space. */
function measure(text: string, space: number): { read: number; written: number } {
  let read = 0;
  let written = 0;
  while (read < text.length) {
    const point = text.codePointAt(read) as number;
    const bytes = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    if (written + bytes > space) break;
    written += bytes;
    read += point < 0x10000 ? 1 : 2;
  }
  return { read, written };
}
