// Cost of a build, as ratios in one run: `npm run build && node bench/build/run.mjs [rounds]`. It prepares the engine
// first if needed. Each round measures componentize() once beside everything else. Takes minutes.
import { spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { firstLine } from "../programs.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const root = join(here, "../..");
const tenon = join(root, "cli/bin/tenon.js");
const rounds = Number(process.argv[2] ?? 5);
const print = (text) => process.stdout.write(`${text}\n`);
const ms = (value) => `${Math.round(value)} ms`;

/** Returns the median and the range. */
function summary(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return {
    median: sorted[sorted.length >> 1],
    text: `${ms(sorted[sorted.length >> 1])} (${ms(sorted[0])} to ${ms(sorted.at(-1))})`,
  };
}

await mkdir(join(here, ".tenon"), { recursive: true });
const folder = await mkdtemp(join(here, ".tenon/run-"));
const source = join(folder, "src/handler.ts");
for (const part of ["src", "tenon.toml"])
  await cp(join(root, "examples/hello", part), join(folder, part), { recursive: true });
const original = await readFile(source, "utf8");

/** Makes the JavaScript different each time, so that no cache has it. */
let edition = 0;
const change = () => writeFile(source, original.replace("Welcome", `Welcome ${++edition}`));

function build(...args) {
  const started = performance.now();
  const { status, stderr } = spawnSync(process.execPath, [tenon, "build", ...args], { cwd: folder, encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  return performance.now() - started;
}

/** Measures the time from the start of `tenon run` to the first answer. */
async function firstAnswer(args = [], env = {}) {
  const started = performance.now();
  const options = { cwd: folder, env: { ...process.env, ...env } };
  const child = spawn(process.execPath, [tenon, "run", ...args, "--port", "0", "--json"], options);
  const { url } = JSON.parse(await firstLine(child));
  const answer = await fetch(`${url}/run/hello/`);
  const { message } = await answer.json();
  const took = performance.now() - started;
  child.removeAllListeners("exit");
  const gone = new Promise((resolve) => child.once("exit", resolve));
  child.kill();
  await gone;
  if (message !== `Welcome ${edition}`) throw new Error(`an old answer: ${message}`);
  return took;
}

/** Returns the resident memory of a process and its descendants, in KiB; undefined on systems other than Linux. */
function resident(pid) {
  try {
    const own = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);
    const below = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean);
    return below.reduce((sum, child) => sum + (resident(child) ?? 0), own);
  } catch {
    return undefined;
  }
}

/** Runs a build. Returns the maximum memory with its children, and the times of its messages. */
async function watched(env = {}) {
  const started = performance.now();
  const child = spawn(process.execPath, [tenon, "build"], { cwd: folder, env: { ...process.env, ...env } });
  const steps = [];
  child.stderr.on("data", (data) => {
    for (const line of String(data).split("\n")) {
      if (line.trim() !== "")
        steps.push(`${line.trim().replace(/ [\d.]+ s$/, "")} by ${ms(performance.now() - started)}`);
    }
  });
  let peak;
  const timer = setInterval(() => {
    const now = resident(child.pid);
    if (now !== undefined) peak = Math.max(peak ?? 0, now);
  }, 5);
  const status = await new Promise((resolve) => child.once("close", resolve));
  clearInterval(timer);
  if (status !== 0) throw new Error(steps.join("\n"));
  return {
    memory: peak === undefined ? "memory is unknown on this system" : `${Math.round(peak / 1024)} MiB at most`,
    steps,
  };
}

/**
 * Measures repeatedly from a saved file to a changed answer of `tenon dev`: the total, and its parts by the written
 * files.
 */
async function savedToAnswer(times) {
  const port = 20_000 + Math.floor(Math.random() * 20_000);
  const child = spawn(process.execPath, [tenon, "dev", "--port", String(port)], { cwd: folder, stdio: "ignore" });
  const gone = new Promise((resolve) => child.once("exit", resolve));
  const answered = async () => {
    for (;;) {
      const answer = await fetch(`http://127.0.0.1:${port}/run/hello/`).catch(() => undefined);
      if (answer?.ok && (await answer.json()).message === `Welcome ${edition}`) return;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  await answered();
  const taken = { whole: [], bundled: [], written: [], served: [] };
  const writtenAt = async (file) => (await stat(join(folder, ".tenon/dev", file))).mtimeMs;
  for (let time = 0; time < times; time++) {
    await change();
    const saved = Date.now();
    await answered();
    const end = Date.now();
    const [bundled, written] = [await writtenAt("build/hello.js"), await writtenAt("hello.wasm")];
    taken.whole.push(end - saved);
    taken.bundled.push(bundled - saved);
    taken.written.push(written - bundled);
    taken.served.push(end - written);
  }
  child.kill();
  await gone;
  return taken;
}

/** Measures Node and the command's modules alone, which are part of every time below. */
const start = () => {
  const started = performance.now();
  spawnSync(process.execPath, [tenon, "--version"]);
  return performance.now() - started;
};

try {
  build();
  const times = { start: [], ours: [], release: [], reference: [], unseen: [], seen: [] };
  for (let round = 0; round < rounds; round++) {
    times.start.push(start());
    await change();
    times.reference.push(build("--reference"));
    await change();
    times.release.push(build("-rc"));
    await change();
    times.ours.push(build());
    times.unseen.push(await firstAnswer());
    times.seen.push(await firstAnswer());
  }
  const [ours, reference] = [summary(times.ours), summary(times.reference)];
  print(`Node and the command's modules: ${summary(times.start).text}; part of all that follows`);
  print(`tenon build, JavaScript changed: ${ours.text}`);
  print(`tenon build -rc: ${summary(times.release).text}`);
  print(`tenon build --reference: ${reference.text}; ${(reference.median / ours.median).toFixed(1)}× as long`);
  print(
    `tenon run to the first answer, component never seen: ${summary(times.unseen).text}; seen: ${summary(times.seen).text}`,
  );
  // Code that was compiled ahead of time, where the cache is empty, and the same without it.
  const ahead = ["compile", "dist/hello.wasm", "-o", "hello.cwasm"];
  const compiled = spawnSync(process.execPath, [tenon, ...ahead], { cwd: folder, encoding: "utf8" });
  if (compiled.status !== 0) throw new Error(compiled.stderr);
  const [started, compiling] = [[], []];
  for (let round = 0; round < rounds; round++) {
    const cache = { TENON_CACHE_DIR: join(folder, `empty-${round}`) };
    started.push(await firstAnswer(["hello.cwasm", "--trust-compiled"], cache));
    if (round < 2) compiling.push(await firstAnswer([], cache));
  }
  print(
    `first start, empty cache, compiled ahead of time: ${summary(started).text}; compiling: ${summary(compiling).text}`,
  );
  const { whole, ...parts } = await savedToAnswer(4 * rounds);
  print(`tenon dev, from a saved file to a changed answer: ${summary(whole).text}`);
  print(`  noticed (70 ms without a further change) and bundled: ${summary(parts.bundled).text}`);
  print(`  top level run and component written: ${summary(parts.written).text}`);
  print(`  loaded, swapped and answered: ${summary(parts.served).text}`);
  print(`component: ${(await stat(join(folder, "dist/hello.wasm"))).size} bytes`);
  print(`memory of a build: ${(await watched()).memory}`);
  const first = await watched({ TENON_CACHE_DIR: join(folder, "cache") });
  print(`memory of a first build, which prepares the engine: ${first.memory}`);
  for (const step of first.steps) print(`  ${step}`);
} finally {
  await rm(folder, { recursive: true });
}
