/** Compares the iteration of streams with Node's own. */
import { afterAll, describe, expect, it } from "vitest";

const own = Object.getOwnPropertyDescriptors(ReadableStream.prototype);
const { values } = await import("./stream-iteration.ts");
// Importing the module replaces Node's.
afterAll(() => void Object.defineProperties(ReadableStream.prototype, own));

type Values = (this: ReadableStream, options?: { preventCancel?: boolean }) => AsyncIterableIterator<unknown>;

/** A stream of pieces, and what was said when it was cancelled. */
function streamOf(pieces: readonly unknown[], isBroken = false) {
  const left = [...pieces];
  const cancelled: unknown[] = [];
  const stream = new ReadableStream({
    pull(controller) {
      if (left.length > 0) controller.enqueue(left.shift());
      else if (isBroken) controller.error(new RangeError("broken"));
      else controller.close();
    },
    cancel: (reason) => void cancelled.push(reason),
  });
  return { stream, cancelled };
}

const uses: Record<string, (values: Values) => unknown> = {
  "to the end": async (values) => {
    const { stream, cancelled } = streamOf([1, 2]);
    const seen = [];
    for await (const each of values.call(stream)) seen.push(each);
    return [seen, cancelled, stream.locked];
  },
  "left early": async (values) => {
    const { stream, cancelled } = streamOf([1, 2, 3]);
    for await (const _ of values.call(stream)) break;
    return [cancelled, stream.locked, (await stream.getReader().read()).done];
  },
  "left early without cancelling": async (values) => {
    const { stream, cancelled } = streamOf([1, 2, 3]);
    for await (const _ of values.call(stream, { preventCancel: true })) break;
    return [cancelled, stream.locked, (await stream.getReader().read()).value];
  },
  "an error of the stream": async (values) => {
    const { stream } = streamOf([1], true);
    const seen: unknown[] = [];
    try {
      for await (const each of values.call(stream)) seen.push(each);
    } catch (error) {
      seen.push(String(error));
    }
    return [seen, stream.locked];
  },
  "calls that do not wait": async (values) => {
    const iterator = values.call(streamOf([1, 2]).stream);
    return Promise.all([iterator.next(), iterator.next(), iterator.next(), iterator.next()]);
  },
  "returned before it began": async (values) => {
    const { stream, cancelled } = streamOf([1]);
    const iterator = values.call(stream);
    return [await iterator.return?.("enough"), cancelled, stream.locked, await iterator.next()];
  },
  "a locked stream": (values) => {
    const { stream } = streamOf([1]);
    stream.getReader();
    try {
      values.call(stream);
    } catch (error) {
      return (error as Error).constructor.name;
    }
    return undefined;
  },
};

describe("iterating over a stream", () => {
  it.each(Object.keys(uses))("%s", async (name) => {
    const use = uses[name] as (values: Values) => unknown;
    expect(await use(values as Values)).toEqual(await use(own.values.value as Values));
  });
});
