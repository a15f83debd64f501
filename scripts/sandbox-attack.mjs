// Attacks the sandbox with generated programs (sandbox-attack/grammar.mjs), many at once, and checks each answer: no limit is passed by more
// than its tolerance, nothing of another evaluation or of this program is in it, the process neither crashes nor grows.
//
//   npm run build && node scripts/sandbox-attack.mjs [--programs 3000] [--seed 1] [--from 0] [--at-once 32] [--sabotage all | <name>]
//     [--only <number>]
//
// The programs run in a process of their own. If that crashes, those that ran then are named, and the attack goes on after them. `--from` goes
// on after an attack that was stopped.
// `--sabotage` switches one thing off, or each in turn, and succeeds if the checks find it: a limit by its name, or "canary", which gives
// an evaluation the secret of another. `--only` prints a program and its answer.
import { spawn } from "node:child_process";
import { createHmac, randomBytes } from "node:crypto";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Runtime, tool } from "../cli/dist/index.js";
import { programsOf, randomOf } from "./sandbox-attack/grammar.mjs";
import { fail, say } from "./setup.mjs";
import { argumentsOf } from "./usage.mjs";

const { values } = argumentsOf(import.meta.url, {
  options: {
    programs: { type: "string", default: "3000" },
    seed: { type: "string", default: "1" },
    from: { type: "string", default: "0" },
    "at-once": { type: "string", default: "32" },
    sabotage: { type: "string" },
    only: { type: "string" },
  },
});
const programs = Number(values.programs);
const atOnce = Number(values["at-once"]);
const seed = Number(values.seed);
const from = Number(values.from);

/** The file in which the process of the programs keeps the number of each that runs, 8 bytes for each of those at once. */
const RUNNING = "TENON_SANDBOX_ATTACK";

const limits = {
  cpuMs: 10,
  wallMs: 2_000,
  memoryBytes: 24 << 20,
  calls: 40,
  outputBytes: 64_000,
  logBytes: 8_000,
  sourceBytes: 32_000,
  regexSteps: 10_000,
  concurrentCalls: 8,
};
/** Values with which a limit ends nothing that these programs do. */
const off = {
  cpuMs: 400,
  wallMs: 60_000,
  memoryBytes: 512 << 20,
  calls: 10_000,
  outputBytes: 1 << 20,
  logBytes: 1 << 20,
  sourceBytes: 1 << 20,
  regexSteps: 1e12,
  concurrentCalls: 1_000,
};

/** Processor time beyond the limit: the epoch of 10 ms. */
const CPU_TOLERANCE_US = 12_000;
/** Time beyond the limit, besides that by which Node's own timers are late on a full machine. */
const WALL_TOLERANCE_US = 1_000_000;
/** Memory of the process that may be added after the first tenth. */
const GROWTH = 96 << 20;
const CANARY_KEY = randomBytes(16);
const HOST_MARK = `host-${randomBytes(8).toString("hex")}`;

/** Ctrl-C ends the attack with a report of what ran. */
let isStopped = false;
process.once("SIGINT", () => {
  isStopped = true;
});

/** The second half of a canary. A program may change its own one, by `replace` for example, and has another's only with the right half. */
const proofOf = (half) => createHmac("sha256", CANARY_KEY).update(half).digest("hex").slice(0, 8);

function newCanary() {
  const half = randomBytes(4).toString("hex");
  return `canary-${half}${proofOf(half)}`;
}

/** The delay of Node's timers lately, in ms. */
let late = 0;
let expected = performance.now() + 20;
setInterval(() => {
  late = Math.max(performance.now() - expected, late * 0.99);
  expected = performance.now() + 20;
}, 20).unref();

const running = process.env[RUNNING] && openSync(process.env[RUNNING], "r+");

/** Keeps the number of a worker's program, so that it is known after a crash. */
function keep(worker, program) {
  if (!running) return;
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(program + 1);
  writeSync(running, bytes, 0, 8, worker * 8);
}

/** Runs this script in another process, again after each crash, and returns whether the programs found nothing. */
async function attackApart() {
  const folder = mkdtempSync(join(tmpdir(), "tenon-sandbox-attack-"));
  const file = join(folder, "running");
  let crashes = 0;
  try {
    for (let next = from; ; ) {
      closeSync(openSync(file, "w"));
      const args = [fileURLToPath(import.meta.url), ...process.argv.slice(2), "--from", String(next)];
      const child = spawn(process.execPath, [...process.execArgv, ...args], {
        stdio: "inherit",
        env: { ...process.env, [RUNNING]: file },
      });
      const [code, signal] = await new Promise((resolve) => child.once("exit", (...how) => resolve(how)));
      const bytes = readFileSync(file);
      const numbers = Array.from({ length: bytes.length >> 3 }, (_, worker) => bytes.readDoubleLE(worker * 8) - 1);
      // An end by itself is a report, of problems or of none. A crash is a signal, or the code of Node's own fatal errors.
      if (signal === null && code <= 1) return code === 0 && crashes === 0;
      const ran = numbers.sort((one, other) => one - other).join(", ");
      say(`the process ended by ${signal ?? code} while these programs ran: ${ran} (--seed ${seed} --only <number>)`);
      next = Math.max(next, ...numbers) + 1;
      if (++crashes >= 20 || numbers.length === 0 || next >= programs || isStopped) return false;
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Runs an attack, and returns the problems that were found, with counts of the outcomes. */
async function attack(count, sabotage) {
  const runtime = await Runtime.create({ modules: {}, logLevel: "off" });
  const problems = [];
  const report = (text) => {
    problems.push(text);
    if (sabotage === undefined) say(text);
  };
  const at = new Map();
  let other = "canary-0000000000000000";
  const tools = {
    take: tool({ run: (value) => value }),
    fails: tool({ run: () => Promise.reject(new Error(HOST_MARK)) }),
    slow: tool({
      run: async (ms, { context, signal }) => {
        const now = (at.get(context) ?? 0) + 1;
        at.set(context, now);
        if (now > limits.concurrentCalls) report(`concurrentCalls: ${now} calls run at once`);
        await new Promise((resolve) => {
          const timer = setTimeout(resolve, Math.min(Number(ms) || 0, 5_000));
          const ended = () => {
            clearTimeout(timer);
            resolve();
          };
          signal.addEventListener("abort", ended, { once: true });
        });
        at.set(context, at.get(context) - 1);
      },
    }),
    secret: tool({
      run: (_, { context }) => {
        const given = sabotage === "canary" ? other : context;
        other = context;
        return given;
      },
    }),
    group: { list: tool({ run: (_, { context }) => [{ [context]: context }, new Uint8Array(3)] }) },
  };
  const given = sabotage in off ? { ...limits, [sabotage]: off[sabotage] } : { ...limits };
  // On a full machine the time would end what another limit has to end.
  if (sabotage !== undefined) given.wallMs = Math.max(given.wallMs, 20_000);
  const sandbox = await runtime.sandbox({ limits: given, tools, env: { FIXED: "1" } });
  const next = programsOf(randomOf(seed), sabotage);
  const isFound = () =>
    sabotage === undefined ? problems.length >= 20 : problems.some((text) => text.startsWith(`${sabotage}:`));
  const outcomes = {};
  const began = performance.now();
  let number = 0;
  for (; number < from; number++) next();
  let baseline;
  const only = values.only === undefined ? undefined : Number(values.only);

  const one = async (worker) => {
    const { source, aims } = next();
    const mine = number++;
    keep(worker, mine);
    if (only !== undefined && mine !== only) return;
    const canary = newCanary();
    const done = await sandbox.evaluate(source, { input: { canary, list: [1, "x"] }, context: canary });
    at.delete(canary);
    if (only !== undefined) console.log(source, done);
    const kind = done.ok ? "value" : (done.error.limit ?? done.error.kind);
    outcomes[kind] = (outcomes[kind] ?? 0) + 1;
    const problem = (text) => report(`${text} (--seed ${seed} --only ${mine}${aims ? `, reaches for ${aims}` : ""})`);
    const { cpuUs, wallUs, peakMemoryBytes, calls, bytesOut } = done.usage;
    // A timer of Node ends the parser, and then no instance has had memory.
    const lateMs = peakMemoryBytes === 0 ? late : 0;
    if (cpuUs > (limits.cpuMs + lateMs) * 1000 + CPU_TOLERANCE_US) problem(`cpuMs: ${cpuUs} µs`);
    if (wallUs > (limits.wallMs + 5 * late) * 1000 + WALL_TOLERANCE_US) problem(`wallMs: ${wallUs} µs`);
    if (peakMemoryBytes > limits.memoryBytes) problem(`memoryBytes: ${peakMemoryBytes}`);
    // The call that is one too many is counted, and refused.
    if (calls > limits.calls + 1) problem(`calls: ${calls}`);
    if (done.ok && calls > limits.calls) problem(`calls: ${calls} with a value`);
    const text = JSON.stringify(done) ?? "";
    if (done.ok && (JSON.stringify(done.value)?.length ?? 0) > limits.outputBytes * 4)
      problem(`outputBytes: ${text.length}`);
    const logged = done.logs.reduce((sum, { message }) => sum + Buffer.byteLength(message) + 16, 0);
    if (logged > limits.logBytes) problem(`logBytes: ${logged}`);
    if (aims === "regexSteps" && done.ok && done.value === "passed") problem("regexSteps: a run was not ended");
    const isTooLong = Buffer.byteLength(source) > limits.sourceBytes;
    if (isTooLong !== (kind === "sourceBytes")) problem(`sourceBytes: ${source.length} gave ${kind}`);
    if (!done.ok && !["thrown", "limit", "syntax", "tool"].includes(done.error.kind))
      problem(`the kind is ${done.error.kind}`);
    if (kind === "host") problem("a limit of the runtime itself");
    for (const [found, half, proof] of text.matchAll(/canary-([0-9a-f]{8})([0-9a-f]{8})/g))
      if (found !== canary && proof === proofOf(half)) problem("canary: of another evaluation");
    if (text.includes(HOST_MARK) || text.includes(process.cwd())) problem("a text of the program");
    if (bytesOut < 0) problem("bytesOut");
  };

  const work = async (worker) => {
    while (number < count && !isFound() && !isStopped) {
      await one(worker);
      if (number % 2_000 !== 0) continue;
      const { rss } = process.memoryUsage();
      if (number - from >= (count - from) / 10) baseline ??= rss;
      if (rss > (baseline ?? rss) + GROWTH)
        report(`the process grows: ${(rss - baseline) >> 20} MiB by program ${number}`);
      if (number % 20_000 !== 0) continue;
      const perSecond = ((number - from) / ((performance.now() - began) / 1000)).toFixed(0);
      say(
        `${number} programs, ${perSecond} in a second, ${problems.length} problems, ${rss >> 20} MiB, ${JSON.stringify(outcomes)}`,
      );
    }
  };
  const keys = [Object.prototype, Array.prototype, Function.prototype, Promise.prototype].map(
    (each) => Reflect.ownKeys(each).length,
  );
  await Promise.all(Array.from({ length: atOnce }, (_, worker) => work(worker)));
  const now = [Object.prototype, Array.prototype, Function.prototype, Promise.prototype].map(
    (each) => Reflect.ownKeys(each).length,
  );
  if (String(now) !== String(keys)) report("a prototype of the program has changed");
  const last = await sandbox.evaluate("[typeof kept, Object.keys(globalThis).length >= 0, 6 * 7]");
  if (!last.ok || last.value[0] !== "undefined" || last.value[2] !== 42) report("the sandbox is not as it was");
  await sandbox.close();
  await runtime.close();
  return { problems, outcomes, number };
}

process.on("unhandledRejection", (error) => fail(`a rejection that nobody handles: ${error}`));

if (values.sabotage !== undefined) {
  const all = [...Object.keys(off), "canary"];
  for (const name of values.sabotage === "all" ? all : [values.sabotage]) {
    if (!all.includes(name)) fail(`there is nothing called ${name}: ${all.join(", ")}`);
    const { problems, number } = await attack(programs, name);
    const found = problems.find((text) => text.startsWith(`${name}:`));
    if (found === undefined) fail(`${name} is switched off, and ${number} programs did not show it`);
    say(`${name} switched off: found by program ${number}: ${found}`);
  }
} else if (!running && values.only === undefined) {
  if (!(await attackApart())) process.exitCode = 1;
} else {
  const began = performance.now();
  const { problems, outcomes, number } = await attack(programs);
  const seconds = ((performance.now() - began) / 1000).toFixed(0);
  if (isStopped) say(`stopped: --from ${number} goes on`);
  say(
    `${number - from} programs in ${seconds} s, ${atOnce} at once on ${availableParallelism()} processors: ${JSON.stringify(outcomes)}`,
  );
  if (problems.length > 0) fail(`${problems.length} problems are printed above`);
}
