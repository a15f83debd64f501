/** Servers that do the work of a queue or of cron, which a test kills. Their module passes each call on to the test. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { expect } from "vitest";
import { project } from "./develop.ts";
import { tenon } from "./servers.ts";

const handler = `
import { env, guard, noContent, post, routes, sidecar } from "@tenon/sdk";

export default routes({
  work: post("/", { status: 204 }, async (_, req) => {
    const headers = Object.fromEntries(req.headers);
    const call = { worker: env("WORKER"), headers, json: req.body === undefined ? null : req.json() };
    const answer = await sidecar("recorder").request().post("/").json(call).send();
    guard(answer.status === 204, 500, "the test refuses it");
    return noContent();
  }),
});
`;

/** A call of the module, in the order of all calls. */
export interface RecordedCall<T> {
  /** The worker that was called. */
  readonly worker: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The body. */
  readonly json: T;
}

/** Records calls at a Unix socket, each before it is answered. */
export async function record<T>(
  socket: string,
  answer: (call: RecordedCall<T>) => number | undefined,
): Promise<{ calls: RecordedCall<T>[]; stop(): void }> {
  const calls: RecordedCall<T>[] = [];
  const server = createServer(async (request, response) => {
    // A server asks whether its sidecar is there, without a body.
    if (request.method !== "POST") {
      response.writeHead(204).end();
      return;
    }
    const sent = await text(request).catch(() => undefined);
    // The server was killed while it sent the call.
    if (sent === undefined || !request.complete) return;
    const call = JSON.parse(sent) as RecordedCall<T>;
    calls.push(call);
    const status = answer(call);
    if (status !== undefined) response.writeHead(status).end();
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  return {
    calls,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Builds the project `work`, with its own part of `tenon.toml`. */
export async function buildWorker(name: string, config: string): Promise<string> {
  const at = await project(name, handler, config);
  const built = spawnSync(process.execPath, [tenon, "build"], { cwd: at, encoding: "utf8" });
  expect(built.status, built.stderr).toBe(0);
  return at;
}

/** Starts a server of the project. `sidecars` are their sockets. */
export function startWorker(at: string, worker: string, sidecars: Readonly<Record<string, string>>): ChildProcess {
  const addresses = Object.entries(sidecars).map(([name, socket]) => [
    `TENON_SIDECARS_${name.toUpperCase()}`,
    `unix://${socket}`,
  ]);
  const env = { ...process.env, TENON_ENV_WORKER: worker, ...Object.fromEntries(addresses) };
  return spawn(process.execPath, [tenon, "run", "--port", "0", "-q"], {
    cwd: at,
    env,
    stdio: ["ignore", "ignore", "inherit"],
  });
}

/** Kills a process, and waits for its end. */
export async function killed(child: ChildProcess): Promise<void> {
  const exited = new Promise((resolve) => child.once("close", resolve));
  child.kill("SIGKILL");
  await exited;
}
