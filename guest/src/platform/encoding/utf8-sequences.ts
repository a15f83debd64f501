/** Finds where the bytes of UTF-8 end within a character. */

/**
 * Returns the index of a character at the end that more bytes could complete, or the length if there is none. Bytes that no
 * byte can complete are an error already, and belong to what comes before (Encoding Standard, section 8.1.1).
 */
export function incompleteAt(bytes: Uint8Array): number {
  const { length } = bytes;
  for (let back = 1; back <= 3 && back <= length; back++) {
    const byte = bytes[length - back] as number;
    // A byte that continues a character: its first byte is before it.
    if (byte >= 0x80 && byte < 0xc0) continue;
    const isIncomplete =
      back < sequenceLength(byte) && (back === 1 || mayFollow(byte, bytes[length - back + 1] as number));
    return isIncomplete ? length - back : length;
  }
  return length;
}

function sequenceLength(first: number): number {
  if (first < 0xc2 || first > 0xf4) return 1;
  return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/** The second byte is in a narrower range after four of the first bytes. */
function mayFollow(first: number, second: number): boolean {
  if (first === 0xe0) return second >= 0xa0;
  if (first === 0xed) return second <= 0x9f;
  if (first === 0xf0) return second >= 0x90;
  if (first === 0xf4) return second <= 0x8f;
  return true;
}
