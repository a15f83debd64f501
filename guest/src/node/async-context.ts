/**
 * The stores of `AsyncLocalStorage`, which follow synchronous calls alone. A component has
 * `guest/src/platform/async-context/async-context.ts` in the place of this file, by which they follow asynchronous ones, too.
 */
export type Call<Result = unknown> = (...args: never[]) => Result;
export type Stores = ReadonlyMap<object, unknown>;

let current: Stores = new Map();

/** The current stores. */
export const stores = (): Stores => current;

/** Makes stores current. */
export const enter = (next: Stores): void => {
  current = next;
};

/** Calls a function with stores, and then restores the previous ones. */
export function within<Result>(next: Stores, call: Call<Result>, self: unknown, args: readonly unknown[]): Result {
  const before = current;
  current = next;
  try {
    return Reflect.apply(call, self, args) as Result;
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
