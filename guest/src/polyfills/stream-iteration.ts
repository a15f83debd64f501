/** `for await` over a `ReadableStream`, and its method `values` (Streams Standard, section 4.2.5), which the engine lacks. */
type Result = IteratorResult<unknown, unknown>;

/** Locks a stream, and iterates over its chunks. Leaving the loop cancels the stream unless `preventCancel` is true. */
export function values(
  this: ReadableStream,
  options?: { readonly preventCancel?: boolean },
): AsyncIterableIterator<unknown> {
  const preventCancel = Boolean(options?.preventCancel);
  const reader = this.getReader();
  let isDone = false;
  let last: Promise<unknown> = Promise.resolve();
  /** Runs a step behind those before it, as the standard has it for calls that do not wait for each other. */
  const queued = (step: () => Promise<Result>): Promise<Result> => {
    const result = last.then(step, step);
    last = result;
    return result;
  };
  const end = () => {
    isDone = true;
    reader.releaseLock();
  };
  return {
    next: () =>
      queued(async () => {
        if (isDone) return { done: true, value: undefined };
        try {
          const { done, value } = await reader.read();
          if (!done) return { done, value };
        } catch (error) {
          end();
          throw error;
        }
        end();
        return { done: true, value: undefined };
      }),
    return: (value?: unknown) =>
      queued(async () => {
        if (!isDone) {
          const cancelled = preventCancel ? undefined : reader.cancel(value);
          end();
          await cancelled;
        }
        return { done: true, value };
      }),
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

for (const name of ["values", Symbol.asyncIterator]) {
  Object.defineProperty(ReadableStream.prototype, name, { value: values, writable: true, configurable: true });
}
