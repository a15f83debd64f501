import { isToken } from "../../http/headers.ts";
import { platform } from "../../platform.ts";
import { type Body, extractBody } from "./body.ts";
import { Headers, type HeadersInit } from "./headers.ts";
import { BODY, Message } from "./message.ts";

/** The argument of `new Request()` beside the URL (Fetch, section 5.4). */
export interface RequestInit {
  readonly method?: string;
  readonly headers?: HeadersInit;
  readonly body?: unknown;
  readonly duplex?: string;
  readonly signal?: object | null;
  readonly redirect?: string;
  readonly [other: string]: unknown;
}

const NORMALIZED = /^(?:delete|get|head|options|post|put)$/i;
const FORBIDDEN = /^(?:connect|trace|track)$/i;
/** The other properties, with their defaults. */
const KEPT = {
  cache: "default",
  credentials: "same-origin",
  integrity: "",
  keepalive: false,
  mode: "cors",
  redirect: "follow",
  referrer: "about:client",
  referrerPolicy: "",
} as const;

const URL_TEXT = Symbol();
const SIGNAL = Symbol();
const INIT = Symbol();

/** `Request` of the Fetch standard (section 5.4). */
export class Request extends Message {
  declare method: string;
  declare headers: Headers;
  declare [URL_TEXT]: string | (() => string);
  declare [SIGNAL]: object | undefined;
  declare [INIT]: Readonly<Record<string, unknown>> | undefined;

  constructor(input: unknown, init: RequestInit = {}) {
    super();
    const given = input instanceof Request ? input : undefined;
    const { method = given?.method ?? "GET", headers = given?.headers, signal = given?.[SIGNAL], body } = init ?? {};
    if (!isToken(method) || FORBIDDEN.test(method)) {
      throw new TypeError(`Request: ${JSON.stringify(method)} is not a method`);
    }
    const name = NORMALIZED.test(method) ? method.toUpperCase() : method;
    const taken = body === undefined ? given?.[BODY] : null;
    if ((name === "GET" || name === "HEAD") && (taken || (body !== undefined && body !== null))) {
      throw new TypeError(`Request: a ${name} request has no body`);
    }
    this[URL_TEXT] = given ? given[URL_TEXT] : checkUrl(String(input));
    this[SIGNAL] = signal ?? undefined;
    this[INIT] = kept(given?.[INIT], init);
    this.method = name;
    this.headers = new Headers(headers);
    if (body === undefined || body === null) {
      this[BODY] = taken?.move("Request") ?? null;
      return;
    }
    const { body: extracted, type } = extractBody(body);
    this[BODY] = extracted;
    if (type !== undefined && !this.headers.has("content-type")) this.headers.append("content-type", type);
  }

  get url(): string {
    const url = this[URL_TEXT];
    if (typeof url === "string") return url;
    const text = url();
    this[URL_TEXT] = text;
    return text;
  }

  get signal(): object {
    const { AbortController } = platform;
    this[SIGNAL] ??= AbortController ? (new AbortController().signal as object) : {};
    return this[SIGNAL];
  }

  get duplex(): "half" {
    return "half";
  }

  get destination(): string {
    return "";
  }

  clone(): Request {
    const copy = Object.create(Request.prototype) as Request;
    copy[URL_TEXT] = this[URL_TEXT];
    copy[SIGNAL] = this[SIGNAL];
    copy[INIT] = this[INIT];
    copy[BODY] = this[BODY]?.copy("Request.clone") ?? null;
    copy.method = this.method;
    copy.headers = new Headers(this.headers);
    return copy;
  }

  get [Symbol.toStringTag](): string {
    return "Request";
  }
}

for (const [name, fallback] of Object.entries(KEPT)) {
  const get = function (this: Request) {
    return this[INIT]?.[name] ?? fallback;
  };
  Object.defineProperty(Request.prototype, name, { get, configurable: true, enumerable: true });
}

/** Makes a request from the host's, whose URL is composed when it is first asked for. */
export function requestOf(method: string, url: () => string, headers: Headers, body: Body | null): Request {
  const request = Object.create(Request.prototype) as Request;
  request[URL_TEXT] = url;
  request[SIGNAL] = undefined;
  request[INIT] = undefined;
  request[BODY] = body;
  request.method = method;
  request.headers = headers;
  return request;
}

/** The properties that a request takes from its arguments. */
function kept(before: Request[typeof INIT], init: RequestInit): Request[typeof INIT] {
  let all = before;
  for (const name in KEPT) {
    const value = init?.[name];
    if (value === undefined) continue;
    all = { ...all, [name]: name === "referrer" && value !== "" ? checkUrl(String(value)) : value };
  }
  return all;
}

function checkUrl(text: string): string {
  let url: InstanceType<typeof platform.URL>;
  try {
    url = new platform.URL(text);
  } catch {
    throw new TypeError(`Request: ${JSON.stringify(text)} is not a URL`);
  }
  if (url.username !== "" || url.password !== "") throw new TypeError("Request: the URL has credentials");
  return url.href;
}
