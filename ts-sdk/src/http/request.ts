/** The raw request of a handler. */
import { originKey, REQUEST_BASE, REQUEST_HOST, REQUEST_IP, REQUEST_SCHEME } from "../abi.ts";
import { decodeUtf8, findVariable, findVariables, platform } from "../platform.ts";
import type { ArrivingBody, RawRequest } from "../raw.ts";
import { type Cookies, cookiesOf } from "./cookies.ts";
import { Headers } from "./headers.ts";
import { HttpError } from "./interrupt.ts";
import { parseJson } from "./json.ts";
import { invalidInput } from "./problem.ts";
import { problemResponse } from "./response.ts";

// Keys of a request's raw form and its parsed headers. They are symbols, because private fields are slower in the
// engine's interpreter.
const RAW = Symbol();
const HEADERS = Symbol();
const BODY = Symbol();

/** The SDK's request, not the web's `Request`: the second argument of every handler. */
export class Request {
  /** `GET`, `POST`, … */
  readonly method: string;
  /** The path as it came, still percent-encoded: `/users/a%20b`. */
  readonly path: string;
  /** The query after the `?`, still encoded; empty when there is none. */
  readonly query: string;
  /** @internal */
  readonly [RAW]: RawRequest;
  declare private [HEADERS]: Headers | undefined;
  declare private [BODY]: Uint8Array<ArrayBuffer> | undefined;

  /** @internal */
  constructor(raw: RawRequest) {
    const { method, pathWithQuery } = raw;
    this.method = method;
    if (pathWithQuery.includes("?")) {
      // `slice` is slow, because the engine implements it in JavaScript.
      const parts = pathWithQuery.split("?");
      this.path = parts[0] as string;
      this.query = parts.length === 2 ? (parts[1] as string) : parts.slice(1).join("?");
    } else {
      this.path = pathWithQuery;
      this.query = "";
    }
    this[RAW] = raw;
  }

  /** The body's bytes; `undefined` when there is none. */
  get body(): Uint8Array<ArrayBuffer> | undefined {
    const { body } = this[RAW];
    // A component's bindings are of another realm, whose Uint8Array is not the handler's.
    if (body !== undefined) this[BODY] ??= new Uint8Array(body);
    return this[BODY];
  }

  /** The headers; read from the host when they are first asked for. */
  get headers(): Headers {
    this[HEADERS] ??= new Headers(this[RAW].headers);
    return this[HEADERS];
  }

  /** The cookies; read from the host when they are first asked for. */
  get cookies(): Cookies {
    return cookiesOf(this.headers);
  }

  /**
   * The client's IP address, such as `192.0.2.1` or `2001:db8::1`. Behind a proxy that `[server] trusted_proxies`
   * names, it is the address in `X-Forwarded-For`. `undefined` where the server does not pass it on: in `testApp`, in a
   * program that embeds the runtime, and on other servers than Tenon's.
   */
  get ip(): string | undefined {
    return findVariable(REQUEST_IP);
  }

  /**
   * The path below which the client finds the handler's routes: `/run/<module>`, or `""` at the root. Put it in front
   * of the paths in links and redirects: `` redirect(`${req.base}/users`) ``.
   */
  get base(): string {
    return findVariable(REQUEST_BASE) ?? "";
  }

  /**
   * The absolute URL with the scheme and the host that the client used; the path is the one the handler declares, without
   * {@link base}.
   */
  get url(): string {
    const raw = this[RAW];
    return urlOf(originOf(raw), rootedPath(raw));
  }

  /** The body as text; `undefined` when there is no body, or when it is not UTF-8. */
  text(): string | undefined {
    const body = rawBody(this);
    return body === undefined ? undefined : decodeUtf8(body);
  }

  /**
   * The body as JSON, not validated: a route that declares `body` gets it parsed and typed.
   *
   * @throws HttpError with status 400 when there is no body or it is not JSON, unless the handler catches it.
   */
  json(): unknown {
    const parsed = parseJson(rawBody(this));
    if (parsed.failure) throw new HttpError(problemResponse(invalidInput([parsed.failure])));
    return parsed.value;
  }
}

/** The origin of a request: the scheme and the host that the client used. */
export interface Origin {
  readonly scheme: string;
  readonly host: string | undefined;
}

/**
 * The origin of a request. The host is unchecked. Where its header counts, the others stay unread if the host passes it alone. While an
 * answer is streamed, only headers that were read before are there.
 */
export function originOf(raw: RawRequest): Origin {
  // By index: the engine takes ten times as long to destructure an array.
  const known = platform[originKey]?.() ?? findVariables(REQUEST_SCHEME, REQUEST_HOST);
  return { scheme: known[0] ?? "http", host: known[1] ?? raw.host ?? new Headers(raw.headers).get("host") };
}

/** The absolute URL of a request; `path` begins with a slash. */
export function urlOf({ scheme, host }: Origin, path: string): string {
  if (host !== undefined && /^[\w.~:[\]%!$&'()*+,;=-]+$/.test(host)) {
    try {
      return new platform.URL(`${scheme}://${host}${path}`).href;
    } catch {
      // An invalid host header must not fail a handler that asks for the path.
    }
  }
  return new platform.URL(`${scheme}://localhost${path}`).href;
}

/** The path of a request with its query, from the root. */
export function rootedPath({ pathWithQuery }: RawRequest): string {
  return pathWithQuery[0] === "/" ? pathWithQuery : `/${pathWithQuery}`;
}

/** The body's bytes as the host passed them, of any realm. */
export function rawBody(request: Request): Uint8Array | undefined {
  return request[RAW].body;
}

/** The body of a streamed request; `undefined` when the body is complete. */
export function uploadOf(request: Request): ArrivingBody | undefined {
  return request[RAW].upload;
}

/** The value of `content-type`. It leaves the other headers unread where the host passes it alone. */
export function contentType(request: Request): string | undefined {
  const raw = request[RAW];
  return "contentType" in raw ? raw.contentType : request.headers.get("content-type");
}

/** The request as the host passed it. */
export function rawOf(request: Request): RawRequest {
  return request[RAW];
}
