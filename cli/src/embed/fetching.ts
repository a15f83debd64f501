/** `Runtime.fetch`: checks of its arguments, aborting, and the end of a runtime. */
import type { Runtime as NativeRuntime } from "@tenon/native";
import { TenonError } from "../errors.ts";
import { WholeResponse } from "./answer.ts";
import { Calls } from "./calls.ts";
import { type Fetched, takenRequest } from "./platform.ts";
import { type Abortable, beginBody } from "./request-body.ts";

/** The requests of this process in progress: the code of `Runtime.fetch`, and its end. */
export class Fetching {
  readonly #calls: Calls;
  readonly #running = new Set<Exchange>();
  #idle: (() => void) | undefined;

  constructor(runtime: NativeRuntime) {
    this.#calls = new Calls(runtime);
  }

  /** As `Runtime.fetch` has it. */
  async fetch(input: Fetched, init: RequestInit | undefined): Promise<Response> {
    const request = requestOf(input, init);
    const exchange = new Exchange(request);
    this.#running.add(exchange);
    const ended = () => {
      this.#running.delete(exchange);
      if (this.#running.size === 0) this.#idle?.();
    };
    let streams = false;
    try {
      if (exchange.aborted) throw exchange.reason;
      const body = request.body === null ? undefined : await beginBody(request);
      if (exchange.aborted) {
        if (body !== undefined && "reader" in body) body.reader.cancel(exchange.reason).catch(() => {});
        throw exchange.reason;
      }
      const answer = await this.#calls.send(exchange as unknown as Request, body, ended);
      streams = !(answer instanceof WholeResponse);
      // Modules may answer HEAD as they answer GET. The sender of the answer omits the body (RFC 9110, section 9.3.2),
      // which hyper does on a connection.
      return answer instanceof WholeResponse && request.method === "HEAD" ? answer.withoutBody() : answer;
    } finally {
      if (!streams) ended();
    }
  }

  /**
   * Resolves when running requests have been answered, with streams to their end; after `timeoutMs` they are cut off.
   */
  async end(timeoutMs: number): Promise<void> {
    if (this.#running.size === 0) return;
    const idle = new Promise<void>((resolve) => {
      this.#idle = resolve;
    });
    const cut = new TenonError("RESPONSE", "the runtime was closed before the request was answered");
    const late = setTimeout(() => {
      for (const exchange of this.#running) exchange.end(cut);
    }, timeoutMs);
    await idle;
    clearTimeout(late);
  }
}

/**
 * A request for {@link Calls}. Its signal is aborted with the request's own, and when the runtime ends. It implements
 * that signal itself, because a real `AbortSignal` that follows two others would cost a quarter of a small call.
 */
class Exchange implements Abortable {
  readonly #request: Request;
  #ended: TenonError | undefined;
  #listener: (() => void) | undefined;

  constructor(request: Request) {
    this.#request = request;
  }

  get method(): string {
    return this.#request.method;
  }

  get url(): string {
    return this.#request.url;
  }

  get headers(): Headers {
    return this.#request.headers;
  }

  get signal(): this {
    return this;
  }

  get aborted(): boolean {
    return this.#ended !== undefined || this.#request.signal.aborted;
  }

  get reason(): unknown {
    return this.#ended ?? this.#request.signal.reason;
  }

  /** There is one listener at a time: of who waits for the answer, then of a streamed answer. */
  addEventListener(event: string, listener: () => void): void {
    this.#listener = listener;
    this.#request.signal.addEventListener(event, listener, { once: true });
  }

  removeEventListener(event: string, listener: () => void): void {
    this.#listener = undefined;
    this.#request.signal.removeEventListener(event, listener);
  }

  end(reason: TenonError): void {
    if (this.aborted) return;
    this.#ended = reason;
    this.#listener?.();
  }
}

function requestOf(input: Fetched, init: RequestInit | undefined): Request {
  // By their names: requests may be those of the package undici or of a server, and URLs those of another realm.
  const kind = Object.prototype.toString.call(input);
  const Request = takenRequest();
  if (kind === "[object Request]") {
    if (init === undefined) return input as Request;
    return new Request((input as Request).url, partsOf(input as Request, init));
  }
  if (typeof input === "string" || kind === "[object URL]") return new Request(input, init);
  throw new TenonError("CONFIG", "`fetch` expects a Request, or a URL and the options of `new Request`");
}

/** As `new Request(request, init)` has it; but Node's constructor reads requests of its own class only. */
function partsOf(request: Request, init: RequestInit): RequestInit {
  return {
    ...init,
    method: init.method ?? request.method,
    headers: init.headers ?? request.headers,
    body: init.body ?? request.body,
    signal: init.signal === undefined ? request.signal : init.signal,
    duplex: "half",
  };
}
