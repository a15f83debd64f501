import type { EGRESS } from "../abi.ts";
/**
 * The reason why a request got no answer: `refused` (the connection was refused, or the runtime does not allow the
 * host), `unreachable` (no such host, no route to it, or the connection broke), `timeout`, `too_large` (the answer is
 * over the limit), `invalid` (the request itself can't be sent). On a server that does not know {@link EGRESS},
 * `refused` is `unreachable` inside a component, because such a server reports all network failures
 * alike.
 */
export type HttpClientErrorCode = "refused" | "unreachable" | "timeout" | "too_large" | "invalid";

/** A request of the handler's own that got no answer. Its message names the host, but neither query nor headers. */
export class HttpClientError extends Error {
  readonly code: HttpClientErrorCode;

  constructor(code: HttpClientErrorCode, message: string, options?: { cause: unknown }) {
    super(message, options);
    this.name = "HttpClientError";
    this.code = code;
  }
}

/** Converts the runtime's reason to a code. */
export function explainedCode(why: string): "refused" | "timeout" | "unreachable" {
  return why === "refused" || why === "timeout" ? why : "unreachable";
}

// Words in the error that fetch rejects with, or in its cause: Node's system codes, WASI's error codes.
const REFUSED = /refused|denied|prohibited/i;

/** Distinguishes a refused connection from all other network failures. */
export function networkErrorCode(thrown: unknown): "refused" | "unreachable" {
  const { message, cause } = thrown as { message?: string; cause?: { code?: string; message?: string } };
  return REFUSED.test(`${message} ${cause?.code} ${cause?.message}`) ? "refused" : "unreachable";
}
