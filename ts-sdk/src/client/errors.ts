/**
 * Why a request got no answer: `refused` (nobody listens there, or the runtime does not allow the host), `unreachable` (no
 * such host, no way to it, or the connection broke), `timeout`, `too_large` (the answer is over the limit), `invalid` (the
 * request itself can't be sent). On a server that does not know {@link EGRESS_HEADER}, `refused` is `unreachable` inside a
 * component: StarlingMonkey rejects with one error for all network failures.
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

/**
 * The engine keeps from a guest why a request got no answer. So the client asks Tenon's runtime with this header and the
 * value `explain`; the runtime never passes it on, and instead of failing answers with the header saying why: `refused`,
 * `timeout`, or `unreachable`. Only who asks is answered so: a plain `fetch` fails as it does everywhere.
 */
export const EGRESS_HEADER = "tenon-egress";

/** The code for what the runtime says. */
export function explainedCode(why: string): "refused" | "timeout" | "unreachable" {
  return why === "refused" || why === "timeout" ? why : "unreachable";
}

// What engines put into the error that fetch rejects with, or into its cause: Node's system codes, WASI's error codes.
const REFUSED = /refused|denied|prohibited/i;

/** Tells a refused connection from all other reasons why a host was not reached. */
export function networkErrorCode(thrown: unknown): "refused" | "unreachable" {
  const { message, cause } = thrown as { message?: string; cause?: { code?: string; message?: string } };
  return REFUSED.test(`${message} ${cause?.code} ${cause?.message}`) ? "refused" : "unreachable";
}
