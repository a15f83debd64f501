/** `CompressionStream` and `DecompressionStream` (Compression Standard, sections 6 and 7). */
import { type ReadableStream, TransformStream, type WritableStream } from "../streams/classes.ts";
import { type Coder, compressor, decompressor, type Format } from "./coder.ts";

const formats: readonly string[] = ["deflate", "deflate-raw", "gzip"];

function formatOf(name: string, given: unknown): Format {
  const format = String(given);
  if (formats.includes(format)) return format as Format;
  throw new TypeError(
    `${name}: the format must be "deflate", "deflate-raw" or "gzip", but is ${JSON.stringify(format)}`,
  );
}

/** A view of a `BufferSource`, without a copy. @throws TypeError for anything else */
function bytesOf(name: string, chunk: unknown): Uint8Array {
  if (chunk instanceof ArrayBuffer) return new Uint8Array(chunk);
  if (ArrayBuffer.isView(chunk) && chunk.buffer instanceof ArrayBuffer) {
    return new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  }
  throw new TypeError(`${name}: a chunk must be an ArrayBuffer or a view of one`);
}

const NOTHING = new Uint8Array(0);

function coding(name: string, coder: Coder): TransformStream<unknown, Uint8Array> {
  return new TransformStream<unknown, Uint8Array>({
    transform(chunk, controller) {
      const output = coder(bytesOf(name, chunk), false);
      if (output.length > 0) controller.enqueue(output);
    },
    flush(controller) {
      const output = coder(NOTHING, true);
      if (output.length > 0) controller.enqueue(output);
    },
  });
}

export class CompressionStream {
  readonly #stream: TransformStream<unknown, Uint8Array>;

  constructor(format: string) {
    this.#stream = coding("CompressionStream", compressor(formatOf("CompressionStream", format)));
  }

  get readable(): ReadableStream<Uint8Array> {
    return this.#stream.readable;
  }

  get writable(): WritableStream<unknown> {
    return this.#stream.writable;
  }
}

export class DecompressionStream {
  readonly #stream: TransformStream<unknown, Uint8Array>;

  constructor(format: string) {
    this.#stream = coding("DecompressionStream", decompressor(formatOf("DecompressionStream", format)));
  }

  get readable(): ReadableStream<Uint8Array> {
    return this.#stream.readable;
  }

  get writable(): WritableStream<unknown> {
    return this.#stream.writable;
  }
}
