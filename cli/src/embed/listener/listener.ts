/** `Runtime.handle`: a request of Node's server from its head to the end of its answer. */
import type { Socket } from "node:net";
import { TenonError } from "../../errors.ts";
import type { Call } from "../calls.ts";
import type { Endable, Exchanges } from "../exchanges.ts";
import { type Abortable, readAhead } from "../request-body.ts";
import { hasBody, type Incoming, isCoded, type Outgoing } from "./incoming.ts";
import { IncomingBody } from "./incoming-body.ts";
import { destroy, type Sending, sendAnswer, sendProblem } from "./outgoing.ts";

/** A request, as `Runtime.handle` passes it on. */
export interface Handled extends Pick<Call, "head" | "peer"> {
  readonly incoming: Incoming;
  readonly outgoing: Outgoing;
  readonly writeTimeoutMs: number;
  /** True when the runtime is being closed. */
  readonly isLast: boolean;
}

/**
 * Answers a request. Resolves when the answer has left, or the client has; never rejects.
 *
 * @param failure the reason why it is not for a module to answer
 */
export async function answer(exchanges: Exchanges | undefined, handled: Handled, failure?: unknown): Promise<void> {
  const { incoming, outgoing, writeTimeoutMs, isLast } = handled;
  // Without listeners, errors of a connection would end the process.
  incoming.on("error", () => {});
  outgoing.on("error", () => {});
  const exchange = new ServedExchange(handled);
  const sending = { isHead: incoming.method === "HEAD", isLast, writeTimeoutMs, signal: exchange };
  const ended = exchanges?.begin(exchange);
  try {
    if (failure !== undefined) throw failure;
    if (exchanges === undefined) throw new TenonError("RESPONSE", "the runtime is closed");
    if (outgoing.headersSent || outgoing.writableEnded) return;
    await call(exchanges, exchange, sending);
  } catch (error) {
    if (!exchange.hasLeft) await explain(outgoing, error, sending);
    else if (!outgoing.writableFinished) destroy(outgoing);
  } finally {
    if (!outgoing.writableEnded && (exchange.hasLeft || outgoing.destroyed)) destroy(outgoing);
    exchange.over();
    ended?.();
  }
}

async function call({ calls }: Exchanges, exchange: ServedExchange, sending: Sending): Promise<void> {
  const { incoming, outgoing } = exchange.handled;
  let body: Awaited<ReturnType<typeof readAhead>> | undefined;
  if (hasBody(incoming)) {
    if (isCoded(incoming)) {
      const detail = "The server supports no transfer coding other than chunked.";
      return await sendProblem(outgoing, 501, detail, {}, { ...sending, isLast: true });
    }
    if (incoming.readableDidRead || incoming.readableEnded) throw new AlreadyRead();
    if (outgoing instanceof Object && "_expect_continue" in outgoing && asksFirst(outgoing)) outgoing.writeContinue();
    body = await readAhead(new IncomingBody(incoming));
  }
  if (exchange.aborted) {
    if (body !== undefined && "reader" in body) body.reader.cancel().catch(() => {});
    return;
  }
  const response = await calls.send(exchange, body, (answered) => answered);
  await sendAnswer(
    outgoing,
    response,
    response.stream === undefined ? undefined : calls.stream(response.stream),
    sending,
  );
}

/** Reports whether a client waits for `100 Continue` still: the server has a listener for `checkContinue`. */
function asksFirst(outgoing: object): outgoing is { writeContinue(): void } {
  const { _expect_continue: expects, _sent100: sent } = outgoing as { _expect_continue?: boolean; _sent100?: boolean };
  return expects === true && sent === false;
}

async function explain(outgoing: Outgoing, error: unknown, sending: Sending): Promise<void> {
  try {
    if (error instanceof AlreadyRead) {
      process.emitWarning(error.message, { type: "TenonWarning", code: "BODY_READ" });
      await sendProblem(outgoing, 500, "The body of this request was read before the module got it.", {}, sending);
    } else if (error instanceof TenonError && error.code === "REQUEST") {
      await sendProblem(outgoing, 400, "This request is not valid HTTP.", {}, { ...sending, isLast: true });
    } else if (sending.isLast) {
      await sendProblem(outgoing, 503, "The server is being closed.", { "retry-after": "1" }, sending);
    } else {
      // The runtime has logged an answer that broke off.
      if (!(error instanceof TenonError)) process.emitWarning(error instanceof Error ? error : String(error));
      await sendProblem(outgoing, 500, "The answer of the module broke off.", {}, sending);
    }
  } catch (failed) {
    // Such as headers that middleware set and HTTP does not allow.
    process.emitWarning(failed instanceof Error ? failed : String(failed));
    destroy(outgoing);
  }
}

class AlreadyRead extends Error {
  constructor() {
    super("`runtime.handle` got a request whose body was read before; put it before `express.json()` and the like");
  }
}

/** The connections that requests came on, with the requests that are answered: one listener for all of a connection. */
const connections = new WeakMap<Socket, Set<ServedExchange>>();

/** A request as the runtime calls for it. It is aborted when its connection closes before its answer has left. */
class ServedExchange implements Abortable, Call, Endable {
  readonly handled: Handled;
  readonly #others: Set<ServedExchange>;
  #reason: unknown;
  #isAborted = false;
  #isOver = false;
  #listener: (() => void) | undefined;

  constructor(handled: Handled) {
    this.handled = handled;
    const { incoming, outgoing } = handled;
    this.#others = ofConnection(incoming.socket);
    this.#others.add(this);
    outgoing.once("close", () => this.gone());
    if (incoming.socket.destroyed) this.gone();
  }

  get head(): string {
    return this.handled.head;
  }

  get peer(): Call["peer"] {
    return this.handled.peer;
  }

  get signal(): this {
    return this;
  }

  get aborted(): boolean {
    return this.#isAborted;
  }

  /** True when the client has left. A body fails, and a stream of HTTP/2 closes, before its response does. */
  get hasLeft(): boolean {
    return this.#isAborted || this.handled.incoming.aborted;
  }

  get reason(): unknown {
    return this.#reason;
  }

  /** There is one listener at a time. */
  addEventListener(_event: string, listener: () => void): void {
    this.#listener = listener;
  }

  removeEventListener(): void {
    this.#listener = undefined;
  }

  /** The client has left. */
  gone(): void {
    if (!this.handled.outgoing.writableFinished) this.#abort(new Error("the client has left"));
  }

  end(reason: TenonError): void {
    this.#abort(reason);
    destroy(this.handled.outgoing);
  }

  over(): void {
    this.#isOver = true;
    this.#others.delete(this);
  }

  #abort(reason: unknown): void {
    if (this.#isAborted || this.#isOver) return;
    [this.#isAborted, this.#reason] = [true, reason];
    this.#listener?.();
  }
}

function ofConnection(socket: Socket): Set<ServedExchange> {
  const known = connections.get(socket);
  if (known !== undefined) return known;
  const exchanges = new Set<ServedExchange>();
  connections.set(socket, exchanges);
  socket.once("close", () => {
    for (const exchange of exchanges) exchange.gone();
  });
  return exchanges;
}
