/**
 * Replaces the types of TypeScript by spaces, so that positions stay. The parser is SWC in WebAssembly, which Node uses as well.
 *
 * The text is hostile: it may be nested so deeply that the parser's stack overflows, after which its memory is unusable, or take long. So the
 * parser runs on a thread of its own, which is ended then. Node's event loop never waits for it.
 */
import { readFileSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { requireHere } from "../package.ts";
import { Columns } from "./columns.ts";

/** The result: JavaScript, or the reason why there is none. The processor time of its parsing is 0 when it was there before. */
export type Stripped = { readonly cpuUs: number } & (
  | { readonly code: string }
  | { readonly error: SyntaxProblem }
  /** The budget that was given is spent. */
  | { readonly isSpent: true }
);

/** A mistake in a source. Lines and columns begin with 1. */
export interface SyntaxProblem {
  readonly message: string;
  readonly line?: number;
  readonly column?: number;
}

/** The worker's first message. */
interface Ready {
  readonly module: WebAssembly.Module;
}

/** The answer of the worker. */
type StripAnswer = { readonly us: number } & (
  | { readonly code: string }
  | { readonly broken: true }
  | { readonly message: string; readonly line?: number; readonly column?: number }
);

/**
 * Runs on the thread. A trap leaves the parser's memory as it was in the middle of a function.
 *
 * The processor time of a source is the time that passes, less that in which the thread waits for a processor. Linux counts the latter exactly,
 * and the processor time of a running thread in steps of some milliseconds. Elsewhere all the time counts, and where the kernel's file has only
 * zeros, or is not there.
 *
 * V8 compiles a function of the parser at its first call, which takes tens of milliseconds in all, so sources of ours come first.
 */
const program = `
const { readFileSync, readlinkSync } = require("node:fs");
const { parentPort, workerData } = require("node:worker_threads");
const { parser, first, running } = workerData;
let schedstat;
running[2] = 0;
try {
  const thread = readlinkSync("/proc/thread-self").split("/").at(-1);
  const file = "/proc/self/task/" + thread + "/schedstat";
  if (Number.parseInt(readFileSync(file, "latin1")) > 0) [schedstat, running[2]] = [file, thread];
} catch {}
const read = () => {
  if (schedstat === undefined) return [Number(process.hrtime.bigint()) / 1000, 0];
  return readFileSync(schedstat, "latin1").split(" ").map((each) => each / 1000);
};
let module;
const { Module } = WebAssembly;
WebAssembly.Module = function (bytes) {
  return (module = new Module(bytes));
};
const { transformSync } = require(parser);
for (const source of first) {
  try {
    transformSync(source, { mode: "strip-only" });
  } catch {}
}
parentPort.postMessage({ module });
parentPort.on("message", ({ source, number }) => {
  const began = performance.now();
  const [used, waited] = read();
  running[1] = used;
  running[0] = number;
  const answer = (result) => {
    const us = (performance.now() - began) * 1000 - (read()[1] - waited);
    running[0] = 0;
    parentPort.postMessage({ ...result, us: Math.max(us, 1) });
  };
  try {
    answer({ code: transformSync(source, { mode: "strip-only" }).code });
  } catch (error) {
    if (error instanceof Error || typeof error !== "object" || error === null) return answer({ broken: true });
    answer({ message: String(error.message), line: error.startLine, column: error.startColumn + 1 });
  }
});`;

/** Sources with the constructs of many programs, and one with a mistake. */
const FIRST = [
  `import { find } from "crm";
type Id = number | string;
interface Person<T = {}> { readonly id: Id; name?: string; [key: string]: unknown; of(each: T): asserts each is T }
declare const known: Map<Id, Person>;
export abstract class Base<T> extends Array<T> implements Iterable<T> {
  static #count = 0; private readonly name!: string; declare other: T;
  static { this.#count++ } get size(): number { return this.length } set size(value) {} async *each(): AsyncGenerator<T> { yield* this }
}
function assert(value: unknown, ...rest: string[]): asserts value { if (!value) throw new Error(\`\${rest.join(", ")}\`) }
label: for (const [key, { a = 1, ...others }] of Object.entries({ a: {} } as Record<string, any>)) { if (key === "b") continue label; else break }
for (let i = 0, n = 2 ** 3; i < n; i += 1) try { null?.[i]?.(/a+(?<y>b)/giu) ?? 1n } catch { void 0 } finally { i-- }
for (const key in {}) do { delete ({} as any)[key] } while (typeof key !== "string" && !key);
switch (1 as number) { case 1: case 2: break; default: debugger }
const tag = (strings: TemplateStringsArray, ...values: unknown[]) => values satisfies unknown[];
export const run = async <T extends object>({ id }: { id: Id }, [x, , y]: readonly T[] = []): Promise<T | undefined> => {
  const found = (await find(id))!; let a, b = x ? y : found; [a, b] = [b, a]; ({ a, ...b } = { a, b });
  return tag\`\${a}\` && new (class { [Symbol.iterator] = function* () { const got = yield 1; return got } })(), eval("1"), b;
};
export default { run, get [\`k\${1}\`]() { return super.toString() }, async *g() { for await (const each of []) yield each }, 0x1f: import("crm") };`,
  "enum A { b }",
  "let = ;",
];

/** Processor time in milliseconds for one source, and the same again for each MiB. One MiB of plain functions takes some 80 ms. */
const LIMIT = 250;

/** Time in milliseconds for one source on a busy machine, with the start of the thread. */
const TIMEOUT = 30_000;

/** Characters of sources and results that are kept. */
const KEPT = 8 << 20;

interface Job {
  readonly source: string;
  /** Sources of different owners take turns. */
  readonly owner: object;
  /** Processor time in microseconds that it may take. */
  readonly budgetUs: number;
  /** Reports that nobody waits for the result any more. */
  readonly isOver: () => boolean;
  readonly resolve: (stripped: Stripped) => void;
}

/** Strips sources, one after another, on one thread for all sandboxes. */
class Stripper {
  #worker: Worker | undefined;
  /** The parser's code, which V8 shares with the next worker as long as the module is kept: it starts in half the time, and compiles nothing. */
  #module: WebAssembly.Module | undefined;
  /**
   * The number of the source that the worker parses, its {@link clockUs} when it began, and the thread's id, or 0 where processor time is not
   * counted. The worker writes them, because a message reaches a busy event loop late.
   */
  readonly #running = new Float64Array(new SharedArrayBuffer(24));
  #number = 0;
  #current: { readonly job: Job; readonly limitUs: number; readonly began: number; timer: NodeJS.Timeout } | undefined;
  /** The owner whose turn is next is first. */
  readonly #waiting = new Map<object, Job[]>();
  /** Results by source; the oldest is first. */
  readonly #kept = new Map<string, Stripped>();
  #size = 0;

  strip(source: string, owner: object, budgetUs: number, isOver: () => boolean): Promise<Stripped> | Stripped {
    const kept = this.#known(source);
    if (kept !== undefined) return kept;
    return new Promise((resolve) => {
      const job = { source, owner, budgetUs, isOver, resolve };
      const waiting = this.#waiting.get(owner);
      if (waiting === undefined) this.#waiting.set(owner, [job]);
      else waiting.push(job);
      this.#next();
    });
  }

  /** Takes a source of the owner whose turn it is. */
  #take(): Job | undefined {
    for (const [owner, jobs] of this.#waiting) {
      this.#waiting.delete(owner);
      const job = jobs.shift();
      if (jobs.length > 0) this.#waiting.set(owner, jobs);
      return job;
    }
    return undefined;
  }

  /** The result of a source that was stripped before, which is now the newest one. */
  #known(source: string): Stripped | undefined {
    const kept = this.#kept.get(source);
    if (kept === undefined) return undefined;
    this.#kept.delete(source);
    this.#kept.set(source, kept);
    return { ...kept, cpuUs: 0 };
  }

  #next(): void {
    if (this.#current !== undefined) return;
    let job = this.#take();
    for (; job !== undefined; job = this.#take()) {
      if (job.isOver()) continue;
      // The same source may have been stripped while this one waited.
      const kept = this.#known(job.source);
      if (kept === undefined) break;
      job.resolve(kept);
    }
    if (job === undefined) {
      this.#worker?.unref();
      return;
    }
    this.#worker ??= this.#start();
    this.#worker.ref();
    const limitUs = Math.min(LIMIT * 1000 * (1 + job.source.length / 2 ** 20), job.budgetUs);
    const timer = setTimeout(() => this.#watch(), limitUs / 1000);
    this.#current = { job, limitUs, began: performance.now(), timer };
    this.#worker.postMessage({ source: job.source, number: ++this.#number });
  }

  /** Ends the thread if the current source has used its time, and else looks again later. */
  #watch(): void {
    const current = this.#current;
    if (current === undefined) return;
    const waited = performance.now() - current.began;
    const used = this.#usedUs();
    // Refused without keeping the result: on a busy machine the next attempt may be in time.
    if (used >= current.job.budgetUs) this.#stop({ isSpent: true, cpuUs: used });
    else if (used >= current.limitUs || waited > TIMEOUT)
      this.#stop({ error: { message: "the source takes too long to parse" }, cpuUs: used });
    else current.timer = setTimeout(() => this.#watch(), Math.max((current.limitUs - used) / 1000, 1));
  }

  /** Processor time of a source so far, in microseconds: 0 while it waits. */
  usedUs(source: string, owner: object): number {
    const job = this.#current?.job;
    return job?.source === source && job.owner === owner ? this.#usedUs() : 0;
  }

  /** Processor time of the current source so far, in microseconds: 0 while the worker does not parse it. */
  #usedUs(): number {
    const [number, began = 0, thread = 0] = this.#running;
    if (number !== this.#number) return 0;
    try {
      return Math.max(clockUs(thread) - began, 0);
    } catch {
      // The thread has ended, which is reported in its turn.
      return 0;
    }
  }

  #start(): Worker {
    const worker = new Worker(program, {
      eval: true,
      workerData: { parser: requireHere.resolve("@swc/wasm-typescript"), first: FIRST, running: this.#running },
      resourceLimits: { maxOldGenerationSizeMb: 512 },
      execArgv: [],
    });
    worker.on("message", (answer: StripAnswer | Ready) => {
      if (worker !== this.#worker) return;
      if ("module" in answer) {
        this.#module = answer.module;
        return;
      }
      if ("broken" in answer)
        return this.#stop({ error: { message: "the source is nested too deeply" }, cpuUs: answer.us }, true);
      this.#settle(
        "code" in answer
          ? { code: answer.code, cpuUs: answer.us }
          : { error: problemOf(answer, this.#current?.job.source ?? ""), cpuUs: answer.us },
      );
    });
    const failed = () =>
      worker === this.#worker && this.#stop({ error: { message: "the source cannot be parsed" }, cpuUs: 0 }, true);
    worker.on("error", failed).on("exit", failed);
    return worker;
  }

  /** Ends the thread with the source that it has. */
  #stop(stripped: Stripped, isKept = false): void {
    const worker = this.#worker;
    this.#worker = undefined;
    void worker?.terminate();
    this.#settle(stripped, isKept);
  }

  #settle(stripped: Stripped, isKept = true): void {
    const current = this.#current;
    if (current === undefined) return;
    this.#current = undefined;
    clearTimeout(current.timer);
    if (isKept) this.#keep(current.job.source, stripped);
    current.job.resolve(stripped);
    this.#next();
  }

  #keep(source: string, stripped: Stripped): void {
    const sizeOf = (each: string, result: Stripped) =>
      each.length + ("code" in result ? result.code.length : 256) + 256;
    const size = sizeOf(source, stripped);
    if (size > KEPT / 8) return;
    this.#kept.set(source, stripped);
    this.#size += size;
    for (const [oldest, result] of this.#kept) {
      if (this.#size <= KEPT) return;
      this.#kept.delete(oldest);
      this.#size -= sizeOf(oldest, result);
    }
  }
}

function problemOf({ message: said, line, column }: SyntaxProblem, source: string): SyntaxProblem {
  const message = said.replace(
    "is not supported in strip-only mode",
    "must be written in JavaScript: it produces code",
  );
  if (line === undefined || column === undefined) return { message };
  return { message, line, column: new Columns(source).ofCells(line, column) };
}

/** Processor time of a thread in microseconds; where none is counted, the time. */
const clockUs = (thread: number) =>
  thread === 0
    ? Number(process.hrtime.bigint()) / 1000
    : Number(readFileSync(`/proc/self/task/${thread}/schedstat`, "latin1").split(" ")[0]) / 1000;

const stripper = new Stripper();

/**
 * Strips a source, or returns its result from before.
 *
 * @param owner sources of different owners take turns
 * @param budgetUs processor time that the parsing may take, in microseconds. The parser is stopped as soon as the event loop notices that
 *   it is spent
 * @param isOver asked before the source is parsed; if it returns true, the promise stays pending
 */
export const strip = (
  source: string,
  owner: object = stripper,
  budgetUs: number = Number.POSITIVE_INFINITY,
  isOver = () => false,
): Promise<Stripped> | Stripped => stripper.strip(source, owner, budgetUs, isOver);

/** Processor time of the parsing of an owner's source so far, in microseconds. */
export const usedUs = (source: string, owner: object): number => stripper.usedUs(source, owner);
