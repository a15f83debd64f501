import type { RawResponse } from "../app/app.ts";
import { reportError } from "../app/report.ts";
import { send } from "../app/send.ts";
import { encodeValue } from "../http/headers.ts";
import { streamOf } from "../http/pieces.ts";
import { problem } from "../http/problem.ts";
import { type RawRequest, Request as TenonRequest, WARM_UP } from "../http/request.ts";
import { problemResponse } from "../http/response.ts";
import { isBodiless } from "../http/status.ts";
import { takeUploads } from "../http/upload.ts";
import { environmentKey, isReserved, platform } from "../platform.ts";
import { partialBody, readAhead } from "./answer-body.ts";
import { Body, bytesOf } from "./classes/body.ts";
import { headersOf, keepHeaders, unsorted } from "./classes/headers.ts";
import { installFetchClasses } from "./classes/install.ts";
import { BODY } from "./classes/message.ts";
import { type Request, requestOf } from "./classes/request.ts";
import { lengthOf, Response } from "./classes/response.ts";
import type { Fetch, FetchResponse } from "./types.ts";

installFetchClasses();

/** Fields that belong to one connection (RFC 9110, section 7.6.1), and the length, which comes from the body. */
const HOP = /^(?:connection|content-length|keep-alive|proxy-connection|te|trailer|transfer-encoding|upgrade)$/;

/**
 * Answers the component's requests with an app that speaks `fetch`, such as Hono's. The app gets a `Request`, the
 * environment as its second argument, and `{ waitUntil }` as its third. Bodies are streamed, unless they are short or
 * complete at once.
 *
 * @param app the default export of a handler module
 */
export function fetchHandler(app: { readonly fetch: Fetch }): (raw: RawRequest) => Promise<RawResponse> {
  takeUploads();
  return async (raw) => {
    // No code of the user's runs while a component is built.
    if (raw.method === WARM_UP) return send(problemResponse(problem(404)), raw.method);
    const pending: Promise<unknown>[] = [];
    variables = undefined;
    try {
      const context = {
        waitUntil: (promise: unknown) => void pending.push(Promise.resolve(promise)),
        passThroughOnException: () => {},
        props: {},
      };
      const request = requestFrom(raw);
      const response = await app.fetch(request, environment, context);
      return await answerOf(response, request, () => settled(pending));
    } catch (thrown) {
      reportError("fetch", thrown);
      await settled(pending);
      return send(problemResponse(problem(500)), raw.method);
    }
  };
}

/** Waits for the promises given to `waitUntil`, which may add more. */
async function settled(pending: readonly Promise<unknown>[]): Promise<void> {
  for (let done = 0; done < pending.length; done++) {
    await (pending[done] as Promise<unknown>).catch((thrown) => reportError("waitUntil", thrown));
  }
}

function requestFrom(raw: RawRequest): Request {
  const given = new TenonRequest(raw);
  const { method, upload } = raw;
  let body: Body | null = null;
  if (method !== "GET" && method !== "HEAD") {
    if (upload) body = new Body({ kind: "upload", value: upload });
    else if (given.body !== undefined) body = new Body({ kind: "whole", value: given.body });
  }
  return requestOf(
    method,
    () => given.url,
    headersOf(() => given.headers),
    body,
  );
}

/** @param waited waits for the promises given to `waitUntil` */
async function answerOf(response: FetchResponse, request: Request, waited: () => Promise<void>): Promise<RawResponse> {
  const own = response instanceof Response ? response : undefined;
  if (typeof response?.headers?.getSetCookie !== "function") {
    throw new TypeError("the app returned no Response from fetch");
  }
  const { method } = request;
  const { status } = response;
  const headers: (readonly [string, Uint8Array])[] = [];
  const fields = own ? unsorted(own.headers) : fieldsOf(response);
  for (let i = 0; i < fields.length; i++) {
    const [name, value] = fields[i] as [string, string];
    if (!HOP.test(name)) headers.push([name, encodeValue(value)]);
  }
  const whole = own?.[BODY]?.take();
  let read: Awaited<ReturnType<typeof readAhead>> | undefined;
  if (whole !== undefined) read = bytesOf(whole);
  else if (response.body !== null) read = await readAhead(response.body.getReader());
  let body: Uint8Array | undefined;
  if (read === undefined || !("ahead" in read)) body = read;
  else if (method !== "HEAD" && !isBodiless(status)) {
    // The host takes the request's memory back when it asks for the first piece.
    keepHeaders(request.headers);
    return { status, headers: headers.concat(streamOf(partialBody(read, waited))(true)) };
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
      if (!isReserved(name)) variables[name] = value;
    }
  }
  return variables;
}

/** `env` in the form that frameworks expect, read from the host when it is first asked for. */
const environment: object = new Proxy(
  {},
  {
    get: (_, name) => (typeof name === "string" && Object.hasOwn(loaded(), name) ? loaded()[name] : undefined),
    has: (_, name) => Object.hasOwn(loaded(), name),
    ownKeys: () => Reflect.ownKeys(loaded()),
    getOwnPropertyDescriptor: (_, name) => Reflect.getOwnPropertyDescriptor(loaded(), name),
  },
);
