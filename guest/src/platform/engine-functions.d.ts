/** Functions of the engine that the platform's modules call: `crates/engine/src/` has a file for each topic. */
declare module "tenon:engine" {
  /** Returns the async context of the running code: a value that follows asynchronous calls; undefined at first. */
  export function asyncContext(): unknown;
  /** Replaces the async context until the current job ends. */
  export function setAsyncContext(context: unknown): void;
  /**
   * Returns the class of an object by its internal slots, such as "Object", "Map" or "Uint8Array"; "" for a primitive value, and "Proxy" for
   * a proxy, whatever its target is.
   */
  export function className(value: unknown): string;
  /** Returns undefined for a pending promise and for any other value, and otherwise whether it is rejected, and its value or reason. */
  export function promiseOutcome(promise: unknown): readonly [isRejected: boolean, value: unknown] | undefined;
  /** Returns milliseconds of the monotonic clock; 0 at top level. */
  export function monotonicNow(): number;
  /** Returns the time at which the monotonic clock was 0, in milliseconds since 1970; 0 at top level. */
  export function timeOrigin(): number;
  /** Prints a thrown value with its stack after "Uncaught ". */
  export function printUncaught(thrown: unknown): void;
}
