import { encodeUtf8 } from "../platform.ts";
import { checkBytes, type PieceReader, type StreamSettings } from "./pieces.ts";

/** A piece of a streamed body: a text is sent as UTF-8. An empty piece is left out. */
export type Piece = string | Uint8Array;

/** A `ReadableStream`, as far as it is read. */
export interface ReadableBody {
  getReader(): {
    read(): Promise<{ readonly done: boolean; readonly value?: unknown }>;
    cancel(): Promise<unknown>;
  };
}

/** What yields the pieces of a streamed answer: an async generator function, an async iterable, or a `ReadableStream`. */
export type StreamSource<T> = (() => AsyncIterable<T>) | AsyncIterable<T> | ReadableBody;

/** Tells a `ReadableStream`, of any realm, from other values. */
export function isReadable(value: unknown): value is ReadableBody {
  return typeof (value as Partial<ReadableBody> | undefined | null)?.getReader === "function";
}

function isIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof (value as Partial<AsyncIterable<unknown>> | undefined | null)?.[Symbol.asyncIterator] === "function";
}

/**
 * Checks a source, which is read when the answer is sent.
 *
 * @param helper the function that was called, for the error
 * @throws TypeError when it is no source
 */
export function settingsOf(helper: string, source: unknown): StreamSettings {
  const refuse = () => {
    throw new TypeError(`${helper}: takes an async generator function, an async iterable or a ReadableStream`);
  };
  const isFunction = typeof source === "function";
  if (!isFunction && !isReadable(source) && !isIterable(source)) refuse();
  const open = (): PieceReader => {
    const given: unknown = isFunction ? source() : source;
    // First: the engine's streams are not iterable.
    if (isReadable(given)) {
      const reader = given.getReader();
      return { next: () => reader.read(), return: () => reader.cancel() };
    }
    return isIterable(given) ? (given[Symbol.asyncIterator]() as PieceReader) : refuse();
  };
  const encode = (value: unknown) => (typeof value === "string" ? encodeUtf8(value) : checkBytes(value));
  // A function that was never called holds nothing.
  return isFunction ? { open, encode } : { open, encode, drop: () => open().return?.() };
}
