/** Storage on S3: a server that speaks its protocol, moto (PyPI `moto[server]`). */
import { type ChildProcess, spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../../testing/free-port.ts";
import { findProgram } from "../../../testing/programs.ts";
import { Sidecar } from "../../src/embed/sidecar.ts";
import { askAt } from "./ask.ts";
import { folder, type Store } from "./stores.ts";
import type { Target } from "./targets.ts";

/** The sidecar over a bucket. */
export const s3Target: Target = {
  name: "sidecar on S3, Unix",
  needs: "moto_server",
  start: () => start(findProgram("moto_server") as string),
};

async function start(file: string): ReturnType<Target["start"]> {
  const directory = folder();
  const server = await startS3(file);
  const listen = `unix://${join(directory, "s3.sock")}`;
  const sidecar = await Sidecar.start({ kind: "storage", url: server.url, listen, logLevel: "off" });
  return {
    ask: askAt(sidecar.address),
    address: sidecar.address,
    stop: async () => {
      await sidecar.close();
      await server.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** The server with a bucket. The environment of this process has the credentials and its address, as an operator's would. */
export async function startS3(file: string): Promise<Store> {
  const port = await freePort();
  const running: ChildProcess = spawn(file, ["-H", "127.0.0.1", "-p", String(port)], { stdio: "ignore" });
  const endpoint = `http://127.0.0.1:${port}`;
  await answers(`${endpoint}/`);
  await fetch(`${endpoint}/bucket`, { method: "PUT" });
  Object.assign(process.env, {
    AWS_ACCESS_KEY_ID: "key",
    AWS_SECRET_ACCESS_KEY: "secret",
    AWS_REGION: "us-east-1",
    AWS_ENDPOINT: endpoint,
    AWS_ALLOW_HTTP: "true",
  });
  return {
    url: "s3://bucket",
    stop: async () => {
      const ended = new Promise((resolve) => running.once("exit", resolve));
      running.kill("SIGTERM");
      await ended;
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
