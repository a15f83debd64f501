/** Listens like the other sidecars (`crates/services/src/sidecar/listen.rs`). */

import { chmodSync, rmSync, statSync } from "node:fs";
import type { Server as HttpServer, IncomingMessage, ServerResponse } from "node:http";
import { connect, isIPv4, type Server, type Socket } from "node:net";
import { TenonError } from "../errors.ts";

/** Read and write for the socket's owner and group: nobody else can connect. */
const SOCKET_MODE = 0o660;

/** Milliseconds for running requests after a stop; the same as in the other sidecars. */
const SHUTDOWN_MS = 10_000;

/** A listening server. */
export interface Bound {
  /** Its address in the form of `tenon.toml`: `unix:///run/stripe.sock` or `http://127.0.0.1:7004`. */
  readonly address: string;
  /** True when it is a loopback address, which web pages in this machine's browsers can reach. */
  readonly loopback: boolean;
  /** Stops listening, and resolves when running requests are done or their time is over. */
  stop(): Promise<void>;
}

/** An address at which a server listens. */
type ListenAddress = Pick<Bound, "address" | "loopback"> & {
  /** Removes the socket. */
  release(): void;
};

/**
 * Listens at `unix:///run/stripe.sock` or `127.0.0.1:7004`. Replaces a socket without a listener.
 *
 * @throws TenonError `CONFIG` for an invalid address, `ADDRESS_IN_USE` and `LISTEN`
 */
export async function listen(server: HttpServer, text: string, socketMode = SOCKET_MODE): Promise<Bound> {
  const connections = new Connections(server);
  const place = await listenAt(server, text, socketMode);
  return {
    address: place.address,
    loopback: place.loopback,
    stop: async () => {
      const closed = connections.close();
      place.release();
      await closed;
    },
  };
}

/**
 * The connections of a server, with the number of running requests on each. Node counts a connection without data as
 * busy and would wait for it forever, and clients open such connections ahead.
 */
class Connections {
  readonly #server: HttpServer;
  readonly #requests = new Map<Socket, number>();
  #closing = false;

  constructor(server: HttpServer) {
    this.#server = server;
    server.on("connection", (socket: Socket) => {
      this.#requests.set(socket, 0);
      socket.once("close", () => this.#requests.delete(socket));
    });
    server.on("request", ({ socket }: IncomingMessage, res: ServerResponse) => {
      this.#count(socket, 1);
      res.once("close", () => {
        this.#count(socket, -1);
        if (this.#closing) this.#endIdle(socket);
      });
    });
  }

  async close(): Promise<void> {
    this.#closing = true;
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#requests.keys()) this.#endIdle(socket);
    const late = setTimeout(() => this.#server.closeAllConnections(), SHUTDOWN_MS);
    await closed;
    clearTimeout(late);
  }

  #count(socket: Socket, change: 1 | -1): void {
    const running = this.#requests.get(socket);
    if (running !== undefined) this.#requests.set(socket, running + change);
  }

  #endIdle(socket: Socket): void {
    if (this.#requests.get(socket) === 0) socket.destroySoon();
  }
}

async function listenAt(server: Server, text: string, socketMode: number): Promise<ListenAddress> {
  if (text.startsWith("unix://")) return listenAtSocket(server, text, socketMode);
  const [, bracketed, plain, port] =
    /^(?:http:\/\/)?(?:\[([0-9A-Fa-f:.]+)\]|([^\s:/[\]]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined || Number(port) > 65_535) throw nowhere(text);
  await bind(server, { host, port: Number(port) }, text);
  const { address, port: bound } = server.address() as { address: string; port: number };
  const loopback = address === "::1" || (isIPv4(address) && address.startsWith("127."));
  return {
    address: `http://${address.includes(":") ? `[${address}]` : address}:${bound}`,
    loopback,
    release: () => {},
  };
}

async function listenAtSocket(server: Server, text: string, mode: number): Promise<ListenAddress> {
  const path = text.slice("unix://".length);
  if (!path.startsWith("/") || path.endsWith("/")) throw nowhere(text);
  if (isSocket(path)) {
    if (await answers(path)) throw new TenonError("ADDRESS_IN_USE", `${text} is in use`);
    rmSync(path, { force: true });
  }
  // No one may connect before the mode restricts it.
  const before = process.umask(0o777 & ~mode);
  try {
    await bind(server, { path }, text);
  } finally {
    process.umask(before);
  }
  chmodSync(path, mode);
  return { address: `unix://${path}`, loopback: false, release: () => rmSync(path, { force: true }) };
}

function bind(server: Server, where: { host: string; port: number } | { path: string }, shown: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EADDRINUSE") reject(new TenonError("ADDRESS_IN_USE", `${shown} is in use`, undefined, error));
      else reject(new TenonError("LISTEN", `cannot listen at ${shown}: ${error.message}`, undefined, error));
    });
    server.listen(where, () => resolve());
  });
}

function isSocket(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isSocket() === true;
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path, () => resolve(true));
    socket.once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}

function nowhere(text: string): TenonError {
  return new TenonError("CONFIG", `\`${text}\` is nowhere to listen: write unix:///run/stripe.sock or 127.0.0.1:7004`);
}
