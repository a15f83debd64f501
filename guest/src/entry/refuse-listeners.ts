/**
 * Ends the build of a module that has routes and adds a listener of `fetch`, because it would never be called. It is in
 * bundles whose handler module names `addEventListener`, and runs after the modules that define it.
 */
const target = globalThis as unknown as Record<
  "addEventListener",
  ((type: string, ...rest: unknown[]) => void) | undefined
>;
const before = target.addEventListener;
target.addEventListener = (type, ...rest) => {
  if (type === "fetch") {
    throw new TypeError(
      'it has routes and a listener of fetch, and only one of them can answer: remove the call of addEventListener("fetch", …)',
    );
  }
  before?.call(globalThis, type, ...rest);
};

export {};
