// The time and memory of evaluations, beside other sandboxes in the same run:
//   npm run build && ROUNDS=500 node bench/sandbox/run.mjs [folder]
// `folder` has the peers: npm install --prefix <folder> quickjs-emscripten workerd isolated-vm@5 (6 and later need a later Node). One that
// cannot be loaded is left out, and so are containers without `runc` (Debian's package) or root. Each evaluation has an instance, context or isolate of its own, and the source is new in each but for
// "again". On a busy machine: nice -n -20 node bench/sandbox/run.mjs.
import { setMaxListeners } from "node:events";
import { monitorEventLoopDelay } from "node:perf_hooks";
import vm from "node:vm";
import { Runtime, tool } from "../../cli/dist/index.js";
import { conditions, record } from "../results.mjs";
import { container } from "./container.mjs";
import * as peers from "./peers.mjs";

const [folder = "."] = process.argv.slice(2);
const load = peers.loaderOf(folder);
const rounds = Number(process.env.ROUNDS ?? 500);

/** The longest time of all of it, in ms. */
const MOST = 20 * 60_000;
setTimeout(() => {
  console.error(`the measurement has not ended within ${MOST / 60_000} minutes`);
  process.exit(1);
}, MOST).unref();

const source = (n) => `const double = (x) => x * 2; JSON.stringify({ n: double(${n}), list: [1, 2, 3].map(double) })`;

/** Measures calls one after another, in ms. */
async function measure(call, times = rounds) {
  for (let round = 0; round < 20; round++) await call(-round);
  const all = [];
  for (let round = 0; round < times; round++) {
    const began = performance.now();
    await call(round);
    all.push(performance.now() - began);
  }
  return percentiles(all);
}

function percentiles(all) {
  all.sort((one, other) => one - other);
  return { p50: all[all.length >> 1], p99: all[Math.floor(all.length * 0.99)] };
}

const runtime = await Runtime.create({ modules: {} });
let called = () => {};
const ping = (x) => {
  called();
  return x;
};
const sandbox = await runtime.sandbox({
  tools: { ping: tool({ run: ping }) },
  limits: { calls: 100_000, cpuMs: 60_000, wallMs: 600_000 },
});
const ended = async (text, options) => {
  const done = await sandbox.evaluate(text, options);
  if (!done.ok) throw new Error(done.error.message);
  return done;
};

const rows = [];
const row = (name, { p50, p99 }) => rows.push([name, p50.toFixed(3), p99.toFixed(3)]);
row("tenon, a new source", await measure((n) => ended(source(n))));
row("tenon, the same source again", await measure(() => ended(source(1))));
row("node:vm (no boundary, no limits)", await measure((n) => vm.runInNewContext(source(n))));
const quickjs = await peers.quickjs(load);
if (quickjs !== undefined)
  row("quickjs-emscripten, a runtime each (one memory for all)", await measure((n) => quickjs.evaluate(source(n))));
const isolatedVm = peers.isolatedVm(load);
if (isolatedVm !== undefined) row("isolated-vm, an isolate each", await measure((n) => isolatedVm.evaluate(source(n))));
const workerd = await peers.workerd(load);
if (workerd !== undefined) {
  row("workerd, a loaded worker each, over HTTP", await measure((n) => workerd.evaluate(source(n)), rounds / 2));
  workerd.close();
}
const containers = container();
if (containers !== undefined)
  row("runc, a container with Node each", await measure((n) => containers.evaluate(source(n)), rounds / 10));

/** Measures calls of a function of the program, one after another, in µs: the times between one and the next. */
async function measureCalls(run, count = 2_000) {
  await run(count / 4, () => {});
  const at = [];
  await run(count, () => at.push(performance.now()));
  const { p50, p99 } = percentiles(at.slice(1).map((time, index) => (time - at[index]) * 1000));
  return `${p50.toFixed(0)} and ${p99.toFixed(0)} µs`;
}
const callTool = (count, then) => {
  called = then;
  return ended(`for (let i = 0; i < ${count}; i++) await ping(i)`);
};
const calls = [["tenon", await measureCalls(callTool)]];
if (isolatedVm !== undefined) calls.push(["isolated-vm", await measureCalls(isolatedVm.calls)]);
if (quickjs !== undefined) calls.push(["quickjs-emscripten, on Node's thread", await measureCalls(quickjs.calls)]);
if (containers !== undefined) calls.push(["runc, over pipes", await measureCalls(containers.calls)]);
const containerMib = await containers?.waitingMib();
containers?.close();

const many = 1_000;
const atOnce = async (evaluate) => {
  const began = performance.now();
  await Promise.all(Array.from({ length: many }, (_, n) => evaluate(source(n + 1e6))));
  return (performance.now() - began).toFixed(0);
};
const allAtOnce = [["tenon", await atOnce(ended)]];
if (isolatedVm !== undefined) allAtOnce.push(["isolated-vm", await atOnce(isolatedVm.evaluate)]);

const before = process.memoryUsage().rss;
const controller = new AbortController();
setMaxListeners(0, controller.signal);
const waiting = Array.from({ length: many }, () =>
  sandbox.evaluate("await new Promise((r) => setTimeout(r, 300_000))", { signal: controller.signal }),
);
await new Promise((resolve) => setTimeout(resolve, 10_000));
const eachMib = (process.memoryUsage().rss - before) / many / 2 ** 20;
controller.abort();
await Promise.all(waiting);

let isolateMib;
if (isolatedVm !== undefined) {
  const base = process.memoryUsage().rss;
  const end = await isolatedVm.wait(200);
  isolateMib = (process.memoryUsage().rss - base) / 200 / 2 ** 20;
  end();
}

const delay = monitorEventLoopDelay({ resolution: 1 });
const loops = await runtime.sandbox({ limits: { cpuMs: 100, wallMs: 600_000 } });
delay.enable();
await Promise.all(Array.from({ length: 64 }, () => loops.evaluate("for (;;);")));
delay.disable();

const ms = (nanoseconds) => (nanoseconds / 1e6).toFixed(1);
record(
  "bench/sandbox",
  `${conditions}. ${rounds} evaluations one after another. A call of an asynchronous function of the program takes
${calls.map(([name, times]) => `${times} (${name})`).join(", ")}, p50 and p99. ${many} evaluations at once take ${allAtOnce.map(([name, ms]) => `${ms} ms (${name})`).join(", ")}.
Each of ${many} waiting evaluations takes ${eachMib.toFixed(2)} MiB of resident memory${
    isolateMib === undefined ? "" : `, and each of 200 waiting isolates of isolated-vm ${isolateMib.toFixed(2)} MiB`
  }${containerMib === undefined ? "" : `. A container that waits takes ${containerMib.toFixed(1)} MiB`}.
Beside 64 endless loops, timers of Node are late by ${ms(delay.percentile(50) - 1e6)} ms (p50) and ${ms(delay.percentile(99) - 1e6)} ms (p99).

| source to value | p50 ms | p99 ms |
|---|---:|---:|
${rows.map((each) => `| ${each.join(" | ")} |`).join("\n")}`,
);
await runtime.close();
