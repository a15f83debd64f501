/**
 * The classes `Headers`, `Request` and `Response` as they were when the package was loaded. Servers such as that of
 * `@hono/node-server` replace the globals later with classes that read only their own instances.
 */

/** @internal */
export const takenHeaders = taken("Headers");
/** @internal */
export const takenRequest = taken("Request");
const takenGlobalResponse = taken("Response");

/**
 * The class of a response that the platform itself makes. It is Node's own also when the global was replaced before the
 * package was loaded, if the replacement inherits `Response.error`.
 */
export function takenResponse(): typeof Response {
  const global = takenGlobalResponse();
  if (typeof global.error !== "function") return global;
  return (Object.getPrototypeOf(global.error()) as Response).constructor as typeof Response;
}

/** The argument of `Runtime.fetch`: a request, or an argument of `new Request`. */
export type Fetched = Request | string | URL;

type Name = "Headers" | "Request" | "Response";

/**
 * Remembers a global as it is now. Node loads these classes when one is first read, which takes 30 ms, so the result is a
 * function, and only calling it loads them.
 */
function taken<N extends Name>(name: N): () => (typeof globalThis)[N] {
  const own = Object.getOwnPropertyDescriptor(globalThis, name);
  if (own !== undefined && own.get === undefined) return () => own.value as (typeof globalThis)[N];
  const get = own?.get ?? (() => globalThis[name]);
  let found: (typeof globalThis)[N] | undefined;
  return () => {
    found ??= lazily(name, get) as (typeof globalThis)[N];
    return found;
  };
}

/** Calls the getter of a lazy global. The getter overwrites the global with its value, so a replacement is restored. */
function lazily(name: Name, get: () => unknown): unknown {
  const current = Object.getOwnPropertyDescriptor(globalThis, name);
  const value = get.call(globalThis);
  if (current !== undefined && current.get !== get) Object.defineProperty(globalThis, name, current);
  return value;
}
