/** The check values of compressed data. */

/** Adler-32 (RFC 1950, section 8). @param before the value so far; 1 at the beginning */
export function adler32(before: number, bytes: Uint8Array): number {
  let a = before & 0xffff;
  let b = before >>> 16;
  for (let i = 0; i < bytes.length; ) {
    // As many as 32 bits have room for.
    const end = Math.min(i + 3800, bytes.length);
    for (; i < end; i++) {
      a += bytes[i] as number;
      b += a;
    }
    a %= 65521;
    b %= 65521;
  }
  return ((b << 16) | a) >>> 0;
}

const table = /* @__PURE__ */ Int32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

/** CRC-32 (RFC 1952, section 8). @param before the value so far; 0 at the beginning */
export function crc32(before: number, bytes: Uint8Array): number {
  let value = ~before;
  for (let i = 0; i < bytes.length; i++) {
    value = (table[(value ^ (bytes[i] as number)) & 0xff] as number) ^ (value >>> 8);
  }
  return ~value >>> 0;
}
