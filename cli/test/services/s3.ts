/** Storage on S3: a server that speaks its protocol, moto (PyPI `moto[server]`), when it is there. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";
import { Sidecar } from "../../src/sidecar.ts";
import { askAt } from "./ask.ts";
import { folder } from "./stores.ts";
import type { Target } from "./targets.ts";

const cache = process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache");
const server = [process.env["MOTO_SERVER"], join(cache, "tenon-ci/moto/bin/moto_server")].find(
  (file) => file !== undefined && existsSync(file) && spawnSync(file, ["--help"]).status === 0,
);

if (server === undefined) {
  process.stderr.write(
    "services: storage on S3 is left out, there is no moto_server: pip install 'moto[server]', and name it in MOTO_SERVER\n",
  );
}

/** The sidecar over a bucket; none where there is no server. */
export const s3Targets: readonly Target[] =
  server === undefined ? [] : [{ name: "sidecar on S3, Unix", start: () => start(server) }];

async function start(file: string): ReturnType<Target["start"]> {
  const directory = folder();
  const port = await freePort();
  const running: ChildProcess = spawn(file, ["-H", "127.0.0.1", "-p", String(port)], { stdio: "ignore" });
  const endpoint = `http://127.0.0.1:${port}`;
  await answers(`${endpoint}/`);
  await fetch(`${endpoint}/bucket`, { method: "PUT" });
  // As an operator would: the environment of the process has the credentials and where the server is.
  Object.assign(process.env, {
    AWS_ACCESS_KEY_ID: "key",
    AWS_SECRET_ACCESS_KEY: "secret",
    AWS_REGION: "us-east-1",
    AWS_ENDPOINT: endpoint,
    AWS_ALLOW_HTTP: "true",
  });
  const listen = `unix://${join(directory, "s3.sock")}`;
  const sidecar = await Sidecar.start({ kind: "storage", url: "s3://bucket", listen, logLevel: "off" });
  return {
    ask: askAt(sidecar.address),
    address: sidecar.address,
    stop: async () => {
      await sidecar.close();
      const ended = new Promise((resolve) => running.once("exit", resolve));
      running.kill("SIGTERM");
      await ended;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function answers(url: string): Promise<void> {
  for (;;) {
    try {
      await fetch(url);
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve));
  const { port } = probe.address() as { port: number };
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
