/** The answer of a module, written to a response of Node's server. */
import { type ServerResponse, STATUS_CODES } from "node:http";
import type { NativeResponse } from "@tenon/native";
import { PROBLEM_TYPE, problemOf } from "../../problem.ts";
import type { Abortable } from "../request-body.ts";
import type { PieceSource } from "../streamed-body.ts";
import { hopByHop, type Outgoing } from "./incoming.ts";
import { discard } from "./incoming-body.ts";

/** Bytes that are written at once. */
const PIECE = 64 * 1024;

/** The answer's circumstances. */
export interface Sending {
  /** True when the request was `HEAD`. */
  readonly isHead: boolean;
  /** True when the connection is to be closed after it. */
  readonly isLast: boolean;
  /** Aborted when the client has left. */
  readonly signal: Abortable;
  /** Time in which a client must read something, after which its connection is closed. */
  readonly writeTimeoutMs: number;
  /** Ends what is waited for. A response that never had a connection, because it stood behind another one, has no event for it. */
  wake?: (() => void) | undefined;
}

/**
 * Sends an answer. Resolves when it has left, or when the client has, which ends the stream in the module.
 *
 * @param source the pieces of a streamed answer, which is ended in any case
 * @throws TenonError `RESPONSE` when the module's stream broke off; the response has to be destroyed then
 */
export async function sendAnswer(
  outgoing: Outgoing,
  { status, head, body }: NativeResponse,
  source: PieceSource | undefined,
  sending: Sending,
): Promise<void> {
  let isEnded = source === undefined;
  try {
    const declared = writeHead(outgoing, status, head, source === undefined ? body.byteLength : undefined, sending);
    if (sending.isHead || isBodyless(status)) return await end(outgoing, undefined, sending);
    if (source === undefined) return await sendWhole(outgoing, body, sending);
    // A module that makes no piece would be waited for.
    sending.signal.addEventListener("abort", () => {
      source.end();
      sending.wake?.();
    });
    if (sending.signal.aborted) return;
    (outgoing as ServerResponse).flushHeaders();
    let sent = 0;
    for (;;) {
      const piece = await source.piece();
      if (piece === null) break;
      sent += piece.byteLength;
      if (declared !== undefined && sent > declared) return destroy(outgoing);
      if (!(await write(outgoing, piece, sending))) return;
    }
    isEnded = true;
    if (declared !== undefined && sent < declared) return destroy(outgoing);
    return await end(outgoing, undefined, sending);
  } finally {
    if (!isEnded) source?.end();
  }
}

/** Answers with problem details, or ends the connection of an answer that has begun. */
export async function sendProblem(
  outgoing: Outgoing,
  status: number,
  detail: string,
  headers: Readonly<Record<string, string>>,
  sending: Sending,
): Promise<void> {
  if (outgoing.headersSent) return destroy(outgoing);
  const body = Buffer.from(JSON.stringify(problemOf(status, detail)));
  const lines = Object.entries({ "content-type": PROBLEM_TYPE, ...headers }).flat();
  writeHead(outgoing, status, lines.join("\n"), body.byteLength, sending);
  await end(outgoing, sending.isHead ? undefined : body, sending);
}

/** Ends the connection of a response, or its stream of HTTP/2. */
export function destroy(outgoing: Outgoing): void {
  // NGHTTP2_INTERNAL_ERROR
  if ("stream" in outgoing) outgoing.stream?.close(2);
  else outgoing.destroy();
  endUnsent(outgoing);
}

/** Marks a destroyed response as ended, because Fastify calls a route of its own for one that is not. Nothing is sent. */
function endUnsent(outgoing: Outgoing): void {
  if (outgoing.writableEnded) return;
  try {
    outgoing.end();
  } catch {
    // The head of a closed stream of HTTP/2 cannot be written.
  }
  // The response of a stream that its client closed is never ended.
  if (!outgoing.writableEnded) Object.defineProperty(outgoing, "writableEnded", { value: true });
}

/**
 * Sets the status and the headers. Those that middleware set stay, unless the module has them, too.
 *
 * @returns the length that the module declared for a streamed body
 */
function writeHead(
  outgoing: Outgoing,
  status: number,
  head: string,
  length: number | undefined,
  { isHead, isLast }: Sending,
): number | undefined {
  const headers = new Map<string, string[]>();
  const lines = head === "" ? [] : head.split("\n");
  for (let i = 0; i < lines.length; i += 2) {
    const [name = "", value = ""] = lines.slice(i, i + 2);
    if (!hopByHop.has(name)) headers.set(name, [...(headers.get(name) ?? []), value]);
  }
  const declared = headers.get("content-length")?.[0];
  // Those of an answer to HEAD, and of 304, are about another one's body.
  if (length !== undefined && !isBodyless(status) && !(isHead && length === 0))
    headers.set("content-length", [String(length)]);
  const isHttp1 = !("stream" in outgoing);
  if (isLast && isHttp1) headers.set("connection", ["close"]);
  for (const [name, values] of headers) outgoing.setHeader(name, values.length === 1 ? (values[0] as string) : values);
  outgoing.statusCode = status;
  if (isHttp1) outgoing.statusMessage = STATUS_CODES[status] ?? "";
  return length === undefined && declared !== undefined ? Number(declared) : undefined;
}

/** Statuses whose answers have no body (RFC 9110, section 6.4.1). */
function isBodyless(status: number): boolean {
  return status === 204 || status === 205 || status === 304;
}

async function sendWhole(outgoing: Outgoing, body: Uint8Array, sending: Sending): Promise<void> {
  let rest = body;
  for (; rest.byteLength > PIECE; rest = rest.subarray(PIECE)) {
    if (!(await write(outgoing, rest.subarray(0, PIECE), sending))) return;
  }
  await end(outgoing, rest, sending);
}

/** Writes a piece, and waits until there is room for the next one. False when the client has left. */
async function write(outgoing: Outgoing, piece: Uint8Array, sending: Sending): Promise<boolean> {
  if (isGone(outgoing, sending)) return false;
  const hasRoom = (outgoing as ServerResponse).write(piece);
  // Middleware that compresses holds back what is not flushed.
  if ("flush" in outgoing && typeof outgoing.flush === "function") outgoing.flush();
  return hasRoom || (await happens(outgoing, "drain", sending));
}

async function end(outgoing: Outgoing, last: Uint8Array | undefined, sending: Sending): Promise<void> {
  if (isGone(outgoing, sending)) return;
  if (losesUnread(outgoing) && last !== undefined && last.byteLength > 0) {
    // The client has the whole answer by its length, and its connection stays until it has sent the rest.
    if (!(await write(outgoing, last, sending))) return;
    last = undefined;
    await discard(outgoing.req);
    if (isGone(outgoing, sending)) return;
  }
  const finished = happens(outgoing, "finish", sending);
  if (last === undefined || last.byteLength === 0) outgoing.end();
  else (outgoing as ServerResponse).end(last);
  await finished;
}

/** Reports whether the connection closes after the answer while its client still sends, which loses the answer. */
function losesUnread(outgoing: Outgoing): outgoing is ServerResponse {
  return (
    "shouldKeepAlive" in outgoing &&
    !outgoing.shouldKeepAlive &&
    !outgoing.req.complete &&
    outgoing.hasHeader("content-length")
  );
}

function isGone(outgoing: Outgoing, { signal }: Sending): boolean {
  return (
    signal.aborted ||
    outgoing.destroyed ||
    outgoing.writableEnded ||
    ("stream" in outgoing && outgoing.stream?.destroyed !== false)
  );
}

/** Waits for an event. Resolves to false when the response is closed before; one that stalls is closed. */
function happens(outgoing: Outgoing, event: "drain" | "finish", sending: Sending): Promise<boolean> {
  return new Promise((resolve) => {
    const settle = (happened: boolean) => {
      clearTimeout(late);
      sending.wake = undefined;
      outgoing.off(event, done).off("close", closed).off("error", closed);
      resolve(happened);
    };
    const done = () => settle(true);
    const closed = () => settle(false);
    const late = setTimeout(() => {
      destroy(outgoing);
      settle(false);
    }, sending.writeTimeoutMs);
    sending.wake = closed;
    outgoing.once(event, done).once("close", closed).once("error", closed);
  });
}
