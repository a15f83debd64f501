// Gain and cost of `tenon build --aot` for a handler that computes, side by side in one run:
// `npm run build && node bench/build/aot.mjs [requests]`. Needs weval (docs/build.md). Linux only: it reads the
// processor time of the server's threads from /proc, so other load on the machine matters little.
import { spawn, spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { firstLine } from "../programs.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const tenon = join(here, "../../cli/bin/tenon.js");
const requests = Number(process.argv[2] ?? 200);
/** Number of alternating measurements. */
const rounds = 5;

// The edition makes the code new to every cache.
const handler = `import { field, get, ok, Path, routes } from "@tenon/sdk";
function sieve(below: number): number {
  const struck = new Uint8Array(below);
  let primes = 0;
  for (let n = 2; n < below; n++) {
    if (struck[n]) continue;
    primes++;
    for (let m = n * n; m < below; m += n) struck[m] = 1;
  }
  return primes;
}
const fibonacci = (n: number): number => (n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2));
function words(count: number): number {
  const seen = new Map<string, number>();
  for (let i = 0; i < count; i++) {
    const word = "w" + ((i * 7919) % 97);
    seen.set(word, (seen.get(word) ?? 0) + 1);
  }
  return seen.size;
}
class Body {
  constructor(public x: number, public y: number, public vx: number, public vy: number, readonly mass: number) {}
  pull(other: Body): void {
    const [dx, dy] = [other.x - this.x, other.y - this.y];
    const force = other.mass / ((dx * dx + dy * dy + 0.01) * Math.sqrt(dx * dx + dy * dy + 0.01));
    this.vx += dx * force;
    this.vy += dy * force;
  }
}
function bodies(steps: number): number {
  const all = Array.from({ length: 8 }, (_, n) => new Body(n, n * n * 0.1, 0, 0, 0.001 * (n + 1)));
  for (let step = 0; step < steps; step++) {
    for (const one of all) for (const other of all) if (one !== other) one.pull(other);
    for (const one of all) {
      one.x += one.vx;
      one.y += one.vy;
    }
  }
  return all[0]!.x;
}
const size = { path: Path("Size", { size: field.u32() }) };
export default routes({
  nothing: get("/nothing/{size}", size, ({ path: { size } }) => ok({ value: size })),
  sieve: get("/sieve/{size}", size, ({ path: { size } }) => ok({ value: sieve(size) })),
  fibonacci: get("/fibonacci/{size}", size, ({ path: { size } }) => ok({ value: fibonacci(size) })),
  bodies: get("/bodies/{size}", size, ({ path: { size } }) => ok({ value: bodies(size) })),
  edition: get("/edition", () => ok({ value: ${Date.now()} })),
  words: get("/words/{size}", size, ({ path: { size } }) => ok({ value: words(size) })),
});
`;
const routes = ["nothing/1", "sieve/20000", "fibonacci/18", "bodies/60", "words/5000"];

await mkdir(join(here, ".tenon"), { recursive: true });
const folder = await mkdtemp(join(here, ".tenon/aot-"));
const servers = {};
try {
  for (const [way, args] of [
    ["without", ["-r"]],
    ["with", ["-r", "--aot"]],
  ]) {
    const at = join(folder, way);
    await mkdir(join(at, "src"), { recursive: true });
    await writeFile(join(at, "src/handler.ts"), handler);
    await writeFile(join(at, "tenon.toml"), '[project]\nname = "computing"\n[server]\nisolation = "shared"\n');
    const build = () => {
      const started = performance.now();
      const { status, stderr } = spawnSync(process.execPath, [tenon, "build", ...args], { cwd: at, encoding: "utf8" });
      if (status !== 0) throw new Error(stderr);
      return performance.now() - started;
    };
    build(); // Prepares the engine if needed.
    const built = build();
    const { size } = await stat(join(at, "dist/computing.wasm"));
    const first = await serve(at);
    await stop(first);
    servers[way] = { ...(await serve(at)), used: Object.fromEntries(routes.map((route) => [route, []])) };
    print(
      `${way} --aot: built in ${seconds(built)}, ${size} bytes; first answer after ${seconds(first.took)}, then ${seconds(servers[way].took)}`,
    );
  }
  for (let round = 0; round < rounds; round++) {
    for (const route of routes) {
      for (const server of Object.values(servers)) server.used[route].push(await measure(server, route));
    }
  }
  print(`processor time of the server for a request, median of ${rounds} times ${requests}:`);
  for (const route of routes) {
    const [without, aot] = ["without", "with"].map(
      (way) => servers[way].used[route].toSorted((a, b) => a - b)[rounds >> 1],
    );
    print(`  /${route}: ${ms(without)} without, ${ms(aot)} with --aot: ${(without / aot).toFixed(1)}×`);
  }
} finally {
  for (const server of Object.values(servers)) await stop(server);
  await rm(folder, { recursive: true });
}

/** Measures the server's processor time per request, in milliseconds. */
async function measure(server, route) {
  const before = used(server);
  for (let i = 0; i < requests; i++) await ask(server, route);
  return (used(server) - before) / 1e6 / requests;
}

/** Returns the processor time of a server's threads, in nanoseconds. */
function used({ child }) {
  const threads = readdirSync(`/proc/${child.pid}/task`);
  const ran = (thread) => Number(readFileSync(`/proc/${child.pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]);
  return threads.reduce((sum, thread) => sum + ran(thread), 0);
}

async function ask({ url }, route) {
  const answer = await fetch(`${url}/run/computing/${route}`);
  if (answer.status !== 200) throw new Error(`${route}: ${answer.status}`);
  await answer.arrayBuffer();
}

/** Starts a server, and measures the time until its first answer. */
async function serve(cwd) {
  const started = performance.now();
  const child = spawn(process.execPath, [tenon, "run", "--port", "0", "--json"], {
    cwd,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const { url } = JSON.parse(await firstLine(child));
  await ask({ url }, routes[0]);
  return { child, url, took: performance.now() - started };
}

async function stop({ child }) {
  const gone = new Promise((resolve) => child.once("exit", resolve));
  if (child.kill()) await gone;
}

function print(text) {
  process.stdout.write(`${text}\n`);
}

function seconds(milliseconds) {
  return `${(milliseconds / 1000).toFixed(2)} s`;
}

function ms(value) {
  return `${value.toFixed(2)} ms`;
}
