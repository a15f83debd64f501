import { type IncomingMessage, request } from "node:http";

/** A request; the path is sent as it is written, including dots and percent signs. */
export interface Asked {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** A body of JSON, with its content type. */
  readonly json?: unknown;
  /** Ends the connection. */
  readonly signal?: AbortSignal;
}

/** An answer. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly bytes: Buffer;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read bodies without validating them first
  readonly json: any;
}

/** Asks one service, over TCP or a Unix socket. */
export type Ask = (method: string, path: string, asked?: Asked) => Promise<Answer>;

/** How to ask at an address as `tenon.toml` has it: `http://host:port` or `unix:///path`. */
export function askAt(address: string, always: Readonly<Record<string, string>> = {}): Ask {
  const where = address.startsWith("unix://")
    ? { socketPath: address.slice("unix://".length), headers: { host: "store.sidecar.internal" } }
    : { host: new URL(address).hostname, port: new URL(address).port, headers: { host: new URL(address).host } };
  return async (method, path, { headers = {}, body, json, signal } = {}) => {
    const sent = json === undefined ? body : JSON.stringify(json);
    const type = json === undefined ? {} : { "content-type": "application/json" };
    const length = sent === undefined ? {} : { "content-length": String(Buffer.byteLength(sent)) };
    const message = await new Promise<IncomingMessage>((resolve, reject) => {
      const outgoing = request({
        ...where,
        method,
        path,
        agent: false,
        ...(signal === undefined ? {} : { signal }),
        headers: { ...where.headers, ...always, ...type, ...length, ...headers },
      });
      outgoing.once("response", resolve);
      outgoing.once("error", reject);
      outgoing.end(sent);
    });
    const chunks: Buffer[] = [];
    for await (const chunk of message) chunks.push(chunk as Buffer);
    const bytes = Buffer.concat(chunks);
    return {
      status: message.statusCode ?? 0,
      headers: message.headers,
      bytes,
      text: bytes.toString("utf8"),
      get json() {
        return JSON.parse(bytes.toString("utf8"));
      },
    };
  };
}
