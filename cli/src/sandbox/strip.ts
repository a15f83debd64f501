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

/** The result: JavaScript, or the reason why there is none. */
export type Stripped =
  | { readonly code: string; readonly cpuUs: number }
  | { readonly error: SyntaxProblem; readonly cpuUs: number };

/** A mistake in a source. Lines and columns begin with 1. */
export interface SyntaxProblem {
  readonly message: string;
  readonly line?: number;
  readonly column?: number;
}

/** The worker's first message. */
interface Ready {
  /** The file with the thread's processor time; undefined where the system does not report it. */
  readonly schedstat: string | undefined;
  /** Processor time of the thread so far, in microseconds. */
  readonly total: number;
}

/** The answer of the worker. */
type StripAnswer = { readonly us: number; readonly total: number } & (
  | { readonly code: string }
  | { readonly broken: true }
  | { readonly message: string; readonly line?: number; readonly column?: number }
);

/**
 * Runs on the thread. A trap leaves the parser's memory as it was in the middle of a function. Linux reports the processor time of a thread in
 * nanoseconds; elsewhere the time counts.
 */
const program = `
const { readFileSync, readlinkSync } = require("node:fs");
const { parentPort, workerData } = require("node:worker_threads");
let schedstat;
try {
  schedstat = "/proc/" + readlinkSync("/proc/thread-self") + "/schedstat";
} catch {}
const usedUs = () =>
  schedstat === undefined ? performance.now() * 1000 : Number(readFileSync(schedstat, "latin1").split(" ")[0]) / 1000;
const { transformSync } = require(workerData);
parentPort.postMessage({ schedstat, total: usedUs() });
parentPort.on("message", (source) => {
  const began = usedUs();
  const answer = (result) => {
    const total = usedUs();
    parentPort.postMessage({ ...result, us: total - began, total });
  };
  try {
    answer({ code: transformSync(source, { mode: "strip-only" }).code });
  } catch (error) {
    if (error instanceof Error || typeof error !== "object" || error === null) return answer({ broken: true });
    answer({ message: String(error.message), line: error.startLine, column: error.startColumn + 1 });
  }
});`;

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
  /** Reports that nobody waits for the result any more. */
  readonly isOver: () => boolean;
  readonly resolve: (stripped: Stripped) => void;
}

/** Strips sources, one after another, on one thread for all sandboxes. */
class Stripper {
  #worker: Worker | undefined;
  /** Its last report; undefined before the first. */
  #reported: Ready | undefined;
  #current: { readonly job: Job; readonly limitUs: number; readonly began: number; timer: NodeJS.Timeout } | undefined;
  /** The owner whose turn is next is first. */
  readonly #waiting = new Map<object, Job[]>();
  /** Results by source; the oldest is first. */
  readonly #kept = new Map<string, Stripped>();
  #size = 0;

  strip(source: string, owner: object, isOver: () => boolean): Promise<Stripped> | Stripped {
    const kept = this.#known(source);
    if (kept !== undefined) return kept;
    return new Promise((resolve) => {
      const job = { source, owner, isOver, resolve };
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
    const limitUs = LIMIT * 1000 * (1 + job.source.length / 2 ** 20);
    const timer = setTimeout(() => this.#watch(), limitUs / 1000);
    this.#current = { job, limitUs, began: performance.now(), timer };
    this.#worker.postMessage(job.source);
  }

  /** Ends the thread if the current source has used its time, and else looks again later. */
  #watch(): void {
    const current = this.#current;
    if (current === undefined) return;
    const waited = performance.now() - current.began;
    const used = this.#usedUs() ?? waited * 1000;
    // Refused without keeping the result: on a busy machine the next attempt may be in time.
    if (used >= current.limitUs || waited > TIMEOUT) this.#end("the source takes too long to parse", used, false);
    else current.timer = setTimeout(() => this.#watch(), Math.max((current.limitUs - used) / 1000, 5));
  }

  /** Processor time of the current source so far; undefined where the system does not report it. */
  #usedUs(): number | undefined {
    const { schedstat, total } = this.#reported ?? { total: 0 };
    if (this.#reported === undefined) return 0;
    if (schedstat === undefined) return undefined;
    try {
      return Math.max(threadUs(schedstat) - total, 0);
    } catch {
      return undefined;
    }
  }

  #start(): Worker {
    const worker = new Worker(program, {
      eval: true,
      workerData: requireHere.resolve("@swc/wasm-typescript"),
      resourceLimits: { maxOldGenerationSizeMb: 512 },
      execArgv: [],
    });
    this.#reported = undefined;
    worker.on("message", (answer: StripAnswer | Ready) => {
      if (worker !== this.#worker) return;
      if ("schedstat" in answer) {
        this.#reported = answer;
        return;
      }
      this.#reported = { schedstat: this.#reported?.schedstat, total: answer.total };
      if ("broken" in answer) return this.#end("the source is nested too deeply", answer.us);
      this.#settle(
        "code" in answer
          ? { code: answer.code, cpuUs: answer.us }
          : { error: problemOf(answer, this.#current?.job.source ?? ""), cpuUs: answer.us },
      );
    });
    const failed = () => worker === this.#worker && this.#end("the source cannot be parsed");
    worker.on("error", failed).on("exit", failed);
    return worker;
  }

  /** Ends the thread with the source that it has. */
  #end(message: string, cpuUs = 0, isKept = true): void {
    const worker = this.#worker;
    this.#worker = undefined;
    void worker?.terminate();
    this.#settle({ error: { message }, cpuUs }, isKept);
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

/** Processor time of a thread, from its file. */
const threadUs = (schedstat: string) => Number(readFileSync(schedstat, "latin1").split(" ")[0]) / 1000;

const stripper = new Stripper();

/**
 * Strips a source, or returns its result from before.
 *
 * @param owner sources of different owners take turns
 * @param isOver asked before the source is parsed; if it returns true, the promise stays pending
 */
export const strip = (source: string, owner: object = stripper, isOver = () => false): Promise<Stripped> | Stripped =>
  stripper.strip(source, owner, isOver);
