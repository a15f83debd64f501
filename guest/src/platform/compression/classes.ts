/**
 * `CompressionStream` and `DecompressionStream` (Compression Standard, sections 6 and 7) over the engine's codecs
 * (`crates/engine/src/compress.c`).
 */
import { codecFinish, codecNew, codecPull, codecPush } from "tenon:engine";
import { defineInterface } from "../interface.ts";
import { type ReadableStream, TransformStream, type WritableStream } from "../streams/classes.ts";

/** The formats in the order of the engine's numbers. */
const formats: readonly string[] = ["deflate", "deflate-raw", "gzip"];

/** A view of a `BufferSource`, without a copy. @throws TypeError for anything else */
function bytesOf(name: string, chunk: unknown): Uint8Array {
  if (chunk instanceof ArrayBuffer) return new Uint8Array(chunk);
  if (ArrayBuffer.isView(chunk) && chunk.buffer instanceof ArrayBuffer) {
    return new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  }
  throw new TypeError(`${name}: a chunk must be an ArrayBuffer or a view of one`);
}

type Coding = TransformStream<unknown, Uint8Array>;

function coding(name: string, given: unknown, isDecompression: boolean): Coding {
  const format = formats.indexOf(`${given}`);
  if (format < 0) {
    throw new TypeError(`${name}: the format must be "deflate", "deflate-raw" or "gzip", but is "${given}"`);
  }
  const codec = codecNew(format, isDecompression);
  /** Enqueues the output that is ready. Data that is damaged, cut or too long fails after the output before the fault. */
  const pull = (controller: { enqueue(piece: Uint8Array): void }) => {
    for (let piece = codecPull(codec); piece !== undefined; piece = codecPull(codec)) controller.enqueue(piece);
  };
  return new TransformStream<unknown, Uint8Array>({
    transform(chunk, controller) {
      codecPush(codec, bytesOf(name, chunk));
      pull(controller);
    },
    flush(controller) {
      codecFinish(codec);
      pull(controller);
    },
  });
}

export class CompressionStream {
  readonly #stream: Coding;

  constructor(format: string) {
    this.#stream = coding("CompressionStream", format, false);
  }

  get readable(): ReadableStream<Uint8Array> {
    return this.#stream.readable;
  }

  get writable(): WritableStream<unknown> {
    return this.#stream.writable;
  }
}

export class DecompressionStream {
  readonly #stream: Coding;

  constructor(format: string) {
    this.#stream = coding("DecompressionStream", format, true);
  }

  get readable(): ReadableStream<Uint8Array> {
    return this.#stream.readable;
  }

  get writable(): WritableStream<unknown> {
    return this.#stream.writable;
  }
}

defineInterface("CompressionStream", CompressionStream);
defineInterface("DecompressionStream", DecompressionStream);
