/** `ReadableStream.from` (Streams Standard, section 4.2.4), which the engine lacks. */
type Step = { readonly done?: boolean; readonly value: unknown };
type Source = {
  next(): unknown;
  return?: ((reason: unknown) => unknown) | null;
};

/** Opens an iterator; a synchronous one gives promises of its values. */
function open(given: unknown): { readonly iterator: Source; readonly isAsync: boolean } {
  if (given === null || given === undefined) throw new TypeError("ReadableStream.from: the argument must be iterable");
  const object = Object(given) as Record<symbol, unknown>;
  const asynchronous = object[Symbol.asyncIterator] ?? undefined;
  const method = asynchronous ?? object[Symbol.iterator];
  if (typeof method !== "function") throw new TypeError("ReadableStream.from: the argument must be iterable");
  const iterator: unknown = method.call(given);
  if (Object(iterator) !== iterator) throw new TypeError("ReadableStream.from: the iterator must be an object");
  return { iterator: iterator as Source, isAsync: asynchronous !== undefined };
}

function checked(step: unknown): Step {
  if (Object(step) !== step) throw new TypeError("ReadableStream.from: a result of the iterator must be an object");
  return step as Step;
}

function from(given: unknown): ReadableStream<unknown> {
  const { iterator, isAsync } = open(given);
  const { next } = iterator;
  return new ReadableStream(
    {
      async pull(controller) {
        const result = next.call(iterator);
        const step = checked(isAsync ? await result : result);
        if (step.done) controller.close();
        else controller.enqueue(isAsync ? step.value : await step.value);
      },
      async cancel(reason) {
        const { return: end } = iterator;
        if (end === undefined || end === null) return;
        const result = end.call(iterator, reason);
        checked(isAsync ? await result : result);
      },
    },
    { highWaterMark: 0 },
  );
}

Object.defineProperty(ReadableStream, "from", { value: from, writable: true, enumerable: true, configurable: true });
