/** `pipeTo` and `pipeThrough` (Streams Standard, section 4.2.4). The engine refuses every signal, and reads options in another order. */
interface Options {
  readonly preventAbort: boolean;
  readonly preventCancel: boolean;
  readonly preventClose: boolean;
  readonly signal: AbortSignal | undefined;
}

const { prototype } = ReadableStream;
const nativePipeTo = prototype.pipeTo;
const { get: isLocked } = Object.getOwnPropertyDescriptor(prototype, "locked") as { get(this: unknown): boolean };

/** Reads options as a dictionary (Web IDL): in the order of their names. */
function optionsOf(given: unknown): Options {
  if (given !== undefined && given !== null && Object(given) !== given) {
    throw new TypeError("pipeTo: the options must be an object");
  }
  const { preventAbort, preventCancel, preventClose, signal } = (given ?? {}) as Record<string, unknown>;
  if (signal !== undefined && !isSignal(signal)) throw new TypeError("pipeTo: the signal must be an AbortSignal");
  return {
    preventAbort: Boolean(preventAbort),
    preventCancel: Boolean(preventCancel),
    preventClose: Boolean(preventClose),
    signal,
  };
}

function isSignal(value: unknown): value is AbortSignal {
  try {
    return value instanceof AbortSignal && typeof value.aborted === "boolean";
  } catch {
    return false;
  }
}

function checkLocks(source: ReadableStream, destination: WritableStream): void {
  if (isLocked.call(source)) throw new TypeError("pipeTo: the source is locked");
  if (destination.locked) throw new TypeError("pipeTo: the destination is locked");
}

function pipe(source: ReadableStream, destination: WritableStream, options: Options): Promise<void> {
  const { signal, ...rest } = options;
  return signal === undefined
    ? nativePipeTo.call(source, destination, rest)
    : pipeUntil(signal, source, destination, rest);
}

/** Pipes until a signal aborts. */
function pipeUntil(
  signal: AbortSignal,
  source: ReadableStream,
  destination: WritableStream,
  { preventAbort, preventCancel, preventClose }: Omit<Options, "signal">,
): Promise<void> {
  const reader = source.getReader();
  const writer = destination.getWriter();
  let isEnding = false;
  let lastWrite: Promise<unknown> = Promise.resolve();
  return new Promise((resolve, reject) => {
    const nothing = () => Promise.resolve();
    const fail = (error: unknown) => () => reject(error);
    const settle = (end: () => void) => {
      signal.removeEventListener("abort", abort);
      writer.releaseLock();
      reader.releaseLock();
      end();
    };
    /** Ends the pipe once, after what was read is written. */
    const shutdown = (action: () => Promise<unknown>, end: () => void) => {
      if (isEnding) return;
      isEnding = true;
      const act = () =>
        action().then(
          () => settle(end),
          (error) => settle(fail(error)),
        );
      // Two steps, so that the ends of both streams are known.
      lastWrite.catch(nothing).then(act);
    };
    let isSourceOver = false;
    let isDestinationOver = false;
    const abort = () => {
      const { reason } = signal;
      const both = async () => {
        const actions = [
          preventAbort || isDestinationOver ? undefined : writer.abort(reason),
          preventCancel || isSourceOver ? undefined : reader.cancel(reason),
        ];
        await Promise.all(actions);
      };
      shutdown(both, fail(reason));
    };
    // The ends of the streams are seen before the actions run, which are a step behind.
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort);
    reader.closed.then(
      () => {
        isSourceOver = true;
        shutdown(preventClose ? nothing : () => writer.close(), resolve);
      },
      (error) => {
        isSourceOver = true;
        shutdown(preventAbort ? nothing : () => writer.abort(error), fail(error));
      },
    );
    const refused = (error: unknown) => {
      isDestinationOver = true;
      shutdown(preventCancel ? nothing : () => reader.cancel(error), fail(error));
    };
    writer.closed.then(() => refused(new TypeError("pipeTo: the destination is closed")), refused);
    const step = async () => {
      while (!isEnding) {
        await writer.ready;
        if (isEnding) return;
        const { done, value } = await reader.read();
        if (done) return;
        lastWrite = writer.write(value);
        lastWrite.catch(() => {});
      }
    };
    // The ends of both streams are seen above.
    step().catch(() => {});
  });
}

const methods = {
  pipeTo(this: ReadableStream, destination: WritableStream, ...[given]: unknown[]): Promise<void> {
    try {
      // Throws for another receiver.
      isLocked.call(this);
      if (!(destination instanceof WritableStream))
        throw new TypeError("pipeTo: the destination must be a WritableStream");
      const options = optionsOf(given);
      checkLocks(this, destination);
      return pipe(this, destination, options);
    } catch (error) {
      return Promise.reject(error);
    }
  },
  pipeThrough(this: ReadableStream, pair: ReadableWritablePair, ...[given]: unknown[]): ReadableStream {
    isLocked.call(this);
    const { readable } = Object(pair) as ReadableWritablePair;
    if (!(readable instanceof ReadableStream)) throw new TypeError("pipeThrough: readable must be a ReadableStream");
    const { writable } = pair;
    if (!(writable instanceof WritableStream)) throw new TypeError("pipeThrough: writable must be a WritableStream");
    const options = optionsOf(given);
    checkLocks(this, writable);
    pipe(this, writable, options).catch(() => {});
    return readable;
  },
};

type ReadableWritablePair = { readonly readable: ReadableStream; readonly writable: WritableStream };

for (const [name, value] of Object.entries(methods)) {
  Object.defineProperty(prototype, name, { value, writable: true, enumerable: true, configurable: true });
}
