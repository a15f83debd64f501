/**
 * The stores of `AsyncLocalStorage`, which follow promises, thenables, timers, microtasks and the callbacks of streams. The engine does
 * not track asynchronous calls, so this does: every callback runs with the stores that were current at its registration. JavaScript
 * cannot observe the callbacks of `await`. So in a bundle with this module, asynchronous functions keep and restore the stores
 * (`cli/src/build/async-forms.ts`).
 */
export type Call<Result = unknown> = (...args: never[]) => Result;
export type Stores = ReadonlyMap<object, unknown>;

const none: Stores = new Map();
let current = none;

/** The current stores. */
export const stores = (): Stores => current;

/** Makes stores current, until the current synchronous call ends or others are. */
export function enter(next: Stores): void {
  current = next;
}

/** Makes no stores current. */
export function leave(): void {
  current = none;
}

/** The stores before an `await`. */
export const now = stores;

/** Makes the stores current again that were so before an `await`. They end with the job. */
export function after<Value>(own: Stores | undefined, value?: Value): Value {
  if (own !== undefined) {
    current = own;
    if (own !== none) scheduleMicrotask(leave);
  }
  return value as Value;
}

/** The same after a `yield`, which the caller of `next` ends within stores of its own. */
export function resumed<Value>(own: Stores, value: Value): Value {
  return current === none ? after(own, value) : value;
}

/** Calls a function with stores, and then restores the previous ones. */
export function within<Result>(next: Stores, call: Call<Result>, self: unknown, args: readonly unknown[]): Result {
  const before = current;
  current = next;
  try {
    return call.apply(self, args as never[]);
  } finally {
    current = before;
  }
}

/** Binds a callback to the current stores. Returns any other value unchanged. */
export function bound<Value>(callback: Value): Value {
  if (typeof callback !== "function") return callback;
  const own = current;
  return function (this: unknown, ...args: unknown[]) {
    return within(own, callback as unknown as Call, this, args);
  } as Value;
}

/** Binds a callback that the engine calls outside of every other call. */
function boundJob<Value>(callback: Value): Value {
  if (typeof callback !== "function") return callback;
  const own = current;
  return function (this: unknown, ...args: unknown[]) {
    // Nothing may remain from earlier code, such as the store of `enterWith` in an earlier request.
    current = none;
    return within(own, callback as unknown as Call, this, args);
  } as Value;
}

export const scheduleMicrotask = globalThis.queueMicrotask;
for (const name of ["setTimeout", "setInterval", "queueMicrotask"] as const) {
  const schedule = globalThis[name] as (callback: unknown, ...rest: unknown[]) => unknown;
  globalThis[name] = ((callback: unknown, ...rest: unknown[]) => schedule(boundJob(callback), ...rest)) as never;
}

type Settle = (value?: unknown) => void;
type Executor = (resolve: Settle, reject: Settle) => void;

const EnginePromise = globalThis.Promise;
const { then, finally: settled } = EnginePromise.prototype;

/**
 * Resolves a promise. The engine calls the `then` of an object that is no promise in a job of its own, which has no stores; so this
 * calls it in one that has.
 */
function resolveWith(value: unknown, resolve: Settle, reject: Settle, own: Stores): unknown {
  const isObject = (typeof value === "object" && value !== null) || typeof value === "function";
  if (!isObject || value instanceof EnginePromise) return resolve(value);
  let method: unknown;
  try {
    method = (value as { readonly then?: unknown }).then;
  } catch (error) {
    return reject(error);
  }
  if (typeof method !== "function") return resolve(value);
  const [resolveOnce, rejectOnce] = once(resolve, reject, own);
  return scheduleMicrotask(() => {
    current = none;
    try {
      within(own, method as Call, value, [resolveOnce, rejectOnce]);
    } catch (error) {
      rejectOnce(error);
    }
  });
}

/** The functions that resolve a promise, of which one call counts. */
function once(resolve: Settle, reject: Settle, own?: Stores): [Settle, Settle] {
  let isOver = false;
  return [
    (value) => {
      if (isOver) return;
      isOver = true;
      resolveWith(value, resolve, reject, own ?? current);
    },
    (reason) => {
      if (isOver) return;
      isOver = true;
      reject(reason);
    },
  ];
}

/** The argument of `new Promise`, whose functions follow thenables with the stores. */
export function executor(given: unknown): unknown {
  if (typeof given !== "function") return given;
  return (resolve: Settle, reject: Settle) => given(...once(resolve, reject));
}

/** The class that subclasses of `Promise` extend. */
export const OwnPromise: PromiseConstructor = new Proxy(EnginePromise, {
  construct: (target, [given], newTarget) => Reflect.construct(target, [executor(given)], newTarget) as object,
});

/** A value that is awaited or returned: an object with a method `then` is followed with the current stores. */
export function followed(value: unknown): unknown {
  const isObject = (typeof value === "object" && value !== null) || typeof value === "function";
  if (!isObject || value instanceof EnginePromise || !("then" in (value as object))) return value;
  return new EnginePromise(executor((resolve: Settle) => resolve(value)) as Executor);
}

/** The operand of `for await` and `yield*`: an iterable whose values are followed, unless it is an asynchronous one. */
export function each(iterable: unknown): unknown {
  const { [Symbol.asyncIterator]: asynchronous, [Symbol.iterator]: iterator } = Object(iterable) as {
    [Symbol.asyncIterator]?: unknown;
    [Symbol.iterator]?: () => Iterator<unknown>;
  };
  if (asynchronous !== undefined && asynchronous !== null) return iterable;
  if (typeof iterator !== "function") return iterable;
  return { [Symbol.iterator]: () => followedValues(iterator.call(iterable)) };
}

function followedValues(inner: Iterator<unknown>): Iterator<unknown> {
  const next = (result: IteratorResult<unknown>) =>
    result.done ? result : { done: false, value: followed(result.value) };
  const { next: step } = inner;
  return {
    next: (...given: [] | [undefined]) => next(step.apply(inner, given)),
    ...(inner.return && { return: (value?: unknown) => next((inner.return as (value?: unknown) => never)(value)) }),
    ...(inner.throw && { throw: (error?: unknown) => next((inner.throw as (error?: unknown) => never)(error)) }),
  };
}

/** Has what a callback returns followed with the stores that it was called with. */
function following<Value>(callback: Value): Value {
  if (typeof callback !== "function") return callback;
  return function (this: unknown, ...args: unknown[]) {
    return followed(callback.apply(this, args));
  } as Value;
}

const define = (on: object, name: PropertyKey, value: unknown) =>
  Object.defineProperty(on, name, { value, configurable: true, writable: true });

const methods = {
  // biome-ignore lint/suspicious/noThenProperty: it replaces the method of promises itself.
  then(this: Promise<unknown>, fulfilled?: never, rejected?: never) {
    return then.call(this, boundJob(following(fulfilled)), boundJob(following(rejected)));
  },
  // The engine calls the method `then` for the callbacks, and follows what they return on its own.
  finally(this: Promise<unknown>, callback?: never) {
    return settled.call(this, following(callback));
  },
};
for (const [name, value] of Object.entries(methods)) define(EnginePromise.prototype, name, value);

define(
  EnginePromise,
  "resolve",
  {
    resolve(this: PromiseConstructor, value: unknown) {
      if (value instanceof EnginePromise && value.constructor === this) return value;
      return new this(executor((resolve: Settle) => resolve(value)) as Executor);
    },
  }.resolve,
);
const { withResolvers } = EnginePromise as unknown as { withResolvers?: Call };
if (withResolvers !== undefined) {
  define(
    EnginePromise,
    "withResolvers",
    {
      withResolvers(this: PromiseConstructor) {
        const { promise, ...settle } = withResolvers.call(this) as {
          promise: unknown;
          resolve: Settle;
          reject: Settle;
        };
        const [resolve, reject] = once(settle.resolve, settle.reject);
        return { promise, resolve, reject };
      },
    }.withResolvers,
  );
}

/** The callbacks of a source, a sink or a transformer, which run with the stores of the stream's maker when there are no others. */
function boundMethods(given: unknown): unknown {
  if (typeof given !== "object" || given === null) return given;
  const own = current;
  return new Proxy(given, {
    get(target, name) {
      const value = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => within(current === none ? own : current, following(value) as Call, target, args);
    },
  });
}

for (const name of ["ReadableStream", "WritableStream", "TransformStream"] as const) {
  const Engine = globalThis[name] as abstract new (...args: never[]) => object;
  const Own: typeof Engine = new Proxy(Engine, {
    construct: (target, [callbacks, ...rest], newTarget) =>
      Reflect.construct(target, [boundMethods(callbacks), ...rest], newTarget === Own ? target : newTarget) as object,
  });
  define(globalThis, name, Own);
  define(Engine.prototype, "constructor", Own);
}
