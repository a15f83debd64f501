import { AsyncLocalStorage } from "node:async_hooks";
import {
  appKey,
  callsKey,
  codeModeKey,
  environmentKey,
  isolateKey,
  SECRET_PREFIX,
  streamKey,
  toolsKey,
} from "../abi.ts";
import type { App } from "../app/app.ts";
import { checkResponse } from "../app/check.ts";
import { isBytes } from "../http/bytes.ts";
import { encodeValue, headerPair, isToken } from "../http/headers.ts";
import type { ToolTable } from "../mcp/types.ts";
import { type EnvironmentEntry, type OpenStream, platform, type StartCall } from "../platform.ts";
import type { RawHeader } from "../raw.ts";
import { refuseUnknown } from "../schema/unknown.ts";
import { checkSidecars, connectSidecars, type TestSidecars } from "./sidecars.ts";
import { TestResponse } from "./test-response.ts";

/** Options of {@link testApp}. */
export interface TestOptions {
  /** The variables that `env(name)` reads in handlers. The process's own environment is not part of it. */
  readonly env?: Readonly<Record<string, string>>;
  /** The secrets that `secret(name)` reads in handlers. */
  readonly secrets?: Readonly<Record<string, string>>;
  /**
   * The sidecars that handlers reach: `{ db: sqlite("migrations"), stripe: (req) => Response.json({ … }) }`. A function answers in a
   * sidecar's place, and a text is the address of one that runs.
   */
  readonly sidecars?: TestSidecars;
  /** Checks answers against the declared status and body, as `tenon dev` does; on by default. */
  readonly checkResponses?: boolean;
}

/** A request of a test, besides its method and path. */
export interface TestRequest {
  readonly headers?: Readonly<Record<string, string>> | Iterable<readonly [name: string, value: string]>;
  /** The body; a text is sent as UTF-8. */
  readonly body?: string | Uint8Array;
  /** A value sent as JSON, with its content type. */
  readonly json?: unknown;
}

/** An app under test: `await testApp(app).get("/users?page=2")`. */
export interface TestApp {
  get(pathWithQuery: string, request?: TestRequest): Promise<TestResponse>;
  head(pathWithQuery: string, request?: TestRequest): Promise<TestResponse>;
  options(pathWithQuery: string, request?: TestRequest): Promise<TestResponse>;
  post(pathWithQuery: string, request?: TestRequest): Promise<TestResponse>;
  put(pathWithQuery: string, request?: TestRequest): Promise<TestResponse>;
  patch(pathWithQuery: string, request?: TestRequest): Promise<TestResponse>;
  delete(pathWithQuery: string, request?: TestRequest): Promise<TestResponse>;
  /** DELETE, under the name of the route function. */
  del(pathWithQuery: string, request?: TestRequest): Promise<TestResponse>;
  /** Any method. */
  request(method: string, pathWithQuery: string, request?: TestRequest): Promise<TestResponse>;
}

/** The state of one request, because tests run concurrently. */
interface OwnState {
  readonly entries: readonly EnvironmentEntry[];
  stream?: OpenStream | undefined;
  /** Calls sidecars, if one is a function. */
  readonly call: StartCall | undefined;
}

const states = new AsyncLocalStorage<OwnState>();

const tools = new WeakMap<object, ToolTable>();

/** Makes the tools of an app with the option `mcp`, as a build does. It is loaded late, because it parses TypeScript. */
async function prepareTools(app: App): Promise<void> {
  platform[toolsKey] ??= (asked) => tools.get(asked);
  if (tools.has(app)) return;
  const { testTools } = await import("../openapi/tools.ts");
  tools.set(app, testTools(app));
  if (app.mcp?.code !== true) return;
  platform[codeModeKey] ??= (await import("../mcp/code/index.ts")).codeMode;
  platform[isolateKey] ??= (await import("./isolate.ts")).nodeIsolate;
}

/**
 * Puts an app under test, in plain Node.
 *
 * @example
 * const test = testApp(app, { sidecars: { db: sqlite("migrations"), stripe: (req) => Response.json({ id: "ch_1" }) } });
 * expect((await test.get("/users/1")).status).toBe(404);
 * @throws TypeError when it is not an app (pass the default export of the handler module), and for a wrong option.
 */
export function testApp(app: App, options: TestOptions = {}): TestApp {
  if (app?.[appKey] !== true) throw new TypeError("testApp: the app must be the result of routes()");
  refuseUnknown("testApp", options, ["env", "secrets", "sidecars", "checkResponses"]);
  const { env = {}, secrets = {}, sidecars = {}, checkResponses = true } = options;
  checkSidecars(sidecars);
  let connected: ReturnType<typeof connectSidecars> | undefined;
  const how = checkResponses ? { checkResponse } : {};
  const hidden = Object.entries(secrets).map(([name, value]): EnvironmentEntry => [SECRET_PREFIX + name, value]);
  const entries = [...Object.entries(env), ...hidden];
  platform[environmentKey] = () => states.getStore()?.entries ?? [];
  // Kept for a test that has set its own.
  if (Object.keys(sidecars).length > 0) {
    Object.defineProperty(platform, callsKey, { configurable: true, get: () => states.getStore()?.call });
  }
  Object.defineProperty(platform, streamKey, {
    configurable: true,
    get: () => states.getStore()?.stream,
    set: (stream: OpenStream | undefined) => {
      const state = states.getStore();
      if (state !== undefined) state.stream = stream;
    },
  });

  async function request(method: string, pathWithQuery: string, given: TestRequest = {}): Promise<TestResponse> {
    checkCall(method, pathWithQuery, given);
    const raw = { method, pathWithQuery, headers: rawHeaders(given), ...rawBody(given) };
    if (app.mcp !== undefined) await prepareTools(app);
    // Each request sees the environment of its own app, in its own array.
    connected ??= connectSidecars(sidecars);
    const { entries: addresses, call } = await connected;
    const state: OwnState = { entries: [...addresses, ...entries], call };
    const answer = await states.run(state, () => app.handle(raw, how));
    const { stream } = state;
    const inState: OpenStream | undefined = stream && {
      next: () => states.run(state, () => stream.next()),
      cancel: () => states.run(state, () => stream.cancel()),
    };
    return new TestResponse(answer, inState);
  }
  const withMethod = (method: string) => (path: string, given?: TestRequest) => request(method, path, given);
  return {
    get: withMethod("GET"),
    head: withMethod("HEAD"),
    options: withMethod("OPTIONS"),
    post: withMethod("POST"),
    put: withMethod("PUT"),
    patch: withMethod("PATCH"),
    delete: withMethod("DELETE"),
    del: withMethod("DELETE"),
    request,
  };
}

/**
 * Checks a call's arguments, because tests often run without a type check, and would send another request than
 * intended.
 */
function checkCall(method: unknown, pathWithQuery: unknown, given: unknown): void {
  if (!isToken(method)) throw new TypeError(`testApp: expects a method and a path: request("GET", "/users")`);
  if (typeof pathWithQuery !== "string" || !/^(?:\/|$|\?)/.test(pathWithQuery)) {
    throw new TypeError(`testApp: expects a path, which begins with "/": get("/users?page=2")`);
  }
  if (typeof given !== "object" || given === null) throw new TypeError("testApp: expects { headers, body, json }");
  const unknown = Object.keys(given).find((key) => !/^(?:headers|body|json)$/.test(key));
  if (unknown !== undefined) {
    throw new TypeError(`testApp: expects { headers, body, json }, not "${unknown}"; a JSON body is { json: … }`);
  }
  const { body } = given as { body?: unknown };
  if (body !== undefined && typeof body !== "string" && !isBytes(body)) {
    throw new TypeError("testApp: body must be a text or a Uint8Array; a JSON body is { json: … }");
  }
}

function rawHeaders({ headers = {}, json }: TestRequest): RawHeader[] {
  const pairs = Symbol.iterator in headers ? [...headers] : Object.entries(headers);
  const raw = pairs.map(([name, value]): RawHeader => {
    const [checked, text] = headerPair(name, value);
    // Trimmed as a server does (RFC 9112, section 5.1).
    return [checked, encodeValue(text.replace(/^[\t ]+|[\t ]+$/g, ""))];
  });
  if (json !== undefined && !raw.some(([name]) => name === "content-type")) {
    raw.push(["content-type", encodeValue("application/json")]);
  }
  return raw;
}

function rawBody({ body, json }: TestRequest): { body?: Uint8Array } {
  const given = json === undefined ? body : JSON.stringify(json);
  // An empty body counts as none, as in the component.
  if (given === undefined || given.length === 0) return {};
  return { body: typeof given === "string" ? new TextEncoder().encode(given) : given };
}
