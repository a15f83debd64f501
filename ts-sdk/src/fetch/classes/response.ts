import { isBytes } from "../../http/bytes.ts";
import { isBodiless, isRedirect } from "../../http/status.ts";
import { platform } from "../../platform.ts";
import type { ArrivingBody } from "../../raw.ts";
import { shapeClass } from "../../web-idl/shape-class.ts";
import type { Signal } from "./abortable.ts";
import { Body, extractBody, type Stream } from "./body.ts";
import { freeze, Headers, type HeadersInit, isFrozen, setType } from "./headers.ts";
import { BODY, HEADERS, type Message, mixBody } from "./message.ts";

/** The argument of `new Response()` beside the body (Fetch, section 5.5). */
export interface ResponseInit {
  readonly status?: number;
  readonly statusText?: string;
  readonly headers?: HeadersInit;
}

const REASON = /^[\t -~\x80-\xff]*$/;

interface State {
  readonly status: number;
  readonly statusText: string;
  readonly type: "default" | "basic" | "error";
  readonly url: string;
  readonly redirected: boolean;
  /**
   * The response whose status and headers this one has, without its body, as Hono answers HEAD. Its body has the length
   * that GET would have.
   */
  readonly complete?: Response | undefined;
}

const STATE = Symbol();
const FINE: State = { status: 200, statusText: "", type: "default", url: "", redirected: false };

/** The members that `mixBody` adds. */
export interface Response extends Message {}

/** `Response` of the Fetch standard (section 5.5). */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: as above.
export class Response {
  declare [STATE]: State;

  // Parameters with defaults do not count for `length`, here and below.
  constructor(body: unknown = undefined, init: ResponseInit | undefined = undefined) {
    this[STATE] = init === undefined || init === null ? FINE : stateOf(init);
    this[HEADERS] = new Headers(init?.headers);
    if (body === undefined || body === null) {
      this[BODY] = null;
      if (init instanceof Response) this[STATE] = { ...this[STATE], complete: init };
      return;
    }
    const { status } = this[STATE];
    if (status !== 200 && isBodiless(status))
      throw new TypeError(`Response: one with status ${status} must have no body`);
    const extracted = extractBody(body);
    this[BODY] = extracted.body;
    if (extracted.type !== undefined) setType(this[HEADERS], extracted.type);
  }

  static error(): Response {
    const state = { status: 0, statusText: "", type: "error", url: "", redirected: false } as const;
    return responseOf(state, freeze(new Headers()), null);
  }

  static json(data: unknown, init: ResponseInit | undefined = undefined): Response {
    const text = JSON.stringify(data);
    if (text === undefined) throw new TypeError("Response.json: the value is not JSON");
    const response = new Response(new Body({ kind: "whole", value: text }), init);
    setType(response[HEADERS], "application/json");
    return response;
  }

  static redirect(url: string, status = 302): Response {
    let location: string;
    try {
      location = new platform.URL(`${url}`).href;
    } catch {
      throw new TypeError(`Response.redirect: ${JSON.stringify(String(url))} is not a URL`);
    }
    if (!isRedirect(status)) {
      throw new RangeError(`Response.redirect: ${status} is not a redirect status`);
    }
    const response = new Response(null, { status, headers: { location } });
    freeze(response[HEADERS]);
    return response;
  }

  get type(): string {
    return this[STATE].type;
  }

  get url(): string {
    return this[STATE].url;
  }

  get redirected(): boolean {
    return this[STATE].redirected;
  }

  get status(): number {
    return this[STATE].status;
  }

  get ok(): boolean {
    const { status } = this[STATE];
    return status >= 200 && status <= 299;
  }

  get statusText(): string {
    return this[STATE].statusText;
  }

  clone(): Response {
    const body = this[BODY]?.copy("Response.clone") ?? null;
    return responseOf(this[STATE], copyOf(this[HEADERS]), body);
  }
}

mixBody(Response);
shapeClass("Response", Response);

function stateOf(init: ResponseInit): State {
  if (typeof init !== "object" && typeof init !== "function") {
    throw new TypeError("Response: the second argument must be an object");
  }
  const { status: givenStatus, statusText: givenText } = init;
  if (givenText === undefined && (givenStatus === undefined || givenStatus === 200)) return FINE;
  const status = givenStatus === undefined ? 200 : shortOf(givenStatus);
  const statusText = givenText === undefined ? "" : `${givenText}`;
  if (!(status >= 200 && status <= 599)) throw new RangeError("Response: the status must be 200 to 599");
  if (!REASON.test(statusText)) throw new TypeError("Response: the status text must have no control character");
  return { status, statusText, type: "default", url: "", redirected: false };
}

/** Converts a value to an `unsigned short` (Web IDL, section 3.2.4). */
function shortOf(value: unknown): number {
  return new Uint16Array([Number(value)])[0] as number;
}

/** The length of the body that a response to GET would have; `undefined` when it is not known. */
export function lengthOf(response: Response): number | undefined {
  return (response[STATE].complete ?? response)[BODY]?.length;
}

function responseOf(state: State, headers: Headers, body: Body | null): Response {
  const response = Object.create(Response.prototype) as Response;
  response[STATE] = state;
  response[BODY] = body;
  response[HEADERS] = headers;
  return response;
}

/** A copy, which is immutable as well when these are. */
function copyOf(headers: Headers): Headers {
  const copy = new Headers(headers);
  return isFrozen(headers) ? freeze(copy) : copy;
}

/** A response of one exchange. */
export interface ExchangeResponse {
  readonly status: number;
  readonly statusText: string;
  /** The headers, decoded when they are asked for. */
  readonly headers: Headers;
  readonly body: Stream | ArrivingBody | Uint8Array | null;
}

/** The same after redirects. */
export interface FetchedResponse extends ExchangeResponse {
  readonly url: string;
  readonly redirected: boolean;
}

/** Makes a response of `fetch`. Its headers cannot be changed (Fetch, section 5.1, guards). */
export function fetchedResponse(fetched: FetchedResponse, signal: Signal | undefined = undefined): Response {
  const { status, statusText, url, redirected, headers, body } = fetched;
  const state: State = { status, statusText, type: "basic", url, redirected };
  let content: Body | null = null;
  if (body !== null && !isBodiless(status)) {
    if (isBytes(body)) content = new Body({ kind: "whole", value: body });
    else content = "getReader" in body ? extractBody(body).body : new Body({ kind: "upload", value: body });
    // A stream without content is closed before a signal can make it fail.
    if (content.length !== 0) content.signal = signal;
  }
  return responseOf(state, freeze(headers), content);
}
