import { encodeSegment } from "../encoding/path-segment.ts";
import { Headers } from "../http/headers.ts";
import { type ListedRoute, ROUTES_PATH } from "../http/routes-path.ts";
import type { TestApp } from "../testing/test-app.ts";
import type { ClientOptions } from "./index.ts";
import { type LowerCased, mergeHeaders } from "./merge-headers.ts";
import type { Failed, HeadersInput } from "./types.ts";

/** The input of a call, for any route. */
interface AnyInput {
  readonly path?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  readonly form?: Readonly<Record<string, unknown>>;
  readonly headers?: HeadersInput;
}

/** A server's answer. */
interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

type Send = (method: string, path: string, headers: LowerCased, body: RequestBody | undefined) => Promise<Answer>;

/** Makes the function that calls a server's route by its name. */
export function connect(
  target: string | URL | TestApp,
  options: ClientOptions,
): (name: string, input: object) => Promise<unknown> {
  const send = isTestApp(target) ? sendToTest(target) : sendTo(target, options.fetch);
  const common = async () => (typeof options.headers === "function" ? options.headers() : (options.headers ?? {}));
  let listed: Promise<ReadonlyMap<string, ListedRoute>> | undefined;

  async function list(): Promise<ReadonlyMap<string, ListedRoute>> {
    const { status, text } = await send("GET", ROUTES_PATH, mergeHeaders(await common()), undefined);
    if (status !== 200) throw new Error(`client: the server answered ${status} when it was asked for its routes`);
    return new Map(Object.entries(JSON.parse(text) as Record<string, ListedRoute>));
  }

  async function routeOf(name: string): Promise<ListedRoute> {
    listed ??= list();
    try {
      const found = (await listed).get(name);
      if (found !== undefined) return found;
    } catch (failed) {
      // Reset, so that another call tries again.
      listed = undefined;
      throw failed;
    }
    throw new Error(`client: the server has no route called "${name}"`);
  }

  return async (name, given) => {
    const input = given as AnyInput;
    const [method, ...paths] = await routeOf(name);
    const path = pathOf(name, paths, input.path ?? {}) + queryOf(input.query ?? {});
    const headers = mergeHeaders({ accept: "application/json" }, await common(), input.headers);
    let body: RequestBody | undefined;
    if (input.form !== undefined) body = formOf(input.form);
    else if (isOctets(input.body)) {
      body = input.body;
      headers["content-type"] ??= (body instanceof Blob && body.type) || "application/octet-stream";
    } else if (input.body !== undefined) {
      body = JSON.stringify(input.body);
      headers["content-type"] ??= "application/json";
    }
    return resultOf(await send(method, path, headers, body));
  };
}

/** The first of a route's paths whose placeholders are all given. */
function pathOf(name: string, paths: readonly string[], values: Readonly<Record<string, unknown>>): string {
  const path = paths.find((each) => placeholders(each).every((key) => values[key] !== undefined));
  if (path === undefined) {
    throw new TypeError(`client: ${name} needs the path's ${placeholders(paths[0] ?? "").join(", ")}`);
  }
  return path.replace(/\{(\w+)\}/g, (_, key) =>
    encodeSegment(`client: the path's "${key}" of ${name}`, String(values[key])),
  );
}

function placeholders(path: string): string[] {
  return Array.from(path.matchAll(/\{(\w+)\}/g), ([, key]) => key as string);
}

function queryOf(query: Readonly<Record<string, unknown>>): string {
  const pairs = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    for (const each of Array.isArray(value) ? value : [value]) if (each !== undefined) pairs.append(key, String(each));
  }
  const text = pairs.toString();
  return text === "" ? "" : `?${text}`;
}

/** A body in the form in which it is sent. */
type RequestBody = string | FormData | Blob | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;

/** Reports whether a body is sent as it is; others are sent as JSON. */
function isOctets(body: unknown): body is Exclude<RequestBody, string | FormData> {
  return body instanceof Blob || body instanceof Uint8Array || body instanceof ReadableStream;
}

function formOf(form: Readonly<Record<string, unknown>>): FormData {
  const data = new FormData();
  for (const [key, value] of Object.entries(form)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== undefined) data.append(key, each instanceof Blob ? each : String(each));
    }
  }
  return data;
}

function sendTo(target: string | URL, fetch: ClientOptions["fetch"]): Send {
  let base: URL;
  try {
    base = new URL(target);
  } catch {
    throw new TypeError('client: expects the URL of a module, such as "https://host/run/shop", or testApp(app)');
  }
  if (!/^https?:$/.test(base.protocol)) throw new TypeError("client: expects an http or https URL");
  const at = `${base.origin}${base.pathname.replace(/\/$/, "")}`;
  return async (method, path, headers, body) => {
    const init: RequestInit = { method, headers };
    if (body !== undefined) init.body = body;
    // A stream is sent while it is read (Fetch, section 5.4).
    if (body instanceof ReadableStream) Object.assign(init, { duplex: "half" });
    // Looked up now, because a test may have replaced it.
    const response = await (fetch ?? globalThis.fetch)(at + path, init);
    return { status: response.status, headers: new Headers([...response.headers]), text: await response.text() };
  };
}

function isTestApp(target: string | URL | TestApp): target is TestApp {
  return typeof (target as Partial<TestApp>).request === "function";
}

function sendToTest(app: TestApp): Send {
  return async (method, path, headers, body) => {
    const given: { headers: Record<string, string>; body?: string | Uint8Array } = { headers: { ...headers } };
    if (typeof body === "string") given.body = body;
    else if (body !== undefined) {
      const encoded = new Response(body);
      given.headers["content-type"] ??= encoded.headers.get("content-type") ?? "";
      given.body = new Uint8Array(await encoded.arrayBuffer());
    }
    const answer = await app.request(method, path, given);
    return { status: answer.status, headers: answer.headers, text: (await answer.read()).text() };
  };
}

function resultOf({ status, headers, text }: Answer): object {
  const value = parsed(headers.get("content-type"), text);
  if (status >= 200 && status < 300) return { ok: true, status, data: value, headers };
  const isProblem = typeof value === "object" && value !== null && "title" in value;
  const problem = isProblem ? value : { type: "about:blank", title: `The server answered ${status}`, status };
  return { ok: false, status, problem, headers } as Failed;
}

/** The parsed value of JSON, else the text; `undefined` when there is none. */
function parsed(contentType = "", text: string): unknown {
  if (text === "") return undefined;
  return /^application\/(?:[\w.+-]+\+)?json\b/i.test(contentType) ? JSON.parse(text) : text;
}
