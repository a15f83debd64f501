/** Sidecars that are slow, reset, lie about their length, or are in order, with short answers or one of 10 MB. */
import { createServer, type Server, type Socket } from "node:net";
import { freePort } from "../../testing/free-port.ts";

const BIG = 10_000_000;
const big = `HTTP/1.1 200 OK\r\ncontent-length: ${BIG}\r\n\r\n${"x".repeat(BIG)}`;

/** The behaviour of each on a connection after a request. */
const manners = {
  big: (socket: Socket) => socket.write(big),
  good: (socket: Socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\ngood"),
  slow: () => {},
  resets: (socket: Socket) => socket.resetAndDestroy(),
  liar: (socket: Socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\nless"),
  nonsense: (socket: Socket) => socket.end("SSH-2.0-OpenSSH_9.9\r\n"),
};

export type Manner = keyof typeof manners;

export interface Sidecars {
  /** `http://127.0.0.1:<port>` by name; `away` is one where nobody listens. */
  readonly urls: Readonly<Record<Manner | "away", string>>;
  close(): void;
}

/** Starts one of each. */
export async function startSidecars(): Promise<Sidecars> {
  const open = new Set<Socket>();
  const servers: Server[] = [];
  const urls: Record<string, string> = {};
  for (const [name, behave] of Object.entries(manners)) {
    const server = createServer((socket) => {
      open.add(socket);
      socket.on("close", () => open.delete(socket));
      socket.on("error", () => {});
      socket.on("data", () => behave(socket));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    servers.push(server);
    urls[name] = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
  }
  urls["away"] = `http://127.0.0.1:${await freePort()}`;
  const close = () => {
    for (const server of servers) server.close();
    for (const socket of open) socket.destroy();
  };
  return { urls: urls as Sidecars["urls"], close };
}
