/** `fetch` over the engine's own, which makes one exchange: this follows redirects (Fetch, section 4.4). */
import { isRedirect } from "../../http/status.ts";
import { platform } from "../../platform.ts";
import { abortable, abortableStream, type Signal } from "./abortable.ts";
import { type Body, native, type Stream } from "./body.ts";
import { Headers } from "./headers.ts";
import { BODY } from "./message.ts";
import { Request, type RequestInit, SIGNAL } from "./request.ts";
import { fetchedResponse, type NativeResponse, type Response } from "./response.ts";

/** The engine's `fetch`. */
export type EngineFetch = (url: string, init: object) => Promise<NativeResponse>;

/** The most redirects of a request (Fetch, section 4.4). */
const MAX_REDIRECTS = 20;
/** Fields about a body, which go when the body goes. */
const OF_BODY = ["content-encoding", "content-language", "content-length", "content-location", "content-type"];
/** Fields that are meant for one origin. */
const OF_ORIGIN = ["authorization", "cookie", "host", "proxy-authorization"];

/** One exchange of a request, which redirects change. */
interface Hop {
  readonly url: InstanceType<typeof platform.URL>;
  readonly method: string;
  readonly headers: Headers;
  readonly body: Uint8Array | string | Stream | undefined;
}

/** Makes the global `fetch`. */
export function fetchWith(engineFetch: EngineFetch) {
  return async (input: unknown, ...[init]: [RequestInit?]): Promise<Response> => {
    // The body of a request that was given is used, as that of its arguments.
    const request = new Request(input, init);
    const signal = request[SIGNAL] as Signal | undefined;
    if (signal?.aborted) throw signal.reason;
    let hop: Hop = {
      url: new platform.URL(request.url),
      method: request.method,
      headers: request.headers,
      body: await contentOf(request[BODY]),
    };
    for (let redirects = 0; ; redirects++) {
      const response = await exchange(engineFetch, hop, signal);
      const next = redirected(response, hop, request.redirect);
      if (next === undefined) return finished(response, hop, redirects > 0, signal);
      // Nobody reads it.
      response.body?.getReader().cancel().catch(ignored);
      if (redirects === MAX_REDIRECTS) throw new TypeError(`fetch: there are more than ${MAX_REDIRECTS} redirects`);
      hop = next;
    }
  };
}

function ignored(): void {}

/** The content of a body: bytes or a text that can be sent again, or a stream that cannot. */
async function contentOf(body: Body | null): Promise<Hop["body"]> {
  if (body === null) return undefined;
  return body.take() ?? (body.isKnown ? body.read("fetch") : body.move("fetch").stream);
}

async function exchange(engineFetch: EngineFetch, hop: Hop, signal: Signal | undefined): Promise<NativeResponse> {
  const headers = new native.Headers();
  for (const [name, value] of hop.headers) headers.append(name, value);
  const { method, body } = hop;
  const given = body === undefined ? {} : { body, duplex: "half" };
  const answer = engineFetch(hop.url.href.replace(/#.*$/s, ""), { method, headers, ...given });
  return signal === undefined ? answer : abortable(signal, answer);
}

/**
 * The next exchange, when a response redirects and the request follows (Fetch, section 4.4, HTTP-redirect fetch).
 *
 * @throws TypeError when the request refuses redirects, or cannot follow this one
 */
function redirected(response: NativeResponse, hop: Hop, mode: string): Hop | undefined {
  const { status } = response;
  if (!isRedirect(status) || mode === "manual") return undefined;
  if (mode === "error")
    throw new TypeError(`fetch: the answer is a redirect (${status}), and the request refuses them`);
  const location = [...response.headers].find(([name]) => name.toLowerCase() === "location")?.[1];
  if (location === undefined) return undefined;
  const url = locationOf(location, hop.url);
  const { body } = hop;
  if (status !== 303 && typeof body === "object" && "getReader" in body) {
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

function finished(response: NativeResponse, hop: Hop, isRedirected: boolean, signal: Signal | undefined): Response {
  const body = signal === undefined || response.body === null ? response.body : abortableStream(signal, response.body);
  return fetchedResponse({
    status: response.status,
    statusText: response.statusText,
    headers: response.headers,
    url: hop.url.href.replace(/#.*$/s, ""),
    redirected: isRedirected,
    body,
  });
}
