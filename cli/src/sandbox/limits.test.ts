/** Each limit is reached on purpose, and the same script has a value with a higher one: a limit that is switched off fails here. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Runtime } from "../embed/runtime.ts";
import { encodeInSlices } from "./encode.ts";
import { type SandboxLimits, sandboxLimits } from "./limits.ts";
import type { Sandbox } from "./sandbox.ts";
import { strip } from "./strip.ts";
import { tool } from "./tool.ts";

let runtime: Runtime;
beforeAll(async () => {
  runtime = await Runtime.create({ modules: {}, logLevel: "off" });
  await (await runtime.sandbox()).close();
}, 300_000);
afterAll(() => runtime.close());

const tools = { ping: tool({ run: () => 1 }) };
const spin = (ms: number) => `const t = performance.now(); while (performance.now() - t < ${ms}); 1`;

/** For each limit: a script, values that it reaches and does not reach, and its value. */
const cases: [limit: keyof SandboxLimits, source: string, low: number, high: number, value: unknown][] = [
  ["cpuMs", "let n = 0; for (let i = 0; i < 2e6; i++) n += i % 7; n > 0", 5, 60_000, true],
  ["wallMs", "await new Promise((r) => setTimeout(r, 300)); 2", 50, 60_000, 2],
  ["wallMs", spin(300), 50, 60_000, 1],
  ["memoryBytes", "new Uint8Array(16 << 20).length", 8 << 20, 64 << 20, 16 << 20],
  ["calls", "for (let i = 0; i < 5; i++) await ping(); 3", 4, 5, 3],
  ["outputBytes", "'x'.repeat(995)", 999, 1_000, "x".repeat(995)],
  ["logBytes", "for (let i = 0; i < 100; i++) console.log('0123'); 4", 1_999, 2_000, 4],
  ["sourceBytes", "'é'", 3, 4, "é"],
  ["regexSteps", "/^(?:a+)+$/.test('a'.repeat(14) + 'b')", 10_000, 1_000_000, false],
];

describe.each(cases)("%s", (limit, source, low, high, value) => {
  const withLimit = (amount: number): Promise<Sandbox> =>
    runtime.sandbox({ tools, limits: { cpuMs: 60_000, wallMs: 60_000, [limit]: amount } });

  test(`ends ${source.slice(0, 40)}`, async () => {
    await using sandbox = await withLimit(low);
    expect(await sandbox.evaluate(source)).toMatchObject({ ok: false, error: { kind: "limit", limit } });
    // The instance is gone, and the next one is as good as new.
    expect(await sandbox.evaluate("0")).toMatchObject({ ok: true, value: 0 });
  });

  test("does not end it when it is high enough", async () => {
    await using sandbox = await withLimit(high);
    expect(await sandbox.evaluate(source)).toMatchObject({ ok: true, value });
  });
});

test("every limit that ends an evaluation has a case", () => {
  const ending = Object.keys(sandboxLimits).filter((name) => name !== "concurrentCalls");
  expect([...new Set(cases.map(([limit]) => limit))].sort()).toEqual(ending.sort());
});

test("a script cannot catch a limit", async () => {
  await using sandbox = await runtime.sandbox({
    tools,
    limits: { cpuMs: 60, memoryBytes: 8 << 20, calls: 2, logBytes: 200, regexSteps: 10_000 },
  });
  const forever = (step: string) => `for (;;) { try { ${step} } catch {} finally { ${step} } }`;
  for (const [step, limit] of [
    ["for (;;);", "cpuMs"],
    ["(globalThis.a ??= []).push(new Uint8Array(1 << 20))", "memoryBytes"],
    ["await ping()", "calls"],
    ["console.log('a line of some length')", "logBytes"],
    ["/^(?:a+)+$/.test('a'.repeat(14) + 'b')", "regexSteps"],
  ] as const) {
    expect(await sandbox.evaluate(forever(step))).toMatchObject({ ok: false, error: { kind: "limit", limit } });
  }
});

test.each([
  ["a loop", "for (;;);"],
  ["a regular expression", "/^(a+)+$/.test('a'.repeat(50) + 'b')"],
  ["a sort", "Array.from({ length: 1e4 }, (_, i) => -i).sort((a, b) => { for (;;); })"],
  ["microtasks", "const f = () => Promise.resolve().then(f); await f()"],
  ["a generator", "function* g() { for (;;) yield 1 } for (const x of g());"],
  ["a getter", "({ get a() { for (;;); } })"],
  ["a stack trace", "Error.prepareStackTrace = () => { for (;;); }; throw new Error('x')"],
  ["a toString", "throw { get message() { for (;;); } }"],
  ["BigInt", "let n = 3n; for (;;) n = n * n % (1n << 20000n) + 1n"],
  ["JSON", "const a = {}; const big = Array(1e4).fill('x'); for (;;) JSON.stringify(big)"],
])("processor time ends %s within 10 ms", async (_, source) => {
  await using sandbox = await runtime.sandbox({ limits: { cpuMs: 100 } });
  // The clock of a thread stands still while others run, and an epoch is 10 ms of all.
  expect(await leastCpuUs(sandbox, source, 125_000)).toBeLessThan(125_000);
});

/**
 * Evaluates what processor time ends until it took less than an amount, a few times at most: on a busy machine the clock that ends
 * evaluations may be late. Returns the least processor time.
 */
async function leastCpuUs(sandbox: Sandbox, source: string, most: number): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < 5 && least >= most; attempt++) {
    const done = await sandbox.evaluate(source);
    expect(done).toMatchObject({ ok: false, error: { kind: "limit", limit: "cpuMs" } });
    least = Math.min(least, done.usage.cpuUs);
  }
  return least;
}

/** A source that the parser tries in two ways at each level. */
const slow = `${"<a>(".repeat(25)}1${")".repeat(25)}`;

test("stripping types is a part of the processor time", async () => {
  await using sandbox = await runtime.sandbox({ limits: { cpuMs: 30 } });
  const stopped = await sandbox.evaluate(slow);
  expect(stopped).toMatchObject({ ok: false, error: { kind: "limit", limit: "cpuMs" } });
  expect(stopped.usage.cpuUs).toBeGreaterThanOrEqual(30_000);
  await using patient = await runtime.sandbox({ limits: { cpuMs: 60_000 } });
  const refused = await patient.evaluate(slow);
  expect(refused).toMatchObject({ error: { kind: "syntax", message: "the source takes too long to parse" } });
});

test("the processor time of a parser that the evaluation does not wait for is counted", async () => {
  await using sandbox = await runtime.sandbox({ limits: { cpuMs: 60_000, wallMs: 200 } });
  // The parser runs afterwards, so no time passes until it has started.
  await strip("let warm: number");
  const late = await sandbox.evaluate(slow);
  expect(late).toMatchObject({ ok: false, error: { kind: "limit", limit: "wallMs" } });
  expect(late.usage.cpuUs).toBeGreaterThan(0);
});

test("a script has the processor time that stripping has left", async () => {
  const limits = { cpuMs: 700, sourceBytes: 4 << 20 };
  await using sandbox = await runtime.sandbox({ limits });
  const functions = Array.from(
    { length: 12_000 },
    (_, n) => `function f${n}(a: number, b: string[]): string[] { return a > 1 ? b : [] }\n`,
  ).join("");
  const { usage } = await sandbox.evaluate(functions);
  // Stripping takes more than the tolerance, and the loop has ended earlier.
  expect(usage.cpuUs).toBeGreaterThan(40_000);
  expect(await leastCpuUs(sandbox, `${functions} for (;;);`, 725_000)).toBeLessThan(725_000);
});

/** A large value that acts when its beginning is encoded, and reports whether its end was. */
function watched(act: () => void) {
  let isRead = false;
  const reading = (then: () => void) => ({
    get value() {
      then();
      return 1;
    },
  });
  const last = reading(() => {
    isRead = true;
  });
  const value = [...Array(5_000).fill(0), reading(act), ...Array(200_000).fill(0), last];
  return { value, isRead: () => isRead };
}

function spinHere(ms: number): void {
  for (const ends = performance.now() + ms; performance.now() < ends; );
}

test.each<[end: string, begin: (sandbox: Sandbox, controller: AbortController) => void, error: object]>([
  ["a signal", (_, controller) => controller.abort(), { kind: "aborted" }],
  ["close", (sandbox) => void sandbox.close(), { kind: "aborted" }],
  ["wallMs", () => spinHere(300), { kind: "limit", limit: "wallMs" }],
])("%s ends an evaluation whose input is being encoded", async (_, begin, error) => {
  await using sandbox = await runtime.sandbox({ limits: { wallMs: 300 } });
  const controller = new AbortController();
  const { value, isRead } = watched(() => begin(sandbox, controller));
  const done = await sandbox.evaluate("1", { input: value, signal: controller.signal });
  expect(done).toMatchObject({ ok: false, error });
  expect(isRead()).toBe(false);
});

test("a tool's result is not read further when its evaluation has ended", async () => {
  const controller = new AbortController();
  const { value, isRead } = watched(() => controller.abort());
  const give = tool({ run: () => value });
  await using sandbox = await runtime.sandbox({ tools: { give } });
  const done = await sandbox.evaluate("give()", { signal: controller.signal });
  expect(done).toMatchObject({ ok: false, error: { kind: "aborted" } });
  // The slices of both take turns, so the first would be over before the second.
  await encodeInSlices(Array(400_000).fill(0), "another");
  expect(isRead()).toBe(false);
});

test("the stack is a limit of its own", async () => {
  await using sandbox = await runtime.sandbox();
  const overflow = { ok: false, error: { kind: "limit", limit: "stack" } };
  expect(await sandbox.evaluate("const f = () => f() + 1; f()")).toMatchObject(overflow);
  const caught = "const f = () => f() + 1; try { f() } catch (e) { e instanceof RangeError }";
  expect(await sandbox.evaluate(caught)).toMatchObject({ ok: true, value: true });
});

test("memory holds to the page", async () => {
  await using sandbox = await runtime.sandbox({ limits: { memoryBytes: 12 << 20 } });
  const done = await sandbox.evaluate("const all = []; for (;;) all.push(new Uint8Array(65_536))");
  expect(done).toMatchObject({ ok: false, error: { kind: "limit", limit: "memoryBytes" } });
  expect(done.usage.peakMemoryBytes).toBeLessThanOrEqual(12 << 20);
});

test("Node's event loop does not wait for endless loops", { timeout: 120_000 }, async () => {
  await using sandbox = await runtime.sandbox({ limits: { cpuMs: 60, wallMs: 100_000 } });
  const all = Promise.all(Array.from({ length: 8 }, () => sandbox.evaluate("for (;;);")));
  let isOver = false;
  void all.then(() => {
    isOver = true;
  });
  let turns = 0;
  while (!isOver) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    turns++;
  }
  expect(new Set((await all).map((done) => (done.ok ? "value" : done.error.limit)))).toEqual(new Set(["cpuMs"]));
  expect(turns).toBeGreaterThan(20);
});
