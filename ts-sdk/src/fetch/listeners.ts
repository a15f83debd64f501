/** Listeners of the event `fetch`, as service workers add them. */
import { platform } from "../platform.ts";
import type { App, Fetch, FetchResponse } from "./types.ts";

type Listener = ((event: FetchEvent) => unknown) | { handleEvent(event: FetchEvent): unknown };

/** The listeners of `fetch` that the top level added. */
const listeners: Listener[] = [];

/** The part of the third argument of an app that an event hands on. */
interface Context {
  waitUntil(promise: unknown): void;
}

const RESPONSE = Symbol();
const CONTEXT = Symbol();
const OVER = Symbol();

/** The event of a request (Service Workers, section 4.6). */
export class FetchEvent {
  readonly type = "fetch";
  declare readonly request: object;
  declare private [RESPONSE]: unknown;
  declare private [CONTEXT]: Context;
  declare private [OVER]: boolean;

  constructor(request: object, context: Context) {
    this.request = request;
    this[RESPONSE] = undefined;
    this[CONTEXT] = context;
    this[OVER] = false;
  }

  /** Answers with a response, or with what a promise resolves to. */
  respondWith(response: unknown): void {
    if (this[RESPONSE] !== undefined) throw new TypeError("respondWith: the event has a response already");
    if (this[OVER]) throw new TypeError("respondWith: call it before the listener returns; it takes a promise");
    this[RESPONSE] = response ?? null;
  }

  waitUntil(promise: unknown): void {
    this[CONTEXT].waitUntil(promise);
  }

  passThroughOnException(): void {}

  /** Calls the listeners until one responds. */
  static dispatch(request: object, context: Context): FetchResponse | Promise<FetchResponse> {
    const event = new FetchEvent(request, context);
    for (let i = 0; i < listeners.length && event[RESPONSE] === undefined; i++) {
      const listener = listeners[i] as Listener;
      if (typeof listener === "function") listener.call(platform, event);
      else listener.handleEvent(event);
    }
    event[OVER] = true;
    if (event[RESPONSE] === undefined) throw new TypeError("no listener of fetch called event.respondWith");
    return event[RESPONSE] as FetchResponse;
  }
}

/** Takes the listeners of `fetch`; those of other events go where they went before. */
export function installListeners(): void {
  const target = platform as unknown as Record<string, unknown>;
  for (const name of ["addEventListener", "removeEventListener"]) {
    const before = target[name];
    const value = (type: string, listener: Listener, ...rest: unknown[]) => {
      if (type === "fetch") change(name === "addEventListener", listener);
      else if (typeof before === "function") before.call(platform, type, listener, ...rest);
    };
    Object.defineProperty(platform, name, { value, writable: true, configurable: true });
  }
}

function change(isAdded: boolean, listener: Listener): void {
  if (typeof listener !== "function" && typeof listener?.handleEvent !== "function") return;
  const at = listeners.indexOf(listener);
  if (isAdded && at < 0) listeners.push(listener);
  if (!isAdded && at >= 0) listeners.splice(at, 1);
}

/**
 * Gives the app of a handler module: its default export, or its listeners of `fetch`.
 *
 * @throws TypeError when there is neither, or both
 */
export function appOf(exported: unknown): App {
  if (isNothing(exported)) {
    if (listeners.length > 0) return { fetch: listened };
    throw new TypeError(
      "it has no default export and no listener of fetch: export default routes({ … }), or an app with a method fetch, " +
        'or call addEventListener("fetch", …) at the top level',
    );
  }
  if (listeners.length === 0) return exported as App;
  throw new TypeError(
    "it has a default export and a listener of fetch, and only one of them can answer: remove the default export, " +
      'or the call of addEventListener("fetch", …)',
  );
}

/** Bundled as CommonJS, a module that neither imports nor exports has an empty object as its default export. */
function isNothing(exported: unknown): boolean {
  if (exported === undefined || exported === null) return true;
  return Object.getPrototypeOf(exported) === Object.prototype && Reflect.ownKeys(exported).length === 0;
}

const listened: Fetch = (request, _env, context) => FetchEvent.dispatch(request, context as Context);
