/**
 * `@tenon/sdk/client`: a typed client of an app, without generated code. It needs only the app's type, so a browser
 * loads nothing of the app: the client gets the methods and paths of routes from the server, once.
 */
import type { App } from "../app/app.ts";
import type { TestApp } from "../testing/test-app.ts";
import { connect } from "./connect.ts";
import type { Client, HeadersInput } from "./types.ts";

export type { Call, Client, Failed, HeadersInput, HeaderValue, Input, Result, Success } from "./types.ts";

/** Options of {@link client}. */
export interface ClientOptions {
  /** A replacement for the global `fetch`. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
  /** Headers of each request, such as `authorization`, or a function that returns them. */
  readonly headers?: HeadersInput | (() => HeadersInput | Promise<HeadersInput>);
}

/**
 * Makes a client: `client<typeof app>("https://host/run/shop")`, then `await api.users.list({ query: { page: 2 } })`.
 *
 * @param target where the module is served, or in a test `testApp(app)`
 * @example
 * const api = client<typeof app>("https://host.example/run/shop");
 * const users = await api.users.list({ query: { page: 2 } });
 * @throws TypeError when the target is not an http or https URL.
 */
export function client<A extends App>(target: string | URL | TestApp, options: ClientOptions = {}): Client<A> {
  return names(connect(target, options), "") as Client<A>;
}

/** A proxy for members of members, to any depth, each of which can be called. */
function names(call: (name: string, input: object) => Promise<unknown>, name: string): unknown {
  return new Proxy(() => {}, {
    // An awaited member must not look like a promise.
    get: (_target, key) =>
      typeof key !== "string" || key === "then" ? undefined : names(call, name === "" ? key : `${name}.${key}`),
    apply: (_target, _this, [input = {}]) => call(name, input),
  });
}
