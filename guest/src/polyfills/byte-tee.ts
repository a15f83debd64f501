/** `tee` of streams of bytes (Streams Standard, section 4.9.2), which the engine refuses. */
const { prototype } = ReadableStream;
const nativeTee = prototype.tee;
const { getReader } = prototype;

/** Reports whether an unlocked stream is one of bytes: only such a stream has a reader that fills buffers. */
function isOfBytes(stream: ReadableStream): boolean {
  try {
    getReader.call(stream, { mode: "byob" }).releaseLock();
    return true;
  } catch {
    return false;
  }
}

interface Branch {
  readonly stream: ReadableStream<Uint8Array>;
  controller: ReadableByteStreamController | undefined;
  isCancelled: boolean;
  reason: unknown;
}

function teeBytes(stream: ReadableStream<Uint8Array>): [ReadableStream<Uint8Array>, ReadableStream<Uint8Array>] {
  const reader = stream.getReader();
  let isReading = false;
  let isAsked = false;
  let cancelled = (_: unknown): void => {};
  const cancelling = new Promise<unknown>((resolve) => {
    cancelled = resolve;
  });
  const branches: Branch[] = [];
  const open = () => branches.filter(({ isCancelled }) => !isCancelled);

  function pull(): void {
    isAsked = isReading;
    if (isReading) return;
    isReading = true;
    reader.read().then(({ done, value }) => {
      isReading = false;
      if (done) return end();
      const [first, second] = open();
      // Each branch has bytes of its own.
      second?.controller?.enqueue(new Uint8Array(value));
      first?.controller?.enqueue(value);
      if (isAsked) pull();
    }, failed);
  }
  function end(): void {
    for (const { controller } of open()) {
      controller?.close();
      // A reader that waits gets its buffer back.
      controller?.byobRequest?.respond(0);
    }
    cancelled(undefined);
  }
  function failed(): void {
    // `closed` has the reason.
    isReading = false;
  }
  function branch(): Branch {
    const made: Branch = { stream: undefined as never, controller: undefined, isCancelled: false, reason: undefined };
    const source = new ReadableStream<Uint8Array>({
      type: "bytes",
      start(controller: ReadableByteStreamController) {
        made.controller = controller;
      },
      pull,
      cancel(reason: unknown) {
        made.isCancelled = true;
        made.reason = reason;
        if (branches.every(({ isCancelled }) => isCancelled)) {
          cancelled(reader.cancel(branches.map((each) => each.reason)));
        }
        return cancelling;
      },
    } as never);
    return Object.assign(made, { stream: source });
  }

  branches.push(branch(), branch());
  reader.closed.catch((error) => {
    for (const { controller } of open()) controller?.error(error);
    cancelled(undefined);
  });
  return branches.map((each) => each.stream) as never;
}

interface ReadableByteStreamController {
  readonly byobRequest: { respond(bytes: number): void } | null;
  enqueue(piece: Uint8Array): void;
  close(): void;
  error(reason: unknown): void;
}

Object.defineProperty(prototype, "tee", {
  value: {
    tee(this: ReadableStream): ReadableStream[] {
      if (this.locked) throw new TypeError("tee: the stream is locked");
      return isOfBytes(this) ? teeBytes(this) : nativeTee.call(this);
    },
  }.tee,
  writable: true,
  enumerable: true,
  configurable: true,
});
