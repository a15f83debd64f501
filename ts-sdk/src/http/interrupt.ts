/** Thrown answers: `guard`, `ensure`, and their error. */
import { type ErrorExtra, type ErrorResponse, error, type Response } from "./response.ts";

/**
 * An exception that is an answer: thrown by `guard` and `ensure`, and by a request's `json()`.
 *
 * @example
 * if (thrown instanceof HttpError) return thrown.response;
 */
export class HttpError extends Error {
  /** The answer that the client gets. */
  readonly response: Response;

  constructor(response: ErrorResponse) {
    super(response.body.detail ?? response.body.title);
    this.name = "HttpError";
    this.response = response;
  }
}

/**
 * Answers with the error unless the condition holds, with the members of `extra`. It narrows the condition's type for the
 * code after it.
 *
 * @example
 * guard(body.name !== "", 400, "name must not be empty");
 * @throws HttpError, which the SDK turns into the answer.
 */
export function guard(condition: unknown, status: number, message: string, extra?: ErrorExtra): asserts condition {
  if (!condition) throw new HttpError(error(status, message, extra));
}

/**
 * `Then`, unless `T` is a promise, which `ensure` can't inspect. Two steps, so that a type parameter of a generic
 * caller fits: for `any`, which the type checker tries in its place, nothing is pending.
 */
export type Settled<T, Then> = "pending" extends Progress<T> ? "await the promise first: ensure(await …)" : Then;
type Progress<T> = [Extract<T, PromiseLike<unknown>>] extends [never]
  ? "settled"
  : [0] extends [1 & T]
    ? "settled"
    : "pending";

/**
 * Returns the value; answers with the error, and the members of `extra`, for null, undefined, and a function that throws.
 *
 * @example const user = ensure(await find(id), 404, "no such user");
 * @example const filter = ensure(() => parseFilter(text), 400, "not a filter");
 * @throws HttpError, which the SDK turns into the answer.
 */
export function ensure<T>(
  value: T | (() => T),
  status: Settled<T, number>,
  message: string,
  extra?: ErrorExtra,
): NonNullable<T>;
export function ensure(value: unknown, status: number, message: string, extra?: ErrorExtra): unknown {
  let given = value;
  if (typeof value === "function") {
    try {
      given = value();
    } catch {
      throw new HttpError(error(status, message, extra));
    }
  }
  if (given === null || given === undefined) throw new HttpError(error(status, message, extra));
  if (typeof (given as PromiseLike<unknown>).then === "function") {
    throw new TypeError("ensure: was given a promise; await it first: ensure(await …)");
  }
  return given;
}
