/** The stdio transport of the Model Context Protocol, in front of a server that speaks its HTTP. */
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";

/** The server behind the transport. */
export interface StdioTarget {
  /** The URL of `POST /mcp`. */
  readonly url: string;
  /** The caller's headers, such as its credentials. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  fetch(request: Request): Promise<Response>;
}

/** The members of a message that the transport reads. */
interface Message {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: {
    readonly name?: unknown;
    readonly requestId?: unknown;
    readonly _meta?: Readonly<Record<string, unknown>>;
  };
}

/** The time for the last answers after the input has ended. */
const GRACE_MS = 5_000;
const VERSION = "io.modelcontextprotocol/protocolVersion";

/**
 * Passes messages on, one a line, until the input ends; requests run at the same time. `notifications/cancelled` ends its
 * request, which gets no answer then, as a client of HTTP does by closing the connection.
 *
 * @param write takes each message of the server, without a line break in it
 */
export async function serveStdio(input: Readable, write: (line: string) => void, target: StdioTarget): Promise<void> {
  const pending = new Map<unknown, AbortController>();
  const open = new Set<Promise<void>>();
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line.trim() === "") continue;
    const message = parsed(line);
    if (message?.method === "notifications/cancelled") pending.get(message.params?.requestId)?.abort();
    const abort = new AbortController();
    if (message?.id !== undefined) pending.set(message.id, abort);
    const one = pass(line, message, abort.signal, write, target).finally(() => {
      if (pending.get(message?.id) === abort) pending.delete(message?.id);
      open.delete(one);
    });
    open.add(one);
  }
  // A pipe may end before its answers have come.
  const timer = setTimeout(() => {
    for (const abort of pending.values()) abort.abort();
  }, GRACE_MS);
  await Promise.all(open);
  clearTimeout(timer);
}

async function pass(
  line: string,
  message: Message | undefined,
  signal: AbortSignal,
  write: (line: string) => void,
  { url, headers, fetch }: StdioTarget,
): Promise<void> {
  const id = message?.id;
  try {
    const own = new Headers(headers.map(([name, value]): [string, string] => [name, value]));
    own.set("content-type", "application/json");
    own.set("accept", "application/json, text/event-stream");
    for (const [name, value] of metadataOf(message)) own.set(name, value);
    const answer = await fetch(new Request(url, { method: "POST", headers: own, body: line, signal }));
    const type = answer.headers.get("content-type") ?? "";
    if (answer.status === 202) return;
    if (type.startsWith("text/event-stream") && answer.body !== null) {
      for await (const data of eventsIn(answer.body)) if (!signal.aborted) write(data);
      return;
    }
    const text = await answer.text();
    if (signal.aborted) return;
    if (type.startsWith("application/json")) write(JSON.stringify(JSON.parse(text)));
    else write(failure(id, answer.status === 404 ? noTools(url) : `${url} answered ${answer.status}`));
  } catch (error) {
    if (!signal.aborted) write(failure(id, `cannot reach ${url}: ${reason(error as Error)}`));
  }
}

/** The headers of HTTP that repeat a message of the stateless revision, which stdio does not have. */
function metadataOf(message: Message | undefined): [name: string, value: string][] {
  const version = message?.params?._meta?.[VERSION];
  if (typeof version !== "string" || typeof message?.method !== "string") return [];
  const name = message.params?.name;
  const pairs: [string, string][] = [
    ["mcp-protocol-version", encoded(version)],
    ["mcp-method", encoded(message.method)],
  ];
  if (typeof name === "string") pairs.push(["mcp-name", encoded(name)]);
  return pairs;
}

/** A header's value; base64 where the text can't be in a header. */
function encoded(text: string): string {
  const isPlain = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !/^=\?base64\?.*\?=$/.test(text);
  return isPlain ? text : `=?base64?${Buffer.from(text).toString("base64")}?=`;
}

function parsed(line: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    // The server answers with the protocol's error.
    return undefined;
  }
}

function noTools(url: string): string {
  return `there are no tools at ${url}: an app has them with the option \`mcp\` of routes(…)`;
}

/** The message of a failed fetch is in its cause. */
function reason({ message, cause }: Error): string {
  return cause instanceof Error && cause.message !== "" ? cause.message : message;
}

function failure(id: string | number | undefined, message: string): string {
  return JSON.stringify({ jsonrpc: "2.0", id: id ?? null, error: { code: -32603, message } });
}

/** The data of the events in a stream (HTML, section 9.2.6). */
async function* eventsIn(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const piece of body as unknown as AsyncIterable<Uint8Array>) {
    const events = (rest + decoder.decode(piece, { stream: true })).split(/\r\n\r\n|\n\n|\r\r/);
    rest = events.pop() ?? "";
    for (const event of events) {
      const data = event.split(/\r\n|\n|\r/).flatMap((line) => /^data: ?(.*)$/.exec(line)?.[1] ?? []);
      if (data.length > 0) yield data.join("\n");
    }
  }
}
