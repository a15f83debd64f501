/** Answers requests with an app that speaks `fetch`. */

import { environmentKey, SECRET_PREFIX, WARM_UP } from "../abi.ts";
import { hideInReports, reportError } from "../app/report.ts";
import { send } from "../app/send.ts";
import { encodeValue } from "../http/headers.ts";
import { streamOf } from "../http/pieces.ts";
import { failure, problem } from "../http/problem.ts";
import { problemResponse } from "../http/response.ts";
import { isBodiless } from "../http/status.ts";
import { takeUploads } from "../http/upload.ts";
import { isReserved, platform } from "../platform.ts";
import type { RawRequest, RawResponse } from "../raw.ts";
import { partialBody, readAhead } from "./answer-body.ts";
import { Body, bytesOf } from "./classes/body.ts";
import { type Headers, headersOf, keepHeaders, onlyType, unsorted } from "./classes/headers.ts";
import { installFetchClasses } from "./classes/install.ts";
import { BODY } from "./classes/message.ts";
import { type Request, requestOf } from "./classes/request.ts";
import { lengthOf, Response } from "./classes/response.ts";
import { installListeners } from "./listeners.ts";
import { rehearseApp } from "./rehearse-app.ts";
import { requestUrl } from "./request-url.ts";
import type { App, FetchResponse } from "./types.ts";

installFetchClasses();
installListeners();

/** Fields that belong to one connection (RFC 9110, section 7.6.1), and the length, which comes from the body. */
const HOP = /^(?:connection|content-length|keep-alive|proxy-connection|te|trailer|transfer-encoding|upgrade)$/;

/**
 * Answers the component's requests with an app that speaks `fetch`, such as Hono's. The app gets a `Request`, the
 * environment as its second argument, and `{ waitUntil }` as its third. Bodies are streamed, unless they are short or
 * complete at once.
 *
 * @param app the app of a handler module, as `appOf` gives it
 */
export function fetchHandler(app: App): (raw: RawRequest) => RawResponse | Promise<RawResponse> {
  takeUploads();
  rehearseApp(app, answer);
  // Nothing of the user's runs while a component is built.
  return (raw) =>
    raw.method === WARM_UP
      ? send(problemResponse(problem(404, "There is no such path.")), raw.method)
      : answer(app, raw);
}

function answer(app: App, raw: RawRequest): RawResponse | Promise<RawResponse> {
  const pending: Promise<unknown>[] = [];
  variables = undefined;
  try {
    const request = requestFrom(raw);
    const response = app.fetch(request, environment, contextOf(pending));
    // Without a promise where none is needed: each is work of the engine's.
    return (
      wholeAnswer(response, request, pending) ??
      Promise.resolve(response)
        .then((given) => wholeAnswer(given, request, pending) ?? answerOf(given, request, () => settled(pending)))
        .catch((thrown) => failed(thrown, raw, pending))
    );
  } catch (thrown) {
    return failed(thrown, raw, pending);
  }
}

/** The third argument of an app. */
function contextOf(pending: Promise<unknown>[]): object {
  const waitUntil = (promise: unknown) => void pending.push(Promise.resolve(promise));
  return { waitUntil, passThroughOnException, props: {} };
}

function passThroughOnException(): void {}

async function failed(thrown: unknown, raw: RawRequest, pending: readonly Promise<unknown>[]): Promise<RawResponse> {
  reportError("fetch", thrown);
  await settled(pending);
  return send(problemResponse(failure()), raw.method);
}

/** The answer of a response that is there as a whole, when nothing is to be waited for. */
function wholeAnswer(
  response: unknown,
  { method }: Request,
  pending: readonly Promise<unknown>[],
): RawResponse | undefined {
  if (!(response instanceof Response) || method === "HEAD" || pending.length > 0) return undefined;
  const content = response[BODY];
  const whole = content?.take();
  if (content !== null && whole === undefined) return undefined;
  const { status } = response;
  const headers = encodedHeaders(response.headers);
  return whole === undefined ? { status, headers } : { status, headers, body: bytesOf(whole) };
}

type EncodedHeaders = RawResponse["headers"];

/** Lists of headers that are nothing but a content type. They are frozen, so the bindings keep what they write of them. */
const ofTypes = new Map<string, EncodedHeaders>();

function encodedHeaders(headers: Headers): EncodedHeaders {
  const type = onlyType(headers);
  if (type === undefined) return encoded(unsorted(headers));
  const known = ofTypes.get(type);
  if (known !== undefined) return known;
  const list = Object.freeze(encoded([["content-type", type]]));
  if (ofTypes.size < 16) ofTypes.set(type, list);
  return list;
}

function encoded(fields: readonly (readonly [name: string, value: string])[]): [string, Uint8Array][] {
  const headers: [string, Uint8Array][] = [];
  for (let i = 0; i < fields.length; i++) {
    const field = fields[i] as (typeof fields)[number];
    if (!HOP.test(field[0])) headers.push([field[0], encodeValue(field[1])]);
  }
  return headers;
}

/** Waits for the promises given to `waitUntil`, which may add more. */
async function settled(pending: readonly Promise<unknown>[]): Promise<void> {
  for (let done = 0; done < pending.length; done++) {
    await (pending[done] as Promise<unknown>).catch((thrown) => reportError("waitUntil", thrown));
  }
}

function requestFrom(raw: RawRequest): Request {
  const { method } = raw;
  let body: Body | null = null;
  if (method !== "GET" && method !== "HEAD") {
    if (raw.upload) body = new Body({ kind: "upload", value: raw.upload });
    // A component's bindings are of another realm, whose Uint8Array is not the app's.
    else if (raw.body !== undefined) body = new Body({ kind: "whole", value: new Uint8Array(raw.body) });
  }
  return requestOf(method, () => requestUrl(raw), headersOf(raw), body);
}

/** @param waited waits for the promises given to `waitUntil` */
async function answerOf(response: FetchResponse, request: Request, waited: () => Promise<void>): Promise<RawResponse> {
  const own = response instanceof Response ? response : undefined;
  if (typeof response?.headers?.getSetCookie !== "function") {
    throw new TypeError("the app returned no Response from fetch");
  }
  const { method } = request;
  const { status } = response;
  const headers = encoded(own ? unsorted(own.headers) : fieldsOf(response));
  const whole = own?.[BODY]?.take();
  let read: Awaited<ReturnType<typeof readAhead>> | undefined;
  if (whole !== undefined) read = bytesOf(whole);
  else if (response.body !== null) read = await readAhead(response.body.getReader());
  let body: Uint8Array | undefined;
  if (read === undefined || !("ahead" in read)) body = read;
  else if (method !== "HEAD" && !isBodiless(status)) {
    // The host takes the request's memory back when it asks for the first piece.
    keepHeaders(request.headers);
    return { status, headers: [...headers, ...streamOf(partialBody(read, waited))(true)] };
  } else await read.reader.cancel();
  await waited();
  if (method === "HEAD") {
    const known = body?.length ?? (own && lengthOf(own));
    const length = known === undefined ? response.headers.get("content-length") : String(known);
    if (length !== null) headers.push(["content-length", encodeValue(length)]);
    return { status, headers };
  }
  return body === undefined ? { status, headers } : { status, headers, body };
}

/** The headers of a response of another class. Cookies are the one field that can't be joined (RFC 6265, section 3). */
function fieldsOf(response: FetchResponse): [name: string, value: string][] {
  const joined = [...response.headers].filter(([name]) => name !== "set-cookie") as [string, string][];
  return [...joined, ...response.headers.getSetCookie().map((cookie): [string, string] => ["set-cookie", cookie])];
}

/** The environment of the current request, once it was asked for. */
let variables: Record<string, string> | undefined;

function loaded(): Record<string, string> {
  if (variables === undefined) {
    variables = {};
    for (const [name, value] of platform[environmentKey]?.() ?? []) {
      if (!isReserved(name)) variables[name] ??= value;
      else if (name.startsWith(SECRET_PREFIX)) {
        variables[name.slice(SECRET_PREFIX.length)] = value;
        secrets.add(value);
      }
    }
  }
  return variables;
}

/** The secrets among the variables. */
const secrets = new Set<string>();

/** Returns a variable or a secret. A secret is left out of reports from then on. */
function variable(name: string): string | undefined {
  if (!Object.hasOwn(loaded(), name)) return undefined;
  const value = loaded()[name] as string;
  if (secrets.has(value)) hideInReports(value);
  return value;
}

/**
 * `env` in the form that frameworks expect, read from the host when it is first asked for: the variables of `[env]`, and the secrets of
 * `[secrets]`, which win.
 */
const environment: object = new Proxy(
  {},
  {
    get: (_, name) => (typeof name === "string" ? variable(name) : undefined),
    has: (_, name) => Object.hasOwn(loaded(), name),
    ownKeys: () => Reflect.ownKeys(loaded()),
    getOwnPropertyDescriptor: (_, name) => {
      if (typeof name === "string") variable(name);
      return Reflect.getOwnPropertyDescriptor(loaded(), name);
    },
  },
);
