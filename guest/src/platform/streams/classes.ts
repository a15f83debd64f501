/**
 * The classes of the Streams Standard, from `web-streams-polyfill`. Its authors run the Web Platform Tests; the results in this
 * engine are in `docs/conformance.md`.
 */
import { ReadableStream } from "web-streams-polyfill";

export {
  ByteLengthQueuingStrategy,
  CountQueuingStrategy,
  ReadableByteStreamController,
  ReadableStream,
  ReadableStreamBYOBReader,
  ReadableStreamBYOBRequest,
  ReadableStreamDefaultController,
  ReadableStreamDefaultReader,
  TransformStream,
  TransformStreamDefaultController,
  WritableStream,
  WritableStreamDefaultController,
  WritableStreamDefaultWriter,
} from "web-streams-polyfill";

const { getPrototypeOf, setPrototypeOf } = Object;

// The library makes a prototype of its own for iterators, because it also supports languages without async generators.
setPrototypeOf(
  getPrototypeOf(new ReadableStream().values()),
  getPrototypeOf(getPrototypeOf(async function* () {}.prototype)),
);
