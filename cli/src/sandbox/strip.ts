/**
 * Replaces the types of TypeScript by spaces, so that positions stay. The parser is SWC in WebAssembly, which Node uses as well.
 *
 * The text is hostile: it may be nested so deeply that the parser's stack overflows, after which its memory is unusable, or take long. So the
 * parser runs on a thread of its own, which is ended then. Node's event loop never waits for it.
 */
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

/** The answer of the worker. */
type Answer = { readonly us: number } & (
  | { readonly code: string }
  | { readonly broken: true }
  | { readonly message: string; readonly line?: number; readonly column?: number }
);

/**
 * Runs on the thread. A trap leaves the parser's memory as it was in the middle of a function. Linux reports the processor time of a thread in
 * nanoseconds; elsewhere the time counts.
 */
const program = `
const { readFileSync } = require("node:fs");
const { parentPort, workerData } = require("node:worker_threads");
const usedUs = () => {
  try {
    return Number(readFileSync("/proc/thread-self/schedstat", "latin1").split(" ")[0]) / 1000;
  } catch {
    return performance.now() * 1000;
  }
};
const { transformSync } = require(workerData);
parentPort.on("message", (source) => {
  const began = usedUs();
  const answer = (result) => parentPort.postMessage({ ...result, us: usedUs() - began });
  try {
    answer({ code: transformSync(source, { mode: "strip-only" }).code });
  } catch (error) {
    if (error instanceof Error || typeof error !== "object" || error === null) return answer({ broken: true });
    answer({ message: String(error.message), line: error.startLine, column: error.startColumn + 1 });
  }
});`;

/** Time in milliseconds for one source. */
const TIMEOUT = 2_000;

/** Characters of sources and results that are kept. */
const KEPT = 8 << 20;

interface Job {
  readonly source: string;
  /** Reports that nobody waits for the result any more. */
  readonly isOver: () => boolean;
  readonly resolve: (stripped: Stripped) => void;
}

/** Strips sources, one after another, on one thread for all sandboxes. */
class Stripper {
  #worker: Worker | undefined;
  #current: { readonly job: Job; readonly timer: NodeJS.Timeout } | undefined;
  readonly #waiting: Job[] = [];
  /** Results by source; the oldest is first. */
  readonly #kept = new Map<string, Stripped>();
  #size = 0;

  strip(source: string, isOver: () => boolean): Promise<Stripped> | Stripped {
    const kept = this.#known(source);
    if (kept !== undefined) return kept;
    return new Promise((resolve) => {
      this.#waiting.push({ source, isOver, resolve });
      this.#next();
    });
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
    let job = this.#waiting.shift();
    for (; job !== undefined; job = this.#waiting.shift()) {
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
    this.#current = { job, timer: setTimeout(() => this.#late(), TIMEOUT) };
    this.#worker.postMessage(job.source);
  }

  #start(): Worker {
    const worker = new Worker(program, {
      eval: true,
      workerData: requireHere.resolve("@swc/wasm-typescript"),
      resourceLimits: { maxOldGenerationSizeMb: 512 },
      execArgv: [],
    });
    worker.on("message", (answer: Answer) => {
      if (worker !== this.#worker) return;
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

  /** Refuses a source without keeping the result: on a busy machine the next attempt may be in time. */
  #late(): void {
    this.#end("the source takes too long to parse", TIMEOUT * 1_000, false);
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

const stripper = new Stripper();

/**
 * Strips a source, or returns its result from before.
 *
 * @param isOver asked before the source is parsed; if it returns true, the promise stays pending
 */
export const strip = (source: string, isOver = () => false): Promise<Stripped> | Stripped =>
  stripper.strip(source, isOver);
