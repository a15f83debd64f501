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
import { completeFetch } from "./complete.ts";
import type { Fetch, FetchResponse } from "./types.ts";
import { uploadRequest } from "./upload-request.ts";

completeFetch();

/** Fields that HTTP keeps to one connection (RFC 9110, section 7.6.1), and the length, which is the body's. */
const HOP = /^(?:connection|content-length|keep-alive|proxy-connection|te|trailer|transfer-encoding|upgrade)$/;

/**
 * Answers the component's requests with an app that speaks `fetch`: Hono's and its like. The app gets the engine's own
 * `Request`, the environment as its second argument, and `{ waitUntil }` as its third. Bodies are streamed, unless they are short or
 * there at once.
 *
 * @param app the default export of a handler module
 */
export function fetchHandler(app: { readonly fetch: Fetch }): (raw: RawRequest) => Promise<RawResponse> {
  takeUploads();
  return async (raw) => {
    // Nothing of the user's runs while a component is built.
    if (raw.method === WARM_UP) return send(problemResponse(problem(404)), raw.method);
    const pending: Promise<unknown>[] = [];
    variables = undefined;
    try {
      const context = {
        waitUntil: (promise: unknown) => void pending.push(Promise.resolve(promise)),
        passThroughOnException: () => {},
        props: {},
      };
      const response = await app.fetch(requestOf(raw), environment, context);
      return await answerOf(response, raw.method, () => settled(pending));
    } catch (thrown) {
      reportError("fetch", thrown);
      await settled(pending);
      return send(problemResponse(problem(500)), raw.method);
    }
  };
}

/** Waits for what outlives the answer; it may begin more. */
async function settled(pending: readonly Promise<unknown>[]): Promise<void> {
  for (let done = 0; done < pending.length; done++) {
    await (pending[done] as Promise<unknown>).catch((thrown) => reportError("waitUntil", thrown));
  }
}

function requestOf(raw: RawRequest): object {
  const given = new TenonRequest(raw);
  const { method } = raw;
  const headers = new platform.Headers();
  for (const [name, value] of given.headers) headers.append(name, value);
  if (method === "GET" || method === "HEAD") return new platform.Request(given.url, { method, headers });
  if (raw.upload) return uploadRequest(given.url, { method, headers }, raw.upload);
  const { body } = given;
  return new platform.Request(given.url, { method, headers, ...(body === undefined ? {} : { body }) });
}

/** @param waited waits for what outlives the answer */
async function answerOf(response: FetchResponse, method: string, waited: () => Promise<void>): Promise<RawResponse> {
  if (typeof response?.headers?.getSetCookie !== "function") {
    throw new TypeError("the app returned no Response from fetch");
  }
  const { status } = response;
  const headers: (readonly [string, Uint8Array])[] = [];
  for (const [name, value] of response.headers) {
    if (name !== "set-cookie" && !HOP.test(name)) headers.push([name, encodeValue(value)]);
  }
  // Cookies are the one field that cannot be joined (RFC 6265, section 3).
  for (const cookie of response.headers.getSetCookie()) headers.push(["set-cookie", encodeValue(cookie)]);
  const read = response.body === null ? undefined : await readAhead(response.body.getReader());
  let body: Uint8Array | undefined;
  if (read === undefined || !("ahead" in read)) body = read;
  else if (method !== "HEAD" && !isBodiless(status)) {
    return { status, headers: headers.concat(streamOf(partialBody(read, waited))(true)) };
  } else await read.reader.cancel();
  await waited();
  if (method === "HEAD") {
    const length = body === undefined ? response.headers.get("content-length") : String(body.length);
    if (length !== null) headers.push(["content-length", encodeValue(length)]);
    return { status, headers };
  }
  return body === undefined ? { status, headers } : { status, headers, body };
}

/** The environment of the request that is being answered, once it was asked for. */
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

/** `env` as frameworks expect it, read from the host when it is first asked for. */
const environment: object = new Proxy(
  {},
  {
    get: (_, name) => (typeof name === "string" && Object.hasOwn(loaded(), name) ? loaded()[name] : undefined),
    has: (_, name) => Object.hasOwn(loaded(), name),
    ownKeys: () => Reflect.ownKeys(loaded()),
    getOwnPropertyDescriptor: (_, name) => Reflect.getOwnPropertyDescriptor(loaded(), name),
  },
);
