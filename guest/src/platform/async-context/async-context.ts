/**
 * The stores of `AsyncLocalStorage` by the engine's async context (`crates/engine/patches/30-async-context.patch`). The engine itself
 * makes it follow promises, thenables, asynchronous functions, timers and microtasks, and ends it with the job that entered it. The
 * build takes this file in the place of `guest/src/node/async-context.ts`.
 */
import { asyncContext, setAsyncContext } from "tenon:engine";

export type Call<Result = unknown> = (...args: never[]) => Result;
export type Stores = ReadonlyMap<object, unknown>;

const { Map, Reflect } = globalThis;
const none: Stores = new Map();

/** The current stores. */
export const stores = (): Stores => (asyncContext() as Stores | undefined) ?? none;

/** Makes stores current until the current job ends. */
export const enter = (next: Stores): void => setAsyncContext(next);

/** Calls a function with stores, and then restores the previous ones. */
export function within<Result>(next: Stores, call: Call<Result>, self: unknown, args: readonly unknown[]): Result {
  const before = asyncContext();
  setAsyncContext(next);
  try {
    return Reflect.apply(call, self, args) as Result;
  } finally {
    setAsyncContext(before);
  }
}

/** Binds a callback to the current stores. Returns any other value unchanged. */
export function bound<Value>(callback: Value): Value {
  if (typeof callback !== "function") return callback;
  const own = stores();
  return function (this: unknown, ...args: unknown[]) {
    return within(own, callback as unknown as Call, this, args);
  } as Value;
}
