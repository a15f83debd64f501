/** `signal` of a sink's controller (Streams Standard, section 5.4), which the engine lacks. */
type Controller = object;

const Native = WritableStream;
const { prototype } = Native;
const controllers = new WeakMap<object, Controller>();
const signals = new WeakMap<Controller, AbortController>();

/** A sink that hands its controller out when it starts. */
function noting(sink: object, note: (controller: Controller) => void): object {
  return new Proxy(sink, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (name === "start" && (value === undefined || typeof value === "function")) {
        return (controller: Controller) => {
          note(controller);
          return value === undefined ? undefined : Reflect.apply(value, target, [controller]);
        };
      }
      // A class's own fields are on the sink itself.
      return typeof value === "function" ? (...args: unknown[]) => Reflect.apply(value, target, args) : value;
    },
  });
}

const Own: typeof WritableStream = new Proxy(Native, {
  construct(target, [sink, ...rest], newTarget) {
    let noted: Controller | undefined;
    const given = sink === undefined ? {} : sink;
    const wrapped = Object(given) === given ? noting(given, note) : given;
    const stream = Reflect.construct(target, [wrapped, ...rest], newTarget === Own ? target : newTarget) as object;
    if (noted !== undefined) controllers.set(stream, noted);
    return stream;
    function note(controller: Controller): void {
      noted = controller;
      signals.set(controller, new AbortController());
    }
  },
});

function signalAbort(stream: object, reason: unknown): void {
  const controller = controllers.get(stream);
  if (controller !== undefined) signals.get(controller)?.abort(reason);
}

const { abort, getWriter } = prototype;
const streams = new WeakMap<object, object>();
const define = (on: object, name: PropertyKey, value: unknown) =>
  Object.defineProperty(on, name, { value, writable: true, enumerable: true, configurable: true });

const methods = {
  abort(this: WritableStream, reason?: unknown) {
    if (!this.locked) {
      const writer = getWriter.call(this);
      // It is null once the stream has failed.
      const isWritable = writer.desiredSize !== null;
      writer.releaseLock();
      if (isWritable) signalAbort(this, reason);
    }
    return abort.call(this, reason);
  },
  getWriter(this: WritableStream) {
    const writer = getWriter.call(this);
    streams.set(writer, this);
    return writer;
  },
};
for (const [name, value] of Object.entries(methods)) define(prototype, name, value);

const Writer = new Native().getWriter().constructor as unknown as { readonly prototype: WritableStreamDefaultWriter };
const abortWriter = Writer.prototype.abort;
define(
  Writer.prototype,
  "abort",
  {
    abort(this: WritableStreamDefaultWriter, reason?: unknown) {
      const stream = streams.get(this);
      const isWritable = stream !== undefined && (stream as WritableStream).locked && sizeOf(this) !== null;
      if (isWritable) signalAbort(stream, reason);
      return abortWriter.call(this, reason);
    },
  }.abort,
);

/** The room of a writer; null when its stream has failed, or is no longer its own. */
function sizeOf(writer: WritableStreamDefaultWriter): number | null {
  try {
    return writer.desiredSize;
  } catch {
    return null;
  }
}

let controllerPrototype: object | undefined;
new Native({
  start(controller) {
    controllerPrototype = Object.getPrototypeOf(controller);
  },
});
Object.defineProperty(controllerPrototype as object, "signal", {
  get(this: Controller): AbortSignal {
    const own = signals.get(this);
    if (own === undefined) throw new TypeError("signal: the receiver must be a controller of a WritableStream");
    return own.signal;
  },
  enumerable: true,
  configurable: true,
});

Object.defineProperty(prototype, "constructor", { value: Own, writable: true, configurable: true });
Object.defineProperty(globalThis, "WritableStream", { value: Own, writable: true, configurable: true });
