/** `node:stream` inside a component: Node's own streams from the package `readable-stream`. */
import Stream from "readable-stream/lib/stream.js";

interface NodeStream extends AsyncIterable<unknown> {
  destroy(error?: unknown): void;
}

export const {
  addAbortSignal,
  compose,
  destroy,
  Duplex,
  finished,
  isDisturbed,
  isErrored,
  isReadable,
  PassThrough,
  pipeline,
  promises,
  Readable,
  Transform,
  Writable,
} = Stream;

/** Converts a Node stream to a web stream. */
Readable.toWeb = (stream: NodeStream): ReadableStream => {
  const parts = stream[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await parts.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => stream.destroy(reason),
  });
};

/** Converts a web stream to a Node stream. */
Readable.fromWeb = (stream: ReadableStream, options?: object) => {
  async function* parts() {
    const reader = stream.getReader();
    try {
      for (let part = await reader.read(); !part.done; part = await reader.read()) yield part.value;
    } finally {
      await reader.cancel();
    }
  }
  return Readable.from(parts(), { objectMode: false, ...options });
};

export { Stream };
export default Stream;
