import { encodeSegment } from "../encoding/path-segment.ts";
import type { TestApp } from "../testing/test-app.ts";
import { discovery } from "./discovery.ts";
import type { ClientOptions } from "./index.ts";
import { mergeHeaders } from "./merge-headers.ts";
import { failureOf, resultOf } from "./result.ts";
import { type RequestBody, senderTo } from "./send.ts";
import type { HeaderValue } from "./types.ts";

/** The input of a call, for any route. */
interface AnyInput {
  readonly path?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  readonly form?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, HeaderValue>>;
}

/** Makes the function that calls a server's route by its name. */
export function connect(
  target: string | URL | TestApp,
  options: ClientOptions,
): (name: string, input: object) => Promise<unknown> {
  const send = senderTo(target, options.fetch);
  const findRoute = discovery(send);
  const common = async () => (typeof options.headers === "function" ? options.headers() : options.headers);

  return async (name, given) => {
    const input = given as AnyInput;
    const headers = mergeHeaders({ accept: "application/json" }, await common(), input.headers);
    const found = await findRoute(name, headers);
    if ("status" in found) return failureOf(found);
    const [method, ...paths] = found;
    const path = pathOf(name, paths, input.path ?? {}) + queryOf(input.query ?? {});
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
  return path.replace(/\{(\w+)(\*?)\}/g, (_, key, rest) => {
    const value = String(values[key]);
    const segments = rest === "" ? [value] : value.split("/");
    return segments.map((each) => encodeSegment(`client: the path's "${key}" of ${name}`, each)).join("/");
  });
}

function placeholders(path: string): string[] {
  return Array.from(path.matchAll(/\{(\w+)\*?\}/g), ([, key]) => key as string);
}

function queryOf(query: Readonly<Record<string, unknown>>): string {
  const pairs = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    for (const each of Array.isArray(value) ? value : [value]) if (each !== undefined) pairs.append(key, String(each));
  }
  const text = pairs.toString();
  return text === "" ? "" : `?${text}`;
}

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
