/** Text files as editors write them: some begin with a byte order mark. */
import { readFileSync } from "node:fs";

/** The text of a file without its byte order mark, which says whether it is UTF-8 or UTF-16. Without a mark it is UTF-8. */
export function readTextFile(file: string): string {
  return textOf(readFileSync(file));
}

/** The text in the bytes of a file, as {@link readTextFile}. */
export function textOf(bytes: Uint8Array): string {
  const [first, second] = bytes;
  const encoding =
    first === 0xff && second === 0xfe ? "utf-16le" : first === 0xfe && second === 0xff ? "utf-16be" : "utf-8";
  // A decoder leaves the mark out.
  return new TextDecoder(encoding).decode(bytes);
}

/** The value in a JSON file. */
export function readJsonFile(file: string): unknown {
  return JSON.parse(readTextFile(file));
}
