// The compared engines. A leg is one component behind one server; each request gets a fresh instance.
import { spawn, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { isStale, root } from "../setup.mjs";

const here = join(root, "scripts/engine");
const scratch = join(root, "target/engine");
const tenon = join(root, "cli/bin/tenon.js");

/** Description of each leg by its name. */
export const known = {
  unmodified: "the engine as componentize-js ships it, nothing of Tenon in the component",
  reference: "tenon build --reference: the same engine with the entry that Tenon gives every handler",
  ours: "tenon build and tenon run: rewritten engine, instances restored between requests",
  shared: "the component of `ours` with isolation = shared and max_reuse = 1: nothing is restored",
  aot: "tenon build --aot: the interpreter specialized by weval",
};

/**
 * Builds and starts a leg.
 *
 * @param {keyof typeof known} name
 * @param {{ timeoutMs: number, outbound?: string[], wasmtime?: string, component?: string }} options `timeoutMs` limits
 * a test, `outbound` lists
 *   the hosts that tests may call, `wasmtime` is the program that serves the unmodified engine instead of Tenon,
 *   `component` is a file that replaces the built component of `ours`
 * @returns {Promise<{ name: string, server: string, ask(task: object): Promise<string>, used(): Promise<string>,
 * stop(): Promise<void> }>}
 */
export async function startLeg(name, options) {
  const component = (name === "ours" && options.component) || (await build(name));
  const isOther = name === "unmodified" && options.wasmtime !== undefined;
  const server = isOther ? await startWasmtime(component, options) : await startTenon(name, component, options);
  return { name, ...server, ask: (task) => ask(server.url, task, options.timeoutMs) };
}

/** Sends a task, and returns its report, or a line that says how the instance failed. */
async function ask(url, task, timeoutMs) {
  const begun = performance.now();
  try {
    const response = await fetch(url, { method: "POST", body: JSON.stringify(task) });
    const text = await response.text();
    if (response.status === 200) return text;
    if (response.status === 429 || response.status === 503) throw new Error(`${url} is overloaded: ${text}`);
  } catch (error) {
    if (error.cause?.code === "ECONNREFUSED") throw new Error(`${url} is gone`);
    if (error.cause === undefined) throw error;
  }
  // Servers report it differently: as a status or as a closed connection.
  return performance.now() - begun < timeoutMs ? "trapped" : "timed out";
}

async function build(name) {
  const folder = join(scratch, name === "shared" ? "ours" : name);
  const file = join(folder, "dist/engine.wasm");
  const sources = ["scripts/engine/probe.js", "scripts/engine/realm.js", "package-lock.json"];
  if (name === "unmodified") {
    if (isStale(relative(file), [...sources, "scripts/engine/unmodified.js"])) await buildUnmodified(folder, file);
    return file;
  }
  const all = [...sources, "scripts/engine/handler", "ts-sdk/dist", "cli/dist", "guest/dist", ...addons()];
  if (!isStale(relative(file), all)) return file;
  const project = join(folder, "handler");
  mkdirSync(project, { recursive: true });
  for (const part of ["probe.js", "realm.js", "handler"])
    cpSync(join(here, part), join(folder, part), { recursive: true });
  const way = { reference: ["--reference"], aot: ["--aot"] }[name] ?? [];
  const { status } = spawnSync(process.execPath, [tenon, "build", "-r", ...way], {
    cwd: project,
    // The one whose rewriting is compared.
    env: { ...process.env, TENON_PROJECT_ENGINE: "starlingmonkey" },
    stdio: ["ignore", 2, 2],
  });
  if (status !== 0) throw new Error(`the component of ${name} cannot be built`);
  mkdirSync(join(folder, "dist"), { recursive: true });
  cpSync(join(project, "dist/engine.wasm"), file);
  return file;
}

/** Lists the addon's files, whose names contain the platform. */
function addons() {
  const { main } = JSON.parse(readFileSync(join(root, "bindings/package.json"), "utf8"));
  return [
    join("bindings", main),
    ...["linux-x64-gnu", "linux-arm64-gnu", "darwin-arm64"].map((at) => `bindings/native.${at}.node`),
  ];
}

const relative = (file) => file.slice(root.length);

async function buildUnmodified(folder, file) {
  const { componentize } = await import("@bytecodealliance/componentize-js");
  const { build: bundle } = await import("esbuild");
  const wit = join(folder, "wit");
  mkdirSync(join(folder, "dist"), { recursive: true });
  cpSync(join(root, "cli/e2e/fixtures/foreign/world.wit"), join(wit, "world.wit"));
  cpSync(join(root, "wit/deps"), join(wit, "deps"), { recursive: true });
  const sourcePath = join(folder, "unmodified.js");
  await bundle({ entryPoints: [join(here, "unmodified.js")], outfile: sourcePath, bundle: true, format: "esm" });
  const { component } = await componentize({ sourcePath, witPath: wit, worldName: "foreign" });
  writeFileSync(file, component);
}

async function startTenon(name, component, { timeoutMs, outbound = [] }) {
  const env = {
    ...process.env,
    TENON_SERVER_REQUEST_TIMEOUT_MS: String(timeoutMs),
    TENON_SERVER_QUEUE_TIMEOUT_MS: "60000",
    TENON_SERVER_MAX_BODY_BYTES: String(64 << 20),
    TENON_OUTBOUND_ALLOW: outbound.join(","),
    ...(name === "shared" ? { TENON_SERVER_ISOLATION: "shared", TENON_SERVER_MAX_REUSE: "1" } : {}),
  };
  const child = spawn(process.execPath, [tenon, "run", "--port", "0", "--json", component], {
    cwd: scratch,
    env,
    stdio: ["ignore", "pipe", openSync(join(scratch, `${name}.log`), "w")],
  });
  process.once("exit", () => child.kill());
  const { url } = JSON.parse(await firstLine(child, name));
  const metrics = async () => (await fetch(`${url}/metrics`)).text();
  return { url: `${url}/run/engine/`, server: "tenon run", used: () => metrics().then(reuse), stop: () => end(child) };
}

/** Returns the numbers of instances and of the requests that they served. */
function reuse(metrics) {
  const sum = (name) =>
    [...metrics.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\d+)`, "gm"))].reduce(
      (all, [, n]) => all + Number(n),
      0,
    );
  return `${sum("tenon_instances_created(?:_total)?")} instances for ${sum("tenon_requests(?:_total)?")} requests`;
}

async function startWasmtime(component, { timeoutMs, wasmtime }) {
  const port = await freePort();
  const limits = [`timeout=${timeoutMs}ms`, "max-memory-size=268435456"].flatMap((limit) => ["-W", limit]);
  const args = ["serve", "-S", "cli=y", ...limits, "--addr", `127.0.0.1:${port}`, component];
  const log = openSync(join(scratch, "wasmtime.log"), "w");
  const child = spawn(wasmtime, args, { stdio: ["ignore", log, log] });
  process.once("exit", () => child.kill());
  const url = `http://127.0.0.1:${port}/`;
  for (;;) {
    if (child.exitCode !== null) throw new Error(`wasmtime serve ended with ${child.exitCode}`);
    const answered = await fetch(url, { method: "POST", body: '{"scripts":[]}' }).then(
      (response) => response.ok,
      () => false,
    );
    if (answered) break;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  return { url, server: "wasmtime serve", used: async () => "one instance for each request", stop: () => end(child) };
}

function firstLine(child, name) {
  return new Promise((resolve, reject) => {
    let text = "";
    child.stdout.on("data", (data) => {
      text += data;
      if (text.includes("\n")) resolve(text);
    });
    child.once("exit", (code) =>
      reject(new Error(`tenon run (${name}) ended with ${code}; see ${scratch}/${name}.log`)),
    );
  });
}

function end(child) {
  const exited = new Promise((resolve) => child.once("exit", resolve));
  return child.exitCode === null && child.kill("SIGTERM") ? exited : Promise.resolve();
}

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
