/** Listens at a Unix socket, and ends its connections at the stop. */

import { chmodSync, rmSync, statSync } from "node:fs";
import type { Server as HttpServer, IncomingMessage, ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { TenonError } from "../errors.ts";

/** Only the server's user can connect. */
const SOCKET_MODE = 0o600;

/** Milliseconds for running requests after a stop; the same as in the sidecars. */
const SHUTDOWN_MS = 10_000;

/** A listening server. */
export interface Bound {
  /** Its address: `unix:///run/admin.sock`. */
  readonly address: string;
  /** Stops listening, and resolves when running requests are done or their time is over. */
  stop(): Promise<void>;
}

/**
 * Listens at `unix:///run/admin.sock`. Replaces a socket without a listener.
 *
 * @throws TenonError `CONFIG` for an invalid address, and on Windows; `ADDRESS_IN_USE` and `LISTEN`
 */
export async function listen(server: HttpServer, address: string): Promise<Bound> {
  const path = /^unix:\/\/(\/.*[^/])$/.exec(address)?.[1];
  if (path === undefined) {
    throw new TenonError("CONFIG", `\`${address}\` is nowhere to listen: write unix:///run/admin.sock`);
  }
  if (process.platform === "win32") {
    throw new TenonError("CONFIG", `\`${address}\` needs a Unix socket, which Tenon does not have on Windows`);
  }
  const connections = new Connections(server);
  if (statSync(path, { throwIfNoEntry: false })?.isSocket() === true) {
    if (await answers(path)) throw new TenonError("ADDRESS_IN_USE", `${address} is in use`);
    rmSync(path, { force: true });
  }
  // No one may connect before the mode restricts it.
  const before = process.umask(0o777 & ~SOCKET_MODE);
  try {
    await bind(server, path, address);
  } finally {
    process.umask(before);
  }
  chmodSync(path, SOCKET_MODE);
  return {
    address,
    stop: async () => {
      const closed = connections.close();
      rmSync(path, { force: true });
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

function bind(server: HttpServer, path: string, shown: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EADDRINUSE") reject(new TenonError("ADDRESS_IN_USE", `${shown} is in use`, undefined, error));
      else reject(new TenonError("LISTEN", `cannot listen at ${shown}: ${error.message}`, undefined, error));
    });
    server.listen(path, () => resolve());
  });
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path, () => resolve(true));
    socket.once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}
