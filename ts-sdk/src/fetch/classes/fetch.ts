/** `fetch` over single exchanges: it follows redirects (Fetch, section 4.4). */
import { isBytes } from "../../http/bytes.ts";
import { isRedirect } from "../../http/status.ts";
import { platform, requireRequest } from "../../platform.ts";
import { abortableStream, type Signal } from "./abortable.ts";
import type { Body, Stream } from "./body.ts";
import { dataResponse } from "./data-url.ts";
import { Headers } from "./headers.ts";
import { BODY, HEADERS } from "./message.ts";
import { Request, type RequestInit, SIGNAL } from "./request.ts";
import { type ExchangeResponse, fetchedResponse, type Response } from "./response.ts";

/** The most redirects of a request (Fetch, section 4.4). */
const MAX_REDIRECTS = 20;
/** Fields about a body, which go when the body goes. */
const OF_BODY = ["content-encoding", "content-language", "content-length", "content-location", "content-type"];
/** Fields that are meant for one origin. */
const OF_ORIGIN = ["authorization", "cookie", "host", "proxy-authorization"];

/** One exchange of a request, which redirects change. */
export interface Hop {
  readonly url: InstanceType<typeof platform.URL>;
  readonly method: string;
  readonly headers: Headers;
  readonly body: Uint8Array | string | Stream | undefined;
}

/** Makes one exchange. A signal that aborts ends it, and its reason is thrown. */
export type Exchange = (hop: Hop, signal: Signal | undefined) => Promise<ExchangeResponse>;

/** Makes the global `fetch`. */
export function fetchWith(exchange: Exchange) {
  return async (input: unknown, ...[init]: readonly [RequestInit?]): Promise<Response> => {
    // The body of a request that was given is used, as that of its arguments.
    const request = new Request(input, init);
    const signal = request[SIGNAL] as Signal | undefined;
    if (signal?.aborted) throw signal.reason;
    const url = new platform.URL(request.url);
    if (url.protocol === "data:") return dataResponse(url.href, request.method);
    if (!/^https?:$/.test(url.protocol))
      throw new TypeError(`fetch: the scheme of ${url.protocol} URLs is not supported`);
    requireRequest("fetch");
    let hop: Hop = { url, method: request.method, headers: request[HEADERS], body: await contentOf(request[BODY]) };
    for (let redirects = 0; ; redirects++) {
      const response = await exchange(hop, signal);
      const next = redirected(response, hop, request.redirect);
      if (next === undefined) return finished(response, hop, redirects > 0, signal);
      discard(response.body);
      if (redirects === MAX_REDIRECTS) throw new TypeError(`fetch: there are more than ${MAX_REDIRECTS} redirects`);
      hop = next;
    }
  };
}

/** Ends a body that nobody reads. */
function discard(body: ExchangeResponse["body"]): void {
  if (body === null || isBytes(body)) return;
  if ("getReader" in body) body.getReader().cancel().catch(ignored);
  else body.cancel?.();
}

function ignored(): void {}

/** Reports whether a request's body is a stream. */
export function isStream(body: Hop["body"]): body is Stream {
  return typeof body === "object" && "getReader" in body;
}

/** The content of a body: bytes or a text that can be sent again, or a stream that cannot. */
async function contentOf(body: Body | null): Promise<Hop["body"]> {
  if (body === null) return undefined;
  return body.take() ?? (body.isKnown ? body.read("fetch") : body.takeStream("fetch"));
}

/**
 * The next exchange, when a response redirects and the request follows (Fetch, section 4.4, HTTP-redirect fetch).
 *
 * @throws TypeError when the request refuses redirects, or cannot follow this one
 */
function redirected(response: ExchangeResponse, hop: Hop, mode: string): Hop | undefined {
  const { status } = response;
  if (!isRedirect(status) || mode === "manual") return undefined;
  if (mode === "error")
    throw new TypeError(`fetch: the answer is a redirect (${status}), and the request refuses them`);
  const location = response.headers.get("location");
  if (location === null) return undefined;
  const url = locationOf(location, hop.url);
  const { body } = hop;
  if (status !== 303 && isStream(body)) {
    throw new TypeError(`fetch: a redirect (${status}) asks for the body again, which is a stream`);
  }
  const headers = new Headers(hop.headers);
  const isDropped =
    ((status === 301 || status === 302) && hop.method === "POST") ||
    (status === 303 && hop.method !== "GET" && hop.method !== "HEAD");
  if (isDropped) for (const name of OF_BODY) headers.delete(name);
  if (url.protocol !== hop.url.protocol || url.host !== hop.url.host) {
    for (const name of OF_ORIGIN) headers.delete(name);
  }
  return { url, method: isDropped ? "GET" : hop.method, headers, body: isDropped ? undefined : body };
}

function locationOf(location: string, from: Hop["url"]): Hop["url"] {
  let url: Hop["url"];
  try {
    url = new platform.URL(location, from.href);
  } catch {
    throw new TypeError("fetch: the answer redirects to something that is not a URL");
  }
  if (!/^https?:$/.test(url.protocol))
    throw new TypeError("fetch: the answer redirects to a URL that is not http or https");
  if (url.username !== "" || url.password !== "") {
    throw new TypeError("fetch: the answer redirects to a URL with credentials");
  }
  if (url.hash === "") url.hash = from.hash;
  return url;
}

function finished(response: ExchangeResponse, hop: Hop, isRedirected: boolean, signal: Signal | undefined): Response {
  const { status, statusText, headers, body } = response;
  const url = hop.url.href.replace(/#.*$/s, "");
  const fetched = { status, statusText, headers, url, redirected: isRedirected };
  if (body === null || isBytes(body)) return fetchedResponse({ ...fetched, body }, signal);
  // One that arrives follows the signal by itself.
  const given = signal !== undefined && "getReader" in body ? abortableStream(signal, body) : body;
  return fetchedResponse({ ...fetched, body: given });
}
