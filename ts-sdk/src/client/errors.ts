/**
 * Why a request got no answer: `refused` (nobody listens there), `unreachable` (no such host, no way to it, the connection
 * broke, or the runtime does not allow the host), `timeout`, `too_large` (the answer is over the limit), `invalid` (the
 * request itself can't be sent). StarlingMonkey rejects with one error for all network failures, so that inside a component
 * `refused` is `unreachable` too.
 */
export type HttpClientErrorCode = "refused" | "unreachable" | "timeout" | "too_large" | "invalid";

/** A request of the handler's own that got no answer. Its message names the host, and nothing of the query or headers. */
export class HttpClientError extends Error {
  readonly code: HttpClientErrorCode;

  constructor(code: HttpClientErrorCode, message: string, options?: { cause: unknown }) {
    super(message, options);
    this.name = "HttpClientError";
    this.code = code;
  }
}

// What engines put into the error that fetch rejects with, or into its cause: Node's system codes, WASI's error codes.
const REFUSED = /refused|denied|prohibited/i;

/** Tells a refused connection from all other reasons why a host was not reached. */
export function networkErrorCode(thrown: unknown): "refused" | "unreachable" {
  const { message, cause } = thrown as { message?: string; cause?: { code?: string; message?: string } };
  return REFUSED.test(`${message} ${cause?.code} ${cause?.message}`) ? "refused" : "unreachable";
}
