/**
 * `DecompressionStream` (Compression Standard, section 7). The engine's own ends without an error when its input is cut, and checks
 * neither the sum of zlib nor the length of gzip.
 */
import { Decompressor, type Format } from "./decompress.ts";
import { gzipByEngine } from "./gzip-by-engine.ts";

/** The engine's own class, where it has one. */
const Native = globalThis.DecompressionStream as typeof globalThis.DecompressionStream | undefined;
const formats: readonly string[] = ["deflate", "deflate-raw", "gzip"];

/** A copy-free view of a `BufferSource`. @throws TypeError for anything else */
function bytesOf(chunk: unknown): Uint8Array {
  if (chunk instanceof ArrayBuffer) return new Uint8Array(chunk);
  if (ArrayBuffer.isView(chunk) && chunk.buffer instanceof ArrayBuffer) {
    return new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  }
  throw new TypeError("DecompressionStream: a chunk must be an ArrayBuffer or a view of one");
}

/** Decompresses pieces, and checks the end. */
interface Decompression {
  push(piece: Uint8Array): void | Promise<void>;
  end(): void | Promise<void>;
}

/** The size of a first piece from which on the engine's class is worth its two passes and its late errors. */
const LARGE = 4096;

function decompression(format: Format, first: Uint8Array, emit: (piece: Uint8Array) => void): Decompression {
  const isForEngine = format === "gzip" && Native !== undefined && first.length >= LARGE;
  return isForEngine ? gzipByEngine(Native, emit) : new Decompressor(format, emit);
}

class DecompressionStream {
  readonly #stream: TransformStream<unknown, Uint8Array>;

  constructor(format: string) {
    const name = String(format);
    if (!formats.includes(name)) {
      throw new TypeError(
        `DecompressionStream: the format must be "deflate", "deflate-raw" or "gzip", but is "${name}"`,
      );
    }
    let data: Decompression | undefined;
    this.#stream = new TransformStream({
      transform(chunk, controller) {
        const piece = bytesOf(chunk);
        data ??= decompression(name as Format, piece, (output) => controller.enqueue(output));
        return data.push(piece);
      },
      flush() {
        data ??= new Decompressor(name as Format, () => {});
        return data.end();
      },
    });
  }

  get readable(): ReadableStream<Uint8Array> {
    return this.#stream.readable;
  }

  get writable(): WritableStream<unknown> {
    return this.#stream.writable;
  }
}

for (const name of ["readable", "writable"]) {
  Object.defineProperty(DecompressionStream.prototype, name, { enumerable: true });
}
Object.defineProperty(DecompressionStream.prototype, Symbol.toStringTag, {
  value: "DecompressionStream",
  configurable: true,
});
Object.defineProperty(globalThis, "DecompressionStream", {
  value: DecompressionStream,
  configurable: true,
  writable: true,
});
