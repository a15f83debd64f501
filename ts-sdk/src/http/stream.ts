import { encodeUtf8 } from "../platform.ts";
import { checkBytes, type PieceReader, type StreamSettings } from "./pieces.ts";

/** A piece of a streamed body: a text is sent as UTF-8. An empty piece is left out. */
export type Piece = string | Uint8Array;

/** The members of a `ReadableStream` that are used. */
export interface ReadableBody {
  getReader(): {
    read(): Promise<{ readonly done: boolean; readonly value?: unknown }>;
    cancel(): Promise<unknown>;
  };
}

/** The source of a streamed answer's pieces: an async generator function, an async iterable, or a `ReadableStream`. */
export type StreamSource<T> = (() => AsyncIterable<T>) | AsyncIterable<T> | ReadableBody;

/** Reports whether a value is a `ReadableStream`, of any realm. */
export function isReadable(value: unknown): value is ReadableBody {
  return typeof (value as Partial<ReadableBody> | undefined | null)?.getReader === "function";
}

function isIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof (value as Partial<AsyncIterable<unknown>> | undefined | null)?.[Symbol.asyncIterator] === "function";
}

/**
 * Checks a source, which is read when the answer is sent.
 *
 * @param helper the name of the called function, for the error
 * @throws TypeError when it is not a source
 */
export function settingsOf(helper: string, source: unknown): StreamSettings {
  const refuse = () => {
    throw new TypeError(`${helper}: expects an async generator function, an async iterable or a ReadableStream`);
  };
  const isFunction = typeof source === "function";
  if (!isFunction && !isReadable(source) && !isIterable(source)) refuse();
  const open = (): PieceReader => {
    const given: unknown = isFunction ? source() : source;
    // Checked first, because the engine's streams are not iterable.
    if (isReadable(given)) {
      const reader = given.getReader();
      return { next: () => reader.read(), return: () => reader.cancel() };
    }
    return isIterable(given) ? (given[Symbol.asyncIterator]() as PieceReader) : refuse();
  };
  const encode = (value: unknown) => (typeof value === "string" ? encodeUtf8(value) : checkBytes(value));
  // A function that was never called has nothing to release.
  return isFunction ? { open, encode } : { open, encode, drop: () => open().return?.() };
}
