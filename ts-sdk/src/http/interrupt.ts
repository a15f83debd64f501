import { type ErrorResponse, error, type Response } from "./response.ts";

/** Thrown to answer at once: by `guard` and `ensure`, and by a request's `json()`. */
export class HttpError extends Error {
  /** The answer that the request gets. */
  readonly response: Response;

  constructor(response: ErrorResponse) {
    super(response.body.detail ?? response.body.title);
    this.name = "HttpError";
    this.response = response;
  }
}

/**
 * Answers with the error unless the condition holds; the type checker knows it holds from here on.
 *
 * @throws HttpError, which the SDK turns into the answer.
 */
export function guard(condition: unknown, status: number, message: string): asserts condition {
  if (!condition) throw new HttpError(error(status, message));
}

/**
 * `Then`, unless `T` is a promise: `ensure` can't look into one. In two steps, so that a type parameter of a caller's own
 * generic function fits: with `any` in its place, as the type checker tries it, nothing is pending.
 */
export type Settled<T, Then> = "pending" extends Progress<T> ? "await the promise first: ensure(await …)" : Then;
type Progress<T> = [Extract<T, PromiseLike<unknown>>] extends [never]
  ? "settled"
  : [0] extends [1 & T]
    ? "settled"
    : "pending";

/**
 * The value, when there is one; null, undefined, and a function that throws answer with the error.
 *
 * @example const user = ensure(await find(id), 404, "no such user");
 * @example const filter = ensure(() => parseFilter(text), 400, "not a filter");
 * @throws HttpError, which the SDK turns into the answer.
 */
export function ensure<T>(value: T | (() => T), status: Settled<T, number>, message: string): NonNullable<T>;
export function ensure(value: unknown, status: number, message: string): unknown {
  let given = value;
  if (typeof value === "function") {
    try {
      given = value();
    } catch {
      throw new HttpError(error(status, message));
    }
  }
  if (given === null || given === undefined) throw new HttpError(error(status, message));
  if (typeof (given as PromiseLike<unknown>).then === "function") {
    throw new TypeError("ensure: was given a promise; await it first: ensure(await …)");
  }
  return given;
}
