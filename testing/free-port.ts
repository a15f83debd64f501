import { createServer } from "node:net";

/**
 * The first of the ports to choose from, and how many there are. They are below those that systems assign by themselves, to clients and
 * for port 0: a process that starts meanwhile is not assigned a port that a test has chosen.
 */
const [FIRST, COUNT] = [20_000, 10_000];

/** The ports that this process has chosen so far. */
const chosen = new Set<number>();

/** Chooses a port of this machine that nothing listens on now. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    if (chosen.has(port) || !(await isFree(port))) continue;
    chosen.add(port);
    return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const listens = await new Promise<boolean>((resolve) => {
    server.once("error", () => resolve(false)).listen(port, "127.0.0.1", () => resolve(true));
  });
  if (listens) await new Promise((resolve) => server.close(resolve));
  return listens;
}
