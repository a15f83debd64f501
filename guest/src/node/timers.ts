/** `node:timers` inside a component. */
type Callback = (...args: unknown[]) => void;

export const { setTimeout, setInterval, clearTimeout, clearInterval } = globalThis;

export const setImmediate = (callback: Callback, ...args: unknown[]): unknown =>
  globalThis.setTimeout(callback, 0, ...args);
export const clearImmediate = (timer: unknown): void => globalThis.clearTimeout(timer as number);

const after =
  (set: (callback: () => void) => unknown) =>
  <Value>(value?: Value, options?: { signal?: AbortSignal }): Promise<Value | undefined> =>
    new Promise((resolve, reject) => {
      const signal = options?.signal;
      if (signal?.aborted) return reject(signal.reason);
      const timer = set(() => resolve(value));
      signal?.addEventListener("abort", () => {
        clearImmediate(timer);
        reject(signal.reason);
      });
      return undefined;
    });

export const promises = {
  setTimeout: <Value>(milliseconds?: number, value?: Value, options?: { signal?: AbortSignal }) =>
    after((callback) => globalThis.setTimeout(callback, milliseconds))(value, options),
  setImmediate: after((callback) => globalThis.setTimeout(callback, 0)),
};

export default { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate, promises };
