/** The streams in the engine itself, compared with Node's `zlib`. */
import { deflateRawSync, deflateSync, gunzipSync, gzipSync, inflateRawSync, inflateSync } from "node:zlib";
import { build } from "esbuild";
import { beforeAll, describe, expect, it } from "vitest";
import { type Engine, startEngine } from "../../../testing/engine.ts";

/** Codes the body by the class and format in the path, in pieces of so many bytes. */
const handler = `
  import "./guest/src/platform/streams/install.ts";
  import "./guest/src/platform/compression/install.ts";
  async function run(name, format, size, data) {
    const stream = new globalThis[name](format);
    const writer = stream.writable.getWriter();
    const written = (async () => {
      for (let at = 0; at < data.length; at += size) await writer.write(data.subarray(at, at + size));
      await writer.close();
    })();
    written.catch(() => {});
    const reader = stream.readable.getReader();
    const pieces = [];
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      if (!(value instanceof Uint8Array)) throw new Error("a piece is no Uint8Array");
      pieces.push(...value);
    }
    await written;
    return new Uint8Array(pieces);
  }
  export const handler = {
    async handle({ pathWithQuery, body }) {
      const [, name, format, size] = pathWithQuery.split("/");
      try {
        return { status: 200, headers: [], body: await run(name, format, Number(size), body ?? new Uint8Array()) };
      } catch (thrown) {
        return { status: 400, headers: [["thrown", Uint8Array.from(thrown.name, (char) => char.charCodeAt(0))]] };
      }
    },
  };
`;

const formats = {
  deflate: [deflateSync, inflateSync],
  "deflate-raw": [deflateRawSync, inflateRawSync],
  gzip: [gzipSync, gunzipSync],
} as const;
type Format = keyof typeof formats;
const root = new URL("../../../../", import.meta.url);

let engine: Engine;
beforeAll(async () => {
  const { outputFiles } = await build({
    stdin: { contents: handler, resolveDir: root.pathname },
    bundle: true,
    write: false,
    format: "esm",
    external: ["tenon:engine"],
    logLevel: "silent",
  });
  engine = startEngine(new URL("crates/engine/engine-full.wasm", root), outputFiles[0]?.text ?? "");
});

const code = (name: "CompressionStream" | "DecompressionStream", format: string, body: Uint8Array, size = 4096) => {
  const { status, body: answer, headers } = engine.handle({ path: `/${name}/${format}/${size}`, body });
  return status === 200 ? Buffer.from(answer ?? []) : Buffer.from(headers[0]?.[1] ?? "").toString();
};

/** Compressible and incompressible parts, of 100,000 bytes. */
const data = Buffer.from(
  Uint8Array.from({ length: 100_000 }, (_, i) => (i % 10_000 < 6_000 ? (i * 7) >> 5 : (i * 2_654_435_761) >>> 13)),
);

describe.each(Object.keys(formats) as Format[])("%s", (format) => {
  const [pack, unpack] = formats[format];
  const packed = pack(data);

  it("is what zlib reads and writes", () => {
    expect(unpack(code("CompressionStream", format, data) as Buffer).equals(data)).toBe(true);
    expect(data.equals(code("DecompressionStream", format, packed) as Buffer)).toBe(true);
    expect(code("DecompressionStream", format, pack("hello"), 1).toString()).toBe("hello");
    expect(unpack(code("CompressionStream", format, new Uint8Array()) as Buffer).length).toBe(0);
  });

  it("is refused when it is cut, damaged or too long", () => {
    const small = pack("hello, hello, hello");
    for (let length = 0; length < small.length; length++) {
      expect(code("DecompressionStream", format, small.subarray(0, length)), `${length}`).toBe("TypeError");
    }
    expect(code("DecompressionStream", format, Buffer.concat([small, Buffer.from([0])]))).toBe("TypeError");
    expect(code("DecompressionStream", format, packed.subarray(0, packed.length >> 1))).toBe("TypeError");
    if (format === "deflate-raw") return;
    for (let back = 1; back <= (format === "gzip" ? 8 : 4); back++) {
      const damaged = Buffer.from(small);
      damaged[small.length - back] = (damaged[small.length - back] as number) ^ 16;
      expect(code("DecompressionStream", format, damaged), `${back} from the end`).toBe("TypeError");
    }
  });
});

it("knows three formats", () => {
  expect(code("DecompressionStream", "brotli", new Uint8Array())).toBe("TypeError");
  expect(code("CompressionStream", "GZIP", new Uint8Array())).toBe("TypeError");
});
