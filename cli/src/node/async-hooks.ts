/**
 * `node:async_hooks` inside a component. The engine does not track asynchronous calls, so this does. Every callback of
 * a promise, a timer or a microtask runs with the stores that were current at its registration. JavaScript cannot
 * observe the callbacks of `await`. So in a bundle with this module, asynchronous functions are rewritten as generators
 * (`bundle.ts`).
 */
type Call<Result = unknown> = (...args: never[]) => Result;
type Stores = ReadonlyMap<object, unknown>;

const none: Stores = new Map();
let current = none;

/** Calls a function with stores, and then restores the previous ones. */
function within<Result>(stores: Stores, call: Call<Result>, self: unknown, args: readonly unknown[]): Result {
  const before = current;
  current = stores;
  try {
    return call.apply(self, args as never[]);
  } finally {
    current = before;
  }
}

/** Binds a callback to the current stores. Returns any other value unchanged. */
function bound<Value>(callback: Value): Value {
  if (typeof callback !== "function") return callback;
  const stores = current;
  return function (this: unknown, ...args: unknown[]) {
    return within(stores, callback as unknown as Call, this, args);
  } as Value;
}

/** Binds a callback that the engine calls outside of every other call. */
function boundJob<Value>(callback: Value): Value {
  if (typeof callback !== "function") return callback;
  const job = bound(callback);
  return function (this: unknown, ...args: unknown[]) {
    // Nothing may remain from earlier code, such as the store of `enterWith` in an earlier request.
    current = none;
    return job.apply(this, args);
  } as Value;
}

const { then } = Promise.prototype;
// biome-ignore lint/suspicious/noThenProperty: it replaces the method of promises itself.
Object.defineProperty(Promise.prototype, "then", {
  configurable: true,
  writable: true,
  value: function (this: Promise<unknown>, fulfilled?: never, rejected?: never) {
    return then.call(this, boundJob(fulfilled), boundJob(rejected));
  },
});
const scheduleMicrotask = globalThis.queueMicrotask;
for (const name of ["setTimeout", "setInterval", "queueMicrotask"] as const) {
  const schedule = globalThis[name] as (callback: unknown, ...rest: unknown[]) => unknown;
  globalThis[name] = ((callback: unknown, ...rest: unknown[]) => schedule(boundJob(callback), ...rest)) as never;
}

/** A store that follows asynchronous calls. */
export class AsyncLocalStorage<Store> {
  readonly name: string;
  readonly #defaultValue: Store | undefined;

  constructor(options?: { name?: string; defaultValue?: Store }) {
    this.name = options?.name ?? "";
    this.#defaultValue = options?.defaultValue;
  }

  static bind<Bound>(callback: Bound): Bound {
    return bound(callback);
  }

  static snapshot(): (call: Call, ...args: unknown[]) => unknown {
    return bound((call: Call, ...args: unknown[]) => call(...(args as never[])));
  }

  getStore(): Store | undefined {
    return current.has(this) ? (current.get(this) as Store) : this.#defaultValue;
  }

  run<Result>(store: Store, call: Call<Result>, ...args: unknown[]): Result {
    return within(new Map(current).set(this, store), call, undefined, args);
  }

  exit<Result>(call: Call<Result>, ...args: unknown[]): Result {
    const stores = new Map(current);
    stores.delete(this);
    return within(stores, call, undefined, args);
  }

  enterWith(store: Store): void {
    current = new Map(current).set(this, store);
    // It ends with the current synchronous call; callbacks that the call registers keep it.
    scheduleMicrotask(() => {
      current = none;
    });
  }

  disable(): void {
    const stores = new Map(current);
    stores.delete(this);
    current = stores;
  }
}

/** A context of asynchronous calls to which callbacks can be bound. */
export class AsyncResource {
  readonly type: string;
  readonly #enter = AsyncLocalStorage.snapshot();

  constructor(type: string) {
    this.type = type;
  }

  static bind<Bound>(callback: Bound): Bound {
    return bound(callback);
  }

  bind(callback: Call): Call {
    return this.runInAsyncScope.bind(this, callback, undefined) as Call;
  }

  runInAsyncScope(call: Call, self?: unknown, ...args: unknown[]): unknown {
    return this.#enter(() => call.apply(self, args as never[]));
  }

  emitDestroy(): this {
    return this;
  }
}

export default { AsyncLocalStorage, AsyncResource };
