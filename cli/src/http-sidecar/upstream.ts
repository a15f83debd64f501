/** Requests to the API behind a sidecar, with a timeout and safe retries. */
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import { TenonError } from "../errors.ts";

/** A request to the API. */
export interface Sent {
  readonly method: string;
  /** The path and the query, as the client wrote them. */
  readonly target: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body: Buffer;
}

/** The reason why there is no answer. */
export class UpstreamError extends Error {
  readonly kind: "timeout" | "unreachable";

  constructor(kind: "timeout" | "unreachable", cause?: unknown) {
    super(kind === "timeout" ? "the upstream took too long" : "the upstream cannot be reached", { cause });
    this.kind = kind;
  }
}

/** Methods that may be repeated (RFC 9110, section 9.2.2). A POST with an `Idempotency-Key` may be repeated, too. */
const IDEMPOTENT = new Set(["GET", "HEAD", "OPTIONS", "PUT", "DELETE"]);
/** Statuses that mean "not now". */
const BUSY = new Set([429, 502, 503, 504]);
const BACKOFF_MS = 100;

/** The third party's API. */
export class Upstream {
  readonly #base: URL;
  readonly #agent: HttpAgent;
  readonly #timeoutMs: number;
  readonly #retries: number;

  /** @throws TenonError `CONFIG` for an invalid URL */
  constructor(url: string, { timeoutMs, retries }: { readonly timeoutMs: number; readonly retries: number }) {
    this.#base = baseOf(url);
    this.#agent =
      this.#base.protocol === "https:" ? new HttpsAgent({ keepAlive: true }) : new HttpAgent({ keepAlive: true });
    this.#timeoutMs = timeoutMs;
    this.#retries = retries;
  }

  /** Value of the `host` header. */
  get host(): string {
    return this.#base.host;
  }

  /**
   * Sends a request, and repeats it after a failure if that is safe. One time limit covers all attempts until the
   * answer's head. It then applies between pieces of the body.
   *
   * @param retried called before each repetition
   * @throws UpstreamError
   */
  async send(sent: Sent, signal: AbortSignal, retried: () => void): Promise<IncomingMessage> {
    const deadline = performance.now() + this.#timeoutMs;
    const repeatable = IDEMPOTENT.has(sent.method) || sent.headers["idempotency-key"] !== undefined;
    for (let attempt = 0; ; attempt++) {
      const left = deadline - performance.now();
      const last = !repeatable || attempt >= this.#retries;
      let wait = BACKOFF_MS * 2 ** attempt * (0.5 + Math.random() / 2);
      try {
        const answer = await this.#attempt(sent, left, signal);
        const after = retryAfter(answer);
        // Without a time to wait, the client should get the 429.
        const again = BUSY.has(answer.statusCode ?? 0) && (answer.statusCode !== 429 || after !== undefined);
        if (last || !again || (after ?? wait) >= deadline - performance.now()) return answer;
        wait = after ?? wait;
        answer.destroy();
      } catch (error) {
        if (last || signal.aborted || (error instanceof UpstreamError && error.kind === "timeout")) throw error;
        if (wait >= deadline - performance.now()) throw error;
      }
      await sleep(wait, undefined, { signal });
      retried();
    }
  }

  close(): void {
    this.#agent.destroy();
  }

  #attempt({ method, target, headers, body }: Sent, left: number, signal: AbortSignal): Promise<IncomingMessage> {
    const send = this.#base.protocol === "https:" ? httpsRequest : httpRequest;
    const path = this.#base.pathname.replace(/\/$/, "") + target;
    return new Promise((resolve, reject) => {
      const { hostname, port, protocol } = this.#base;
      const host = hostname.replace(/^\[|\]$/g, "");
      const outgoing = send({ protocol, host, port, method, path, headers, agent: this.#agent, signal });
      const timer = setTimeout(() => outgoing.destroy(new UpstreamError("timeout")), Math.max(0, left));
      outgoing.once("response", (answer) => {
        clearTimeout(timer);
        outgoing.setTimeout(this.#timeoutMs, () => answer.destroy(new UpstreamError("timeout")));
        resolve(answer);
      });
      outgoing.on("error", (error) => {
        clearTimeout(timer);
        reject(error instanceof UpstreamError ? error : new UpstreamError("unreachable", error));
      });
      outgoing.end(body);
    });
  }
}

function baseOf(text: string): URL {
  let url: URL | undefined;
  try {
    url = new URL(text);
  } catch {
    // Reported below.
  }
  const hint = "give the address of the API: https://api.stripe.com";
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.search !== "" || url.hash !== "") {
    throw new TenonError("CONFIG", "--upstream is not an http or https address", hint);
  }
  if (url.username !== "" || url.password !== "") {
    throw new TenonError(
      "CONFIG",
      "--upstream has credentials, and command lines are seen by every user",
      "use --header-file",
    );
  }
  return url;
}

/** Returns the milliseconds of `Retry-After`, which has seconds or a date (RFC 9110, section 10.2.3). */
function retryAfter({ headers }: IncomingMessage): number | undefined {
  const text = headers["retry-after"];
  if (text === undefined) return undefined;
  const milliseconds = /^\d{1,6}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isNaN(milliseconds) ? undefined : Math.max(0, milliseconds);
}
