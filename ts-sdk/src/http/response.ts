/** Responses and the helpers that make them. */
import { encodeUtf8 } from "../platform.ts";
import { isBytes } from "./bytes.ts";
import { type CookieOptions, withCookie } from "./cookies.ts";
import { checkHeader, checkValue } from "./headers.ts";
import { writeJson } from "./json.ts";
import { streamOf } from "./pieces.ts";
import { type ProblemDetails, problem } from "./problem.ts";
import { copyOf, SENDING, type Sending } from "./sending.ts";
import { type ErrorStatus, isRedirect } from "./status.ts";
import { isReadable, type ReadableBody, settingsOf } from "./stream.ts";

/** The headers that `respond` takes: an object, or pairs where a name is repeated. */
export type HeadersInit =
  | Readonly<Record<string, string | readonly string[]>>
  | Iterable<readonly [name: string, value: string]>;

/** Options of `respond`. */
export interface ResponseInit {
  readonly headers?: HeadersInit;
  /**
   * A text is sent as UTF-8, and as `text/plain` unless the headers set another type; bytes are sent as they are. A
   * `ReadableStream` is sent piece by piece, as `stream` does.
   */
  readonly body?: string | Uint8Array | ReadableBody;
}

// Headers that occur once, and those whose directives a later one means to replace. Every other header may be repeated,
// such as `set-cookie` and `vary`.
const SINGLE =
  /^(?:content-(?:type|length|disposition|encoding|language|location|range)|location|etag|last-modified|retry-after|cache-control|expires|age|date|access-control-(?:allow-(?:origin|credentials)|max-age))$/;

/**
 * The SDK's response, not the web's `Response`: a handler's answer as plain data, which a test can compare. `ok`, `created`,
 * `accepted`, `noContent`, `error`, `respond`, `stream` and `sse` make it.
 */
export class Response<out Status extends number = number, out Body = unknown> {
  readonly status: Status;
  /** Lower-case names and values, in order. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The value to write as JSON; from `respond` and `stream`, the text, the bytes or the source. */
  readonly body: Body;
  /** @internal */
  declare readonly [SENDING]?: Sending;

  /** @internal */
  constructor(status: Status, headers: readonly (readonly [string, string])[], body: Body, sending?: Sending) {
    this.status = status;
    this.headers = headers;
    this.body = body;
    if (sending !== undefined) (this as { [SENDING]?: Sending })[SENDING] = sending;
  }

  /**
   * The same answer with one more header. A name may be repeated, such as `set-cookie`. A header that occurs once, such
   * as `content-type`, `location` and `cache-control`, replaces the former one.
   *
   * @throws TypeError naming the header when its name or value can't be sent.
   */
  header(name: string, value: string): this {
    const added = checkHeader(name, value);
    const kept = SINGLE.test(added[0]) ? this.headers.filter(([given]) => given !== added[0]) : this.headers;
    // `concat` copies in one step; a spread uses an iterator, which is slow in the engine.
    return copyOf(this, kept.concat([added]));
  }

  /**
   * The same answer with a cookie, whose value is percent-encoded; `Path=/; HttpOnly; Secure; SameSite=Lax` unless the
   * options say otherwise.
   *
   * @throws TypeError or RangeError naming the cookie and the part that browsers refuse.
   */
  cookie(name: string, value: string, options: CookieOptions = {}): this {
    return withCookie(this, name, value, options);
  }

  /** The same answer with a cookie that deletes the one of this name, path and domain. */
  clearCookie(name: string, options: Pick<CookieOptions, "path" | "domain"> = {}): this {
    return this.cookie(name, "", { ...options, maxAge: 0, expires: new Date(0) });
  }
}

/** The same answer with these headers, which replace others of their names. They are sent as they are. */
export function withHeaders<R extends Response>(response: R, added: Response["headers"]): R {
  if (added.length === 0) return response;
  const kept = response.headers.filter(([name]) => !added.some(([other]) => other === name));
  return copyOf(response, kept.concat(added));
}

/** An answer whose body is sent as it is. */
export class VerbatimResponse<out Status extends number, out Body> extends Response<Status, Body> {}

/** An error answer, from `error`; every route may return it, whatever status and body it declares. */
export interface ErrorResponse extends Response<ErrorStatus, ProblemDetails> {}

/**
 * The same answer with its body written as JSON, so that sending it can't fail.
 *
 * @throws TypeError when the body can't be written as JSON.
 */
export function encodedResponse(response: Response, write?: WriteBody): Response {
  const { status, headers, body } = response;
  if (body === undefined || response instanceof VerbatimResponse || response[SENDING]?.text !== undefined)
    return response;
  return new Response(status, headers, body, { ...response[SENDING], text: textOf(response, write) });
}

/** Writes a body with its declared members; undefined for a status without a declared body. */
export type WriteBody = (status: number, body: unknown) => string | undefined;

/**
 * The body of an answer as JSON.
 *
 * @throws TypeError when the body can't be written as JSON, and for a promise, which would be `{}`
 */
export function textOf(response: Response, write?: WriteBody): string {
  const { status, body } = response;
  const text = response[SENDING]?.text ?? write?.(status, body) ?? writeJson(body);
  if (text === "{}" && isPromise(body)) throw new TypeError(PROMISE);
  return text;
}

/** The error of a body that is a promise. */
export const PROMISE = "the body is a promise; await it first: ok(await …)";

/** Reports whether a body is a promise, or looks like one. */
export function isPromise(body: unknown): boolean {
  return typeof (body as PromiseLike<unknown> | undefined)?.then === "function";
}

/** The bytes of a complete answer's body; `undefined` when there is none. */
export function encodedBody(response: Response, write?: WriteBody): Uint8Array | undefined {
  const { body } = response;
  if (body === undefined) return undefined;
  if (response instanceof VerbatimResponse) return typeof body === "string" ? encodeUtf8(body) : (body as Uint8Array);
  return encodeUtf8(textOf(response, write));
}

/** The headers of every answer with a JSON body, until one is added. */
export const JSON_TYPE = Object.freeze([["content-type", "application/json"]] as const);
/** The headers of problem details. */
export const PROBLEM_TYPE = Object.freeze([["content-type", "application/problem+json"]] as const);

/**
 * The result for a promise, which is no answer. A body of the type `any` may be anything else. The compiler's error shows the text,
 * because the type is a member's, which has no name, and because it is a tuple: a plain literal would be shown as `string`, and an
 * object costs the type checker more.
 */
type Unawaited = { readonly error: readonly ["await the promise first: ok(await …)"] }["error"];
type PromiseOnly<Body> = 0 extends 1 & Body ? never : Body;

/**
 * 200 with a JSON body.
 *
 * @example
 * get("/users/{id}", { path: Id }, async ({ path }) => ok(await find(path.id)))
 */
// Overloads cost the type checker a fifth of a condition in one signature. The first is for `never`, which is everything. Each has
// the comment, because an editor shows that of the chosen one.
export function ok(body: never): Response<200, never>;
export function ok<Body extends PromiseLike<unknown>>(body: PromiseOnly<Body>): Unawaited;
/**
 * 200 with a JSON body.
 *
 * @example
 * get("/users/{id}", { path: Id }, async ({ path }) => ok(await find(path.id)))
 */
export function ok<const Body>(body: Body): Response<200, Body>;
export function ok(body: unknown): unknown {
  return new Response(200, JSON_TYPE, body);
}

/**
 * 201 with a JSON body and the location of the new resource, an absolute URL or a path.
 *
 * @example
 * return created(`/users/${user.id}`, user);
 */
export function created(location: string, body: never): Response<201, never>;
export function created<Body extends PromiseLike<unknown>>(location: string, body: PromiseOnly<Body>): Unawaited;
/**
 * 201 with a JSON body and the location of the new resource, an absolute URL or a path.
 *
 * @example
 * return created(`/users/${user.id}`, user);
 */
export function created<const Body>(location: string, body: Body): Response<201, Body>;
export function created(location: string, body: unknown): unknown {
  return new Response(201, [JSON_TYPE[0], locationHeader(location)], body);
}

/** 202, with a JSON body if there is one. */
export function accepted(): Response<202, undefined>;
export function accepted(body: never): Response<202, never>;
export function accepted<Body extends PromiseLike<unknown>>(body: PromiseOnly<Body>): Unawaited;
/** 202, with a JSON body if there is one. */
export function accepted<const Body>(body: Body): Response<202, Body>;
export function accepted(body?: unknown): unknown {
  return new Response(202, body === undefined ? [] : JSON_TYPE, body);
}

/**
 * 204, without a body.
 *
 * @example
 * del("/users/{id}", { path: Id, status: 204 }, () => noContent())
 */
export function noContent(): Response<204, undefined> {
  return new Response(204, [], undefined);
}

/**
 * Redirects the client to an absolute URL or a path: 302 unless `status` is given. The path begins at the host, not at
 * the module: put `req.base` in front of a route's own.
 *
 * @throws RangeError when the status is not a redirect (301, 302, 303, 307, 308).
 * @example
 * return redirect(`${req.base}/login`, 303);
 */
export function redirect<const Status extends 301 | 302 | 303 | 307 | 308 = 302>(
  location: string,
  status: Status = 302 as Status,
): Response<Status, undefined> {
  if (!isRedirect(status)) throw new RangeError(`redirect: ${status} is not a redirect status`);
  return new Response(status, [locationHeader(location)], undefined);
}

/**
 * Percent-encodes the characters of a location that a header can't hold, as browsers and servers do (RFC 3987, section
 * 3.1). Half a surrogate pair becomes U+FFFD.
 */
function locationHeader(location: string): readonly ["location", string] {
  const encode = (text: string) => text.replace(/[\ud800-\udfff]/gu, "\ufffd").replace(/[^\0-\x7f]+/g, encodeURI);
  return ["location", checkValue("location", location && encode(String(location)))];
}

/** Members that `error` adds to the problem details. */
export interface ErrorExtra {
  /** A URI that names the kind of problem. */
  readonly type?: string | undefined;
  /** A short summary of the kind of problem. */
  readonly title?: string | undefined;
  /** A URI that names this occurrence. */
  readonly instance?: string | undefined;
  /** Extension members. */
  readonly [extension: string]: unknown;
}

/**
 * An error answer: problem details with `message` as their `detail`, and the members of `extra` beside it.
 *
 * @example
 * return error(409, "the name is taken", { type: "https://example.com/taken", name });
 * @throws RangeError when the status is not an error (400 to 599).
 */
export function error(status: number, message: string, extra?: ErrorExtra): ErrorResponse {
  if (!(Number.isInteger(status) && status >= 400 && status <= 599)) {
    throw new RangeError(`error: ${status} is not an error status (400 to 599)`);
  }
  return problemResponse(problem(status, message, extra));
}

/** The answer whose body is these problem details. */
export function problemResponse(
  body: ProblemDetails,
  ...headers: readonly (readonly [string, string])[]
): ErrorResponse {
  const all = headers.length === 0 ? PROBLEM_TYPE : [...PROBLEM_TYPE, ...headers];
  return new Response(body.status as ErrorStatus, all, body);
}

/**
 * Any other answer: a text, HTML, bytes, a redirect, a `ReadableStream`.
 *
 * @example
 * return respond(200, { headers: { "content-type": "text/html" }, body: "<h1>Hello</h1>" });
 * @throws RangeError when the status is not from 200 to 599; TypeError naming a header that can't be sent.
 */
export function respond<const Status extends number, const Init extends ResponseInit = Record<never, never>>(
  status: Status,
  init?: Init,
): Response<Status, Init["body"]> {
  const body = init?.body;
  const isStream = isReadable(body);
  if (body !== undefined && typeof body !== "string" && !isStream && !isBytes(body)) {
    throw new TypeError("respond: the body must be a string, a Uint8Array or a ReadableStream; for JSON there is ok()");
  }
  const sending = isStream ? { start: streamOf(settingsOf("respond", body)) } : undefined;
  const type = typeof body === "string" ? "text/plain; charset=utf-8" : undefined;
  return verbatimResponse("respond", status, init?.headers, type, body as Init["body"], sending);
}

/**
 * An answer whose body is not JSON.
 *
 * @param helper the name of the called function, for errors
 * @param type the content type unless the headers have one
 */
export function verbatimResponse<const Status extends number, const Body>(
  helper: string,
  status: Status,
  given: HeadersInit | undefined,
  type: string | undefined,
  body: Body,
  sending?: Sending,
): Response<Status, Body> {
  if (!(Number.isInteger(status) && status >= 200 && status <= 599)) {
    throw new RangeError(`${helper}: ${status} is not a final status (200 to 599)`);
  }
  const headers = headerList(given ?? []);
  if (type !== undefined && !headers.some(([name]) => name === "content-type")) headers.unshift(["content-type", type]);
  return new VerbatimResponse(status, headers, body, sending);
}

function headerList(init: HeadersInit): (readonly [string, string])[] {
  if (Symbol.iterator in init) {
    const pairs = init as Iterable<readonly [string, string]>;
    return Array.from(pairs, ([name, value]) => checkHeader(name, value));
  }
  return Object.entries(init).flatMap(([name, value]: [string, string | readonly string[]]) =>
    Array.isArray(value) ? value.map((one) => checkHeader(name, one)) : [checkHeader(name, value as string)],
  );
}
