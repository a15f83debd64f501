/** Compares the engine's codecs (`crates/engine/src/compress.c`) with Node's zlib. */
import zlib from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import { evaluator } from "../../../testing/evaluate.ts";

let evaluate: (program: string) => unknown;
beforeAll(async () => {
  evaluate = await evaluator(["platform/compression/codec.testing.ts"]);
});

const formats = ["deflate", "deflate-raw", "gzip"] as const;
const node = {
  deflate: [zlib.deflateSync, zlib.inflateSync],
  "deflate-raw": [zlib.deflateRawSync, zlib.inflateRawSync],
  gzip: [zlib.gzipSync, zlib.gunzipSync],
} as const;

/** Runs a codec in the engine, on pieces of the input. Returns what came out, or the name of the error. */
function run(format: number, isDecompression: boolean, input: Uint8Array, piece = 65_536): Buffer | string {
  const given = JSON.stringify([format, isDecompression, Buffer.from(input).toString("latin1"), piece]);
  const result = evaluate(`return runCodec(...${given});`) as { text?: string; error?: string };
  return result.error ?? Buffer.from(result.text ?? "", "latin1");
}

const texts: Readonly<Record<string, Buffer>> = {
  nothing: Buffer.alloc(0),
  "a short text": Buffer.from("hello"),
  "a text that repeats": Buffer.from("hello, world. ".repeat(20_000)),
  "bytes without order": Buffer.from(Array.from({ length: 100_000 }, (_, at) => Math.imul(at + 1, 2654435761) >>> 24)),
};

describe.each(formats.map((format, index) => [format, index] as const))("%s", (format, index) => {
  const [compress, decompress] = node[format];

  it.each(Object.keys(texts))("compresses and decompresses %s", (name) => {
    const text = texts[name] as Buffer;
    const compressed = run(index, false, text);
    expect(decompress(compressed as Buffer).equals(text)).toBe(true);
    // About as small as Node's.
    expect(compressed.length).toBeLessThanOrEqual(compress(text).length * 1.1 + 16);
    expect((run(index, true, compress(text)) as Buffer).equals(text)).toBe(true);
  });

  it("accepts input byte by byte", () => {
    const text = Buffer.from("one, two, three. ".repeat(30));
    expect(decompress(run(index, false, text, 1) as Buffer).equals(text)).toBe(true);
    expect((run(index, true, compress(text), 1) as Buffer).equals(text)).toBe(true);
  });

  it("refuses input that is cut, too long or damaged", () => {
    const compressed = compress(Buffer.from("some text, some more text"));
    for (const piece of [1, 65_536]) {
      for (let length = 0; length < compressed.length; length++) {
        expect(run(index, true, compressed.subarray(0, length), piece), `${length} bytes`).toBe("TypeError");
      }
      expect(run(index, true, Buffer.concat([compressed, Buffer.from([0])]), piece)).toBe("TypeError");
    }
    if (format === "deflate-raw") return;
    for (let at = compressed.length - 4; at < compressed.length; at++) {
      const damaged = Buffer.from(compressed);
      damaged[at] = (damaged[at] as number) ^ 1;
      expect(run(index, true, damaged), `byte ${at}`).toBe("TypeError");
    }
  });

  it("returns the output in parts", () => {
    const zeros = compress(Buffer.alloc(5_000_000));
    expect(evaluate(`return largestPart(${index}, ${JSON.stringify(zeros.toString("latin1"))});`)).toBe(65_536);
  });
});

describe("the header of gzip", () => {
  const body = zlib.deflateRawSync("text");
  const trailer = zlib.gzipSync("text").subarray(-8);
  const whole = (header: Uint8Array) => Buffer.concat([header, body, trailer]);
  const fixed = (flags: number) => Buffer.from([0x1f, 0x8b, 8, flags, 1, 2, 3, 4, 0, 3]);

  it.each([
    ["a name", 8, Buffer.from("name\0")],
    ["a comment", 16, Buffer.from("comment\0")],
    ["an extra field", 4, Buffer.from([3, 0, 1, 2, 3])],
    ["an empty extra field", 4, Buffer.from([0, 0])],
    ["all of them", 28, Buffer.from([1, 0, 9, ...Buffer.from("n\0c\0")])],
  ])("may have %s", (_, flags, fields) => {
    for (const piece of [1, 65_536]) {
      expect(String(run(2, true, whole(Buffer.concat([fixed(flags), fields])), piece))).toBe("text");
    }
  });

  it("has a checksum, if it says so", () => {
    const crc = (bytes: Buffer) => zlib.gzipSync(bytes).readUInt32LE(zlib.gzipSync(bytes).length - 8) & 0xffff;
    const header = fixed(2);
    const sum = Buffer.alloc(2);
    sum.writeUInt16LE(crc(header));
    expect(String(run(2, true, whole(Buffer.concat([header, sum]))))).toBe("text");
    sum.writeUInt16LE(crc(header) ^ 1);
    expect(run(2, true, whole(Buffer.concat([header, sum])))).toBe("TypeError");
  });

  it.each([0, 1, 2, 3])("is refused with another byte %i", (at) => {
    const header = fixed(0);
    header[at] = 0xff;
    expect(run(2, true, whole(header))).toBe("TypeError");
  });
});
