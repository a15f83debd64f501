import { isToken } from "../../http/headers.ts";
import { platform } from "../../platform.ts";
import { shapeClass } from "../../web-idl/shape-class.ts";
import type { Signal } from "./abortable.ts";
import { type Body, extractBody } from "./body.ts";
import { defaults } from "./defaults.ts";
import { Headers, type HeadersInit } from "./headers.ts";
import { BODY, HEADERS, type Message, mixBody } from "./message.ts";

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
  priority: ["high", "low", "auto"],
  mode: ["same-origin", "cors", "no-cors"],
  redirect: ["follow", "error", "manual"],
  referrerPolicy: [
    ...["", "no-referrer", "no-referrer-when-downgrade", "same-origin", "origin", "strict-origin"],
    ...["origin-when-cross-origin", "strict-origin-when-cross-origin", "unsafe-url"],
  ],
};
const KEPT_NAMES = Object.keys(KEPT);

const METHOD = Symbol();
const URL_TEXT = Symbol();
const FOLLOWING = Symbol();
/** The signal that a request was made with. */
export const SIGNAL: unique symbol = Symbol() as never;
const INIT = Symbol();

/** The members that `mixBody` adds. */
export interface Request extends Message {}

/** `Request` of the Fetch standard (section 5.4). */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: as above.
export class Request {
  declare [METHOD]: string;
  declare readonly redirect: string;
  declare [URL_TEXT]: string | (() => string);
  declare [SIGNAL]: object | undefined;
  declare [FOLLOWING]: object | undefined;
  declare [INIT]: Readonly<Record<string, unknown>> | undefined;

  constructor(input: unknown, init: RequestInit = {}) {
    if (init !== null && typeof init !== "object" && typeof init !== "function") {
      throw new TypeError("Request: the second argument must be an object");
    }
    const given = input instanceof Request ? input : undefined;
    const {
      method = given?.[METHOD] ?? "GET",
      headers = given?.[HEADERS],
      signal = given?.[SIGNAL] ?? given?.[FOLLOWING],
      body,
    } = init ?? {};
    const asked = `${method}`;
    if (!isToken(asked) || FORBIDDEN.test(asked)) {
      throw new TypeError(`Request: ${JSON.stringify(asked)} is not a method`);
    }
    const name = NORMALIZED.test(asked) ? asked.toUpperCase() : asked;
    const hasBody = body !== undefined && body !== null;
    const taken = hasBody ? null : given?.[BODY];
    if ((name === "GET" || name === "HEAD") && (taken || hasBody)) {
      throw new TypeError(`Request: a ${name} request must have no body`);
    }
    if (init?.["window"] !== undefined && init["window"] !== null) throw new TypeError("Request: window must be null");
    this[URL_TEXT] = given ? given[URL_TEXT] : checkUrl(`${input}`);
    if (signal !== undefined && signal !== null && !isSignal(signal)) {
      throw new TypeError("Request: the signal must be an AbortSignal");
    }
    this[SIGNAL] = signal ?? undefined;
    this[INIT] = kept(given?.[INIT], init);
    this[METHOD] = name;
    this[HEADERS] = new Headers(headers);
    if (!hasBody) {
      this[BODY] = taken?.move("Request") ?? null;
      return;
    }
    const { body: extracted, type } = extractBody(body);
    if (!extracted.isKnown && init?.duplex === undefined) {
      throw new TypeError('Request: a body that is a stream needs duplex: "half"');
    }
    this[BODY] = extracted;
    if (type !== undefined && !this[HEADERS].has("content-type")) this[HEADERS].append("content-type", type);
  }

  get method(): string {
    return known(this)[METHOD];
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
    const { [FOLLOWING]: made } = known(this);
    if (made !== undefined) return made;
    const { AbortController } = platform;
    if (AbortController === undefined) return {};
    const given = this[SIGNAL] as Signal | undefined;
    const controller = new AbortController();
    const follow = () => controller.abort(given?.reason);
    if (given?.aborted) follow();
    else given?.addEventListener("abort", follow, { once: true });
    this[FOLLOWING] = controller.signal as object;
    return this[FOLLOWING];
  }

  get isReloadNavigation(): boolean {
    known(this);
    return false;
  }

  get isHistoryNavigation(): boolean {
    known(this);
    return false;
  }

  get duplex(): "half" {
    known(this);
    return "half";
  }

  get destination(): string {
    known(this);
    return "";
  }

  clone(): Request {
    known(this);
    const copy = Object.create(Request.prototype) as Request;
    copy[URL_TEXT] = this[URL_TEXT];
    copy[SIGNAL] = this[SIGNAL] ?? this[FOLLOWING];
    copy[INIT] = this[INIT];
    copy[BODY] = this[BODY]?.copy("Request.clone") ?? null;
    copy[METHOD] = this[METHOD];
    copy[HEADERS] = new Headers(this[HEADERS]);
    return copy;
  }
}

mixBody(Request);
shapeClass("Request", Request);
defaults(Request.prototype, { [SIGNAL]: undefined, [FOLLOWING]: undefined, [INIT]: undefined });

for (const [name, fallback] of Object.entries(KEPT)) {
  // An accessor of a literal gets its name.
  const accessor = {
    get [name](): unknown {
      return known(this as unknown as Request)[INIT]?.[name] ?? fallback;
    },
  };
  Object.defineProperties(Request.prototype, Object.getOwnPropertyDescriptors(accessor));
}

/** Returns a request. @throws TypeError for another object */
function known(request: Request): Request {
  if (request[METHOD] === undefined) throw new TypeError("the receiver must be a Request");
  return request;
}

/** Makes a request from the host's, whose URL is composed when it is first asked for. */
export function requestOf(method: string, url: () => string, headers: Headers, body: Body | null): Request {
  const request = Object.create(Request.prototype) as Request;
  request[URL_TEXT] = url;
  request[BODY] = body;
  request[METHOD] = method;
  request[HEADERS] = headers;
  return request;
}

/** The properties that a request takes from its arguments. */
function kept(before: Request[typeof INIT], init: RequestInit): Request[typeof INIT] {
  if (init === null) return before;
  let all = before;
  for (const name of KEPT_NAMES) {
    const value = init[name];
    if (value === undefined) continue;
    check(name, value);
    all = { ...all, [name]: converted(name, value) };
  }
  for (const name of ["duplex", "priority"]) if (init[name] !== undefined) check(name, init[name]);
  if (all?.["cache"] === "only-if-cached" && all["mode"] !== "same-origin") {
    throw new TypeError('Request: cache "only-if-cached" needs mode "same-origin"');
  }
  return all;
}

function check(name: string, value: unknown): void {
  const allowed = ENUMERATIONS[name];
  if (allowed === undefined || allowed.includes(`${value}`)) return;
  throw new TypeError(`Request: ${name} must be one of ${allowed.map((each) => JSON.stringify(each)).join(", ")}`);
}

function converted(name: string, value: unknown): string | boolean {
  if (name === "keepalive") return Boolean(value);
  const text = `${value}`;
  return name === "referrer" && text !== "" ? checkUrl(text) : text;
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
