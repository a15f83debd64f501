// The server under test: `tenon run` with the fixture, in a process of its own on a free port.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fail, isStale, root, run, say, setUp } from "../setup.mjs";

const tenon = join(root, "cli/bin/tenon.js");
const fixture = join(root, "scripts/conformance/fixture");

/** Path prefix of the fixture. */
export let prefix = "/run/conformance";

let other;

/** Uses a running server: its authority, and the prefix of its paths. */
export function use(authority, path) {
  const { hostname, port } = new URL(`http://${authority}`);
  other = { host: hostname, port: Number(port), stop: async () => {} };
  prefix = path;
}

/** Builds the fixture if it is older than its sources. */
export async function build() {
  await setUp();
  const sources = ["scripts/conformance/fixture/src", "ts-sdk/dist", "cli/dist", "guest/dist"];
  if (!isStale("scripts/conformance/fixture/dist/conformance.wasm", sources)) return;
  say("Building the fixture");
  run(process.execPath, [tenon, "build", "-r"], { cwd: fixture, stdio: ["ignore", 2, 2] });
}

/** Starts a server. Returns its host and port, and a function that ends it. `settings` are keys of `[server]`. */
export async function start(settings = {}) {
  if (other !== undefined) return other;
  const folder = settings.tls ? certificate() : undefined;
  const variables = folder === undefined ? {} : tls(folder);
  for (const [key, value] of Object.entries(settings.server ?? {})) {
    variables[`TENON_SERVER_${key.toUpperCase()}`] = String(value);
  }
  const { url, stop } = await launch(join(fixture, "dist/conformance.wasm"), tmpdir(), variables);
  return {
    host: "127.0.0.1",
    port: Number(url.port),
    async stop() {
      await stop();
      if (folder !== undefined) rmSync(folder, { recursive: true });
    },
  };
}

/** Serves a component with `tenon run` in a folder. Returns the server's URL, and a function that ends it. */
export async function launch(component, cwd, variables = {}) {
  const args = [tenon, "run", "--port", "0", "--json", component];
  const child = spawn(process.execPath, args, {
    cwd,
    env: { ...process.env, ...variables },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const url = await new Promise((resolve, reject) => {
    let output = "";
    child.stdout.on("data", (data) => {
      output += data;
      if (output.includes("\n")) resolve(new URL(JSON.parse(output).url));
    });
    child.once("exit", (code) => reject(new Error(`tenon run ended with ${code}`)));
  });
  const exited = new Promise((resolve) => child.once("exit", resolve));
  return {
    url,
    async stop() {
      child.kill("SIGTERM");
      await exited;
    },
  };
}

function tls(folder) {
  return { TENON_SERVER_TLS_CERTIFICATE: join(folder, "cert.pem"), TENON_SERVER_TLS_KEY: join(folder, "key.pem") };
}

/** Makes a folder with a certificate for this machine. */
function certificate() {
  const folder = mkdtempSync(join(tmpdir(), "tenon-conformance-"));
  const files = ["-keyout", join(folder, "key.pem"), "-out", join(folder, "cert.pem")];
  const args = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost", ...files];
  const { status, stderr } = spawnSync("openssl", args, { encoding: "utf8" });
  if (status !== 0) fail(`openssl could not make a certificate: ${stderr ?? "it is not installed"}`);
  return folder;
}
