import { isToken } from "../../http/headers.ts";
import { platform } from "../../platform.ts";
import type { Signal } from "./abortable.ts";
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

/** The values of properties that have a fixed list of them. */
const ENUMERATIONS: Readonly<Record<string, readonly string[]>> = {
  cache: ["default", "no-store", "reload", "no-cache", "force-cache", "only-if-cached"],
  credentials: ["omit", "same-origin", "include"],
  duplex: ["half"],
  mode: ["same-origin", "cors", "no-cors"],
  redirect: ["follow", "error", "manual"],
  referrerPolicy: [
    ...["", "no-referrer", "no-referrer-when-downgrade", "same-origin", "origin", "strict-origin"],
    ...["origin-when-cross-origin", "strict-origin-when-cross-origin", "unsafe-url"],
  ],
};

const URL_TEXT = Symbol();
const FOLLOWING = Symbol();
/** The signal that a request was made with. */
export const SIGNAL: unique symbol = Symbol() as never;
const INIT = Symbol();

/** `Request` of the Fetch standard (section 5.4). */
export class Request extends Message {
  declare method: string;
  declare readonly redirect: string;
  declare headers: Headers;
  declare [URL_TEXT]: string | (() => string);
  declare [SIGNAL]: object | undefined;
  declare [FOLLOWING]: object | undefined;
  declare [INIT]: Readonly<Record<string, unknown>> | undefined;

  constructor(input: unknown, init: RequestInit = {}) {
    super();
    if (init !== null && typeof init !== "object" && typeof init !== "function") {
      throw new TypeError("Request: the second argument must be an object");
    }
    const given = input instanceof Request ? input : undefined;
    const {
      method = given?.method ?? "GET",
      headers = given?.headers,
      signal = given?.[SIGNAL] ?? given?.[FOLLOWING],
      body,
    } = init ?? {};
    if (!isToken(method) || FORBIDDEN.test(method)) {
      throw new TypeError(`Request: ${JSON.stringify(method)} is not a method`);
    }
    const name = NORMALIZED.test(method) ? method.toUpperCase() : method;
    const taken = body === undefined ? given?.[BODY] : null;
    if ((name === "GET" || name === "HEAD") && (taken || (body !== undefined && body !== null))) {
      throw new TypeError(`Request: a ${name} request has no body`);
    }
    this[URL_TEXT] = given ? given[URL_TEXT] : checkUrl(String(input));
    if (signal !== undefined && signal !== null && !isSignal(signal)) {
      throw new TypeError("Request: the signal must be an AbortSignal");
    }
    this[SIGNAL] = signal ?? undefined;
    this[FOLLOWING] = undefined;
    this[INIT] = kept(given?.[INIT], init);
    this.method = name;
    this.headers = new Headers(headers);
    if (body === undefined || body === null) {
      this[BODY] = taken?.move("Request") ?? null;
      return;
    }
    const { body: extracted, type } = extractBody(body);
    if (!extracted.isKnown && init?.duplex === undefined) {
      throw new TypeError('Request: a body that is a stream needs duplex: "half"');
    }
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

  /** Follows the signal that the request was made with. */
  get signal(): object {
    const { AbortController } = platform;
    if (this[FOLLOWING] !== undefined) return this[FOLLOWING];
    if (AbortController === undefined) return {};
    const given = this[SIGNAL] as Signal | undefined;
    const controller = new AbortController();
    const follow = () => controller.abort(given?.reason);
    if (given?.aborted) follow();
    else given?.addEventListener("abort", follow, { once: true });
    this[FOLLOWING] = controller.signal as object;
    return this[FOLLOWING];
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
    copy[SIGNAL] = this[SIGNAL] ?? this[FOLLOWING];
    copy[FOLLOWING] = undefined;
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
  request[FOLLOWING] = undefined;
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
    if (ENUMERATIONS[name]?.includes(String(value)) === false) {
      throw new TypeError(
        `Request: ${name} must be one of ${ENUMERATIONS[name].map((each) => JSON.stringify(each)).join(", ")}`,
      );
    }
    all = { ...all, [name]: name === "referrer" && value !== "" ? checkUrl(String(value)) : value };
  }
  return all;
}

function isSignal(value: object): boolean {
  const { AbortSignal } = platform as unknown as { AbortSignal?: abstract new () => object };
  return AbortSignal === undefined || value instanceof AbortSignal;
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
