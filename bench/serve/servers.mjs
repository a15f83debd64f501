// The servers that bench/serve compares: their commands and the URLs of their routes.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { examples, firstLine } from "../programs.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
export const root = join(here, "../..");
const hello = join(root, "examples/hello/dist");

const cli = join(root, "cli/bin/tenon.js");

const tenon =
  (isolation, component = () => join(hello, "hello.wasm")) =>
  async () => {
    const env = { ...process.env, TENON_SERVER_ISOLATION: isolation };
    const args = [cli, "run", "-q", "--port", "0", "--json", component()];
    const child = spawn(process.execPath, args, { cwd: here, env });
    const { url } = JSON.parse(await firstLine(child));
    return { child, base: `${url}/run/hello` };
  };

const builds = new Set();

/** Builds a copy of a project with other options, once per run, and returns the folder. */
function built(project, name, ...options) {
  const copy = join(here, ".tenon", name);
  const output = join(copy, "dist");
  if (!builds.has(name)) {
    builds.add(name);
    rmSync(copy, { recursive: true, force: true });
    cpSync(project, copy, {
      recursive: true,
      filter: (path) => !/node_modules|dist|\.tenon$/.test(relative(project, path)),
    });
    execFileSync(process.execPath, [cli, "build", ...options], { cwd: copy, stdio: ["ignore", "ignore", "inherit"] });
  }
  return output;
}

const example = join(root, "examples/hello");
const hono = join(here, "hono");
const honoOnTenon = () => join(built(hono, "hono", "-r"), "hello.wasm");

const onPort = (command, args) => async () => {
  const port = await freePort();
  const child = spawn(command, args(port), { cwd: root, detached: true });
  // Rejects when there is no such command.
  await once(child, "spawn");
  return { child, base: `http://127.0.0.1:${port}`, group: true };
};

const telling =
  (command, ...args) =>
  async () => {
    const child = spawn(command, args, { cwd: root });
    return { child, base: (await firstLine(child)).trim() };
  };

const wasmtime = process.env.WASMTIME ?? "wasmtime";
const serve = (port, folder) => [
  "serve",
  "-S",
  "cli=y",
  "--addr",
  `127.0.0.1:${port}`,
  join(folder, "hello-composed.wasm"),
];

/** The baseline of the rows that begin with "Hono on Tenon". */
export const honoBaseline = "Hono on wasmtime serve, built by componentize-js";

/** All servers, the baseline of the others first. */
export const servers = {
  "wasmtime serve": onPort(wasmtime, (port) => serve(port, hello)),
  // The handler without Tenon's way of building.
  "wasmtime serve, built by componentize-js": onPort(wasmtime, (port) =>
    serve(port, built(example, "reference", "-rc", "--reference")),
  ),
  "jco serve": onPort(join(root, "node_modules/.bin/jco"), (port) => [
    "serve",
    "--port",
    String(port),
    join(hello, "hello-composed.wasm"),
  ]),
  "Tenon, request": tenon("request"),
  "Tenon, shared": tenon("shared"),
  // The same app on Hono, as `export default app`.
  [honoBaseline]: onPort(wasmtime, (port) => serve(port, built(hono, "hono-reference", "-rc", "--reference"))),
  "Hono on Tenon, request": tenon("request", honoOnTenon),
  "Hono on Tenon, shared": tenon("shared", honoOnTenon),
  "Node + Hono": telling(process.execPath, join(here, "hono.mjs")),
  "bare hyper": telling(join(examples, "bare_hyper")),
};

export function stop({ child, group }) {
  const gone = new Promise((resolve) => child.once("exit", resolve));
  if (group) process.kill(-child.pid, "SIGTERM");
  else child.kill("SIGTERM");
  return gone;
}

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
