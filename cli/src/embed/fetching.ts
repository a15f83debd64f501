/** `Runtime.fetch`: checks of its arguments, aborting, and the end of a runtime. */
import type { NativeResponse } from "@tenon/native";
import { TenonError } from "../errors.ts";
import { headersOf, WholeResponse } from "./answer.ts";
import type { Call, Calls } from "./calls.ts";
import type { Exchanges } from "./exchanges.ts";
import { type Fetched, takenRequest, takenResponse } from "./platform.ts";
import { type Abortable, beginBody } from "./request-body.ts";
import { streamedBody } from "./streamed-body.ts";

/** The code of `Runtime.fetch`. */
export class Fetching {
  readonly #exchanges: Exchanges;

  constructor(exchanges: Exchanges) {
    this.#exchanges = exchanges;
  }

  /** As `Runtime.fetch` has it. */
  async fetch(input: Fetched, init: RequestInit | undefined): Promise<Response> {
    const request = requestOf(input, init);
    const exchange = new FetchedExchange(request);
    const ended = this.#exchanges.begin(exchange);
    const { calls } = this.#exchanges;
    let streams = false;
    try {
      if (exchange.aborted) throw exchange.reason;
      const body = request.body === null ? undefined : await beginBody(request);
      if (exchange.aborted) {
        if (body !== undefined && "reader" in body) body.reader.cancel(exchange.reason).catch(() => {});
        throw exchange.reason;
      }
      // In this turn of the event loop, so that a stream is ended when the request is aborted from now on.
      const answer = await calls.send(exchange, body, (response) => answerOf(calls, response, exchange, ended));
      streams = !(answer instanceof WholeResponse);
      // Modules may answer HEAD as they answer GET. The sender of the answer omits the body (RFC 9110, section 9.3.2),
      // which hyper does on a connection.
      return answer instanceof WholeResponse && request.method === "HEAD" ? answer.withoutBody() : answer;
    } finally {
      if (!streams) ended();
    }
  }
}

/** A streamed answer is a `Response` of Node; `ended` is called at its end. */
function answerOf(
  calls: Calls,
  { status, head, body, stream }: NativeResponse,
  signal: Abortable,
  ended: () => void,
): WholeResponse | Response {
  if (stream === undefined) return new WholeResponse(status, head, body);
  const Response = takenResponse();
  const pieces = streamedBody(calls.stream(stream), signal, ended) as ReadableStream<Uint8Array<ArrayBuffer>>;
  return new Response(pieces, { status, headers: headersOf(head) });
}

/**
 * A request for {@link Calls}. Its signal is aborted with the request's own, and when the runtime ends. It implements
 * that signal itself, because a real `AbortSignal` that follows two others would cost a quarter of a small call.
 */
class FetchedExchange implements Abortable, Call {
  readonly #request: Request;
  #ended: TenonError | undefined;
  #listener: (() => void) | undefined;

  constructor(request: Request) {
    this.#request = request;
  }

  /** The host is in the URL. */
  get head(): string {
    const { method, url, headers } = this.#request;
    let lines = `${method}\n${url}\n`;
    headers.forEach((value, name) => {
      lines += `${name}\n${value}\n`;
    });
    return lines;
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
