/** Compares decompression with Node's zlib, for whole, cut and changed data in pieces of any size. */
import { constants, deflateRawSync, deflateSync, gunzipSync, gzipSync, inflateRawSync, inflateSync } from "node:zlib";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Decompressor, type Format } from "./decompress.ts";

const formats: Readonly<Record<Format, { pack: typeof gzipSync; unpack: typeof gunzipSync }>> = {
  gzip: { pack: gzipSync, unpack: gunzipSync },
  deflate: { pack: deflateSync, unpack: inflateSync },
  "deflate-raw": { pack: deflateRawSync, unpack: inflateRawSync },
};

function decompress(format: Format, data: Uint8Array, size = data.length): Buffer {
  const pieces: Uint8Array[] = [];
  const decompressor = new Decompressor(format, (piece) => pieces.push(piece));
  // Copies, because a caller may use its bytes again.
  for (let at = 0; at < data.length; at += size) {
    const piece = new Uint8Array(data.subarray(at, at + size));
    decompressor.push(piece);
    piece.fill(0xaa);
  }
  decompressor.end();
  return Buffer.concat(pieces);
}

/** Bytes with runs, repetitions at any distance, and noise. */
const content = fc
  .array(fc.tuple(fc.uint8Array({ minLength: 1, maxLength: 40 }), fc.integer({ min: 1, max: 3000 })), { maxLength: 12 })
  .map((parts) => Buffer.concat(parts.flatMap(([bytes, times]) => Array.from({ length: times }, () => bytes))));
const options = fc.record({
  level: fc.integer({ min: 0, max: 9 }),
  strategy: fc.constantFrom(constants.Z_DEFAULT_STRATEGY, constants.Z_HUFFMAN_ONLY, constants.Z_RLE, constants.Z_FIXED),
  windowBits: fc.integer({ min: 9, max: 15 }),
});

describe.each(Object.keys(formats) as Format[])("%s", (format) => {
  const { pack, unpack } = formats[format];

  it("gives what was compressed, in pieces of any size", () => {
    fc.assert(
      fc.property(content, options, fc.constantFrom(1, 2, 7, 333, 100_000), (data, how, size) => {
        const packed = pack(data, how);
        expect(decompress(format, packed, packed.length > 50_000 ? 10_000 : size).equals(data)).toBe(true);
      }),
      { numRuns: 150 },
    );
  });

  it("refuses data that ends early, at each byte", () => {
    for (const strategy of [constants.Z_DEFAULT_STRATEGY, constants.Z_FIXED, constants.Z_HUFFMAN_ONLY]) {
      for (const level of [0, 6]) {
        const packed = pack(Buffer.from("a few words, a few words, and bytes \0\0\0\0\0\x01 of them".repeat(3)), {
          strategy,
          level,
        });
        for (let length = 0; length < packed.length; length++) {
          expect(() => decompress(format, packed.subarray(0, length))).toThrow("the data ends early");
        }
      }
    }
  });

  it("accepts changed data exactly when zlib does", () => {
    fc.assert(
      fc.property(content, options, fc.nat(), fc.nat(7), (data, how, at, bit) => {
        const packed = pack(data.subarray(0, 2000), how);
        packed[at % packed.length] = (packed[at % packed.length] as number) ^ (1 << bit);
        let expected: Buffer | undefined;
        try {
          expected = unpack(packed);
        } catch {}
        let found: Buffer | undefined;
        try {
          found = decompress(format, packed);
        } catch (error) {
          expect(error).toBeInstanceOf(TypeError);
          // Node's zlib leaves what comes after the end.
          if (String(error).includes("more data after the end")) return;
        }
        expect(found?.toString("hex")).toBe(expected?.toString("hex"));
      }),
      { numRuns: 300 },
    );
  });

  it("refuses more data after the end, in the same piece or another", () => {
    const packed = pack("x".repeat(500));
    const longer = Buffer.concat([packed, Buffer.from([0])]);
    for (const size of [longer.length, packed.length, 1]) {
      expect(() => decompress(format, longer, size)).toThrow("there is more data after the end");
    }
  });
});

it("reads every field of a head of gzip", () => {
  const [head, rest] = [gzipSync("text").subarray(0, 10), gzipSync("text").subarray(10)];
  const optional = Buffer.concat([Buffer.from([3, 0, 9, 9, 9]), Buffer.from("name\0comment\0")]);
  const flagged = Buffer.concat([head.map((byte, at) => (at === 3 ? 4 + 8 + 16 : byte)), optional, rest]);
  for (const size of [1, 3, flagged.length]) expect(decompress("gzip", flagged, size).toString()).toBe("text");
  expect(() =>
    decompress(
      "gzip",
      head.map((byte, at) => (at === 3 ? 0x20 : byte)),
    ),
  ).toThrow("flags");
});

it("refuses a preset dictionary", () => {
  const packed = deflateSync("text", { dictionary: Buffer.from("text") });
  expect(() => decompress("deflate", packed)).toThrow("dictionary");
});
