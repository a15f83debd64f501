import { type IncomingMessage, request } from "node:http";
import { connect } from "node:net";

/** A request; headers are sent as they are, in order and with repetitions. */
export interface Exchange {
  readonly method?: string;
  readonly path: string;
  /** The `host` header; the server's address when left out. */
  readonly host?: string;
  readonly headers?: readonly (readonly [string, string])[];
  readonly body?: Uint8Array | string;
  /** Send the body in pieces of this many bytes, without announcing its length. */
  readonly chunks?: number;
}

/** An answer. */
export interface Answer {
  readonly status: number;
  /** Name in lower case and value, in order and with repetitions. */
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer;
  header(name: string): string | undefined;
  all(name: string): string[];
  json(): unknown;
}

/** Sends one request on a connection of its own. */
export async function send(
  base: string,
  { method = "GET", path, host, headers = [], body, chunks }: Exchange,
): Promise<Answer> {
  const { hostname, port } = new URL(base);
  const bytes = body === undefined ? undefined : Buffer.from(body);
  const message = await new Promise<IncomingMessage>((resolve, reject) => {
    const sent = [["host", host ?? `${hostname}:${port}`], ...headers, ["connection", "close"]];
    if (bytes !== undefined && chunks === undefined) sent.push(["content-length", String(bytes.length)]);
    const options = { headers: sent.flat() as never, setHost: false, maxHeaderSize: 65_536 };
    const outgoing = request({ hostname, port, method, path, ...options });
    outgoing.once("response", (incoming) => {
      // A server that answers before it has read the body may close while the rest is being sent.
      outgoing.on("error", () => {});
      resolve(incoming);
    });
    outgoing.once("error", reject);
    if (bytes !== undefined && chunks !== undefined) {
      outgoing.useChunkedEncodingByDefault = true;
      for (let at = 0; at < bytes.length; at += chunks) outgoing.write(bytes.subarray(at, at + chunks));
      outgoing.end();
    } else {
      outgoing.end(bytes);
    }
  });
  const pieces: Buffer[] = [];
  for await (const piece of message) pieces.push(piece as Buffer);
  const pairs: [string, string][] = [];
  for (let i = 0; i < message.rawHeaders.length; i += 2) {
    pairs.push([String(message.rawHeaders[i]).toLowerCase(), String(message.rawHeaders[i + 1])]);
  }
  const content = Buffer.concat(pieces);
  return {
    status: message.statusCode ?? 0,
    headers: pairs,
    body: content,
    header: (name) => pairs.find(([each]) => each === name)?.[1],
    all: (name) => pairs.filter(([each]) => each === name).map(([, value]) => value),
    json: () => JSON.parse(content.toString("utf8")),
  };
}

/**
 * Sends bytes that need not be HTTP, and gives all that comes back until the server closes.
 *
 * @param options `halfClose` ends what is sent, and reads on
 */
export function raw(host: string, port: number, bytes: string, { halfClose = false } = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, allowHalfOpen: true }, () =>
      halfClose ? socket.end(bytes) : socket.write(bytes),
    );
    // With half of it open, the socket would wait for this program to close the other.
    socket.once("end", () => socket.end());
    let answer = "";
    socket.on("data", (data) => {
      answer += data.toString("latin1");
    });
    socket.once("close", () => resolve(answer));
    socket.once("error", reject);
  });
}
