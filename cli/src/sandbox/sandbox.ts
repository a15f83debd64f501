/** The class `Sandbox`: code that a customer or a model wrote, evaluated inside this program. */
import { defaultMaxListeners, getMaxListeners, setMaxListeners } from "node:events";
import type { Evaluations as NativeEvaluations, Runtime as NativeRuntime, NativeUsage } from "@tenon/native";
import { nativeOptions } from "../embed/native-options.ts";
import { TenonError } from "../errors.ts";
import { compilerCommand, fromNative, native } from "../native.ts";
import { refuseWrongEvaluation, refuseWrongSandbox } from "./check-options.ts";
import { Columns } from "./columns.ts";
import { sandboxComponent } from "./component.ts";
import { declarations } from "./declarations.ts";
import { decodeInSlices } from "./decode.ts";
import { encode, encodeAll, encodeInSlices } from "./encode.ts";
import { importPlace } from "./import-place.ts";
import { type SandboxLimitName, type SandboxLimits, wholeLimits } from "./limits.ts";
import { type Stripped, strip, usedUs } from "./strip.ts";
import { type AnySchema, type AnyTool, issuesText, type Tools, toolNames, toolsByPath } from "./tool.ts";
import { type OnToolError, ToolCalls } from "./tool-calls.ts";

/** The options of `runtime.sandbox`. */
export interface SandboxOptions {
  /** Functions of this program that scripts call, by their names, or by the names of groups and their own. */
  readonly tools?: Tools;
  readonly limits?: SandboxLimits;
  /** Hosts that scripts may send requests to by `fetch`; none when left out. */
  readonly outbound?: { readonly allow?: readonly string[] };
  /** Variables, which scripts find in `process.env`; those of this process are not among them. */
  readonly env?: Readonly<Record<string, string>>;
  /** The schema of the input, which is validated by it. */
  readonly input?: AnySchema;
  /** Gets the errors of tools whose messages scripts do not learn. */
  readonly onToolError?: OnToolError;
}

/** The options of `evaluate`. */
export interface EvaluateOptions {
  /** The argument of the script's function, and its global `input`. A large one is read in slices, so it must not change meanwhile. */
  readonly input?: unknown;
  /** Ends the evaluation when it is aborted. */
  readonly signal?: AbortSignal;
  /** Tools of this evaluation, besides those of the sandbox, and in the place of those with the same name. */
  readonly tools?: Tools;
  /** A value for the tools that are called, such as the user. It does not enter the sandbox. */
  readonly context?: unknown;
}

/** The use of an evaluation. */
export interface EvaluationUsage {
  /** Processor time in microseconds, of the script and of this process's work for it. */
  readonly cpuUs: number;
  /** Time in microseconds. */
  readonly wallUs: number;
  /** The largest size of its memory in bytes. */
  readonly peakMemoryBytes: number;
  /** Calls of tools and other outbound calls. */
  readonly calls: number;
  /** Bytes of the source, the input, and responses to calls. */
  readonly bytesIn: number;
  /** Bytes of the value, and of calls. */
  readonly bytesOut: number;
}

/** A line that a script has logged. */
export interface EvaluationLog {
  /** `error` for `console.error` and `console.warn`. */
  readonly level: "info" | "error";
  readonly message: string;
}

/** The reason why there is no value. */
export interface EvaluationError {
  readonly kind: "thrown" | "limit" | "syntax" | "tool" | "aborted";
  readonly message: string;
  /** The name of the limit that was reached, if `kind` is `limit`. */
  readonly limit?: SandboxLimitName;
  /** The name of the error that was thrown, such as `TypeError`. */
  readonly name?: string;
  /** The line in the source, which begins with 1. */
  readonly line?: number;
  /** The column in the source, which begins with 1. */
  readonly column?: number;
  readonly stack?: string;
}

/** The result of `evaluate`. */
export type Evaluated =
  | { readonly ok: true; readonly value: unknown; readonly logs: EvaluationLog[]; readonly usage: EvaluationUsage }
  | {
      readonly ok: false;
      readonly error: EvaluationError;
      readonly logs: EvaluationLog[];
      readonly usage: EvaluationUsage;
    };

/** Evaluations that run at once; further ones wait, within their `wallMs`. */
const CONCURRENT = 1_024;

/** The name of the module in its own runtime. */
const MODULE = "sandbox";

/** Bytes of an answer without a value: a failure, whose texts the sandbox's program cuts. */
const ENVELOPE = 64 * 1024;

/** The first byte of the value in the answer `[false, value]`, and the tag of `false`. */
const VALUE_AT = 6;
const FALSE = 2;

/** Bytes of a call that are accepted whatever `outputBytes` is. */
const CALL_BYTES = 1024 * 1024;

/** The status of an answer in whose place the engine has reached `regexSteps`. No answer of a script has it. */
const REGEX_STEPS = 508;

const HOUR = 3_600_000;

/** The result without the log and the use. */
type Outcome = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: EvaluationError };

/** The parts of an evaluation that stay in the program. */
interface Running {
  /** The stripped source. */
  readonly code: string;
  readonly signal: AbortSignal | undefined;
  readonly context: unknown;
  readonly tools: ReadonlyMap<string, AnyTool> | undefined;
  /** In the place of what stripping has left of the sandbox's limit. */
  readonly cpuMs?: number;
}

type Settled = (status: number, body: Buffer, usage: NativeUsage) => void;

/** Evaluates source texts, each in an instance of its own that is gone afterwards. Made by `runtime.sandbox`. */
export class Sandbox {
  readonly #runtime: NativeRuntime;
  readonly #evaluations: NativeEvaluations;
  readonly #settled: Map<number, Settled>;
  readonly #calls: ToolCalls;
  readonly #options: SandboxOptions;
  readonly #limits: Required<SandboxLimits>;
  /** The parts of a request that are the same for all evaluations: tools, variables, and the limits that the instance enforces. */
  readonly #fixed: readonly [tools: Buffer, env: Buffer, outputBytes: Buffer, regexSteps: Buffer];
  readonly #closed: () => void;
  #isClosed = false;

  private constructor(
    runtime: NativeRuntime,
    calls: ToolCalls,
    options: SandboxOptions,
    limits: Required<SandboxLimits>,
    closed: () => void,
  ) {
    this.#runtime = runtime;
    this.#calls = calls;
    this.#options = options;
    this.#limits = limits;
    this.#fixed = [
      encode(toolNames(options.tools ?? {})),
      encode(options.env ?? {}),
      encode(limits.outputBytes),
      encode(limits.regexSteps),
    ];
    this.#closed = closed;
    const settled = new Map<number, Settled>();
    this.#settled = settled;
    this.#evaluations = new (native().Evaluations)(runtime, MODULE, (evaluation, status, body, usage) => {
      const settle = settled.get(evaluation);
      settled.delete(evaluation);
      settle?.(status, body, usage);
    });
  }

  /** Makes a sandbox; `closed` is called when it is closed. @internal */
  static async create(options: SandboxOptions, cacheFolder: string | false, closed: () => void): Promise<Sandbox> {
    refuseWrongSandbox(options);
    const limits = wholeLimits(options.limits ?? {});
    const onError = options.onToolError ?? (() => {});
    const calls = new ToolCalls(toolsByPath(options.tools ?? {}), limits.concurrentCalls, onError);
    const compiler = compilerCommand();
    // The parser starts meanwhile.
    const [component] = await Promise.all([sandboxComponent(), strip("")]);
    const given = nativeOptions({
      modules: { [MODULE]: component },
      sidecars: { tools: calls.address },
      outboundAllow: options.outbound?.allow ?? [],
      cacheFolder,
      requestTimeoutMs: limits.wallMs,
      maxBodyBytes: 4 * 1024 ** 3,
      maxResponseBytes: limits.outputBytes + ENVELOPE,
      maxBufferedBytes: 64 * 1024 ** 3,
      memoryLimitBytes: limits.memoryBytes,
      maxConcurrent: CONCURRENT,
      maxQueued: 100_000,
      queueTimeoutMs: HOUR,
      maxOutboundCalls: limits.calls,
      maxOutboundBodyBytes: Math.max(limits.outputBytes, CALL_BYTES),
      outboundTimeoutMs: HOUR,
      maxConcurrentPerSidecar: 10_000,
      breakerFailures: 1_000,
      maxLogBytes: 1024 ** 3,
    });
    const checked = { ...given, ...(compiler === undefined ? {} : { compiler }) };
    const sandbox = new Sandbox(await fromNative(native().Runtime.create(checked)), calls, options, limits, closed);
    // The first evaluation maps the code and the memory, which takes tens of milliseconds. No script pays for it.
    const body = encodeAll([encode("0"), encode(undefined), ...sandbox.#fixed]);
    const none = { code: "0", signal: undefined, context: undefined, tools: undefined };
    await sandbox.#run(body, performance.now(), 0, { ...none, cpuMs: HOUR });
    return sandbox;
  }

  /**
   * Evaluates a module in TypeScript or JavaScript, whose types are stripped and not checked. The result is that of its default export,
   * or of the value of its last expression: a function is called with the input, and any other value is the result. A promise is
   * waited for.
   *
   * A limit that is reached ends the evaluation. Whatever the script does, this resolves.
   *
   * @throws TypeError when the input cannot be cloned: only JSON's types, bytes (`Uint8Array`) and dates enter a sandbox
   * @throws TenonError `REQUEST` when the sandbox is closed, and `CONFIG` for a wrong argument
   */
  async evaluate(source: string, options: EvaluateOptions = {}): Promise<Evaluated> {
    if (typeof source !== "string") throw new TenonError("CONFIG", "`source` must be a string");
    refuseWrongEvaluation(options);
    if (this.#isClosed) throw new TenonError("REQUEST", "the sandbox is closed");
    const { signal, context, tools: own } = options;
    // Many evaluations may share a signal, and each listens to it: that is no leak to warn of.
    if (signal instanceof AbortSignal && hasDefaultLimit(signal)) setMaxListeners(CONCURRENT, signal);
    const began = performance.now();
    const { sourceBytes, wallMs, cpuMs } = this.#limits;
    const fails = (error: EvaluationError, cpuUs = 0): Evaluated => {
      const none = { peakMemoryBytes: 0, calls: 0, bytesIn: 0, bytesOut: 0 };
      return { ok: false, error, logs: [], usage: { cpuUs: Math.round(cpuUs), wallUs: since(began), ...none } };
    };
    if (signal?.aborted) return fails(aborted);
    // The bytes of a text of a GiB are not counted in vain.
    if (source.length > sourceBytes || Buffer.byteLength(source) > sourceBytes)
      return fails(limited("sourceBytes", `the source is larger than ${sourceBytes} bytes`));
    const left = () => wallMs - (performance.now() - began);
    const isOver = () => this.#isClosed || signal?.aborted === true || left() <= 0;
    const input = await encodeInSlices(await this.#input(options.input), "the input", isOver);
    if (this.#isClosed || signal?.aborted) return fails(this.#ended());
    const stripped = await strippedInTime(source, this, cpuMs * 1000, left(), signal);
    const { cpuUs } = stripped;
    if ("ended" in stripped) return fails(stripped.ended === "late" ? this.#limited("wall") : aborted, cpuUs);
    // The parser may have ended before the event loop noticed that it had to stop.
    if ("isSpent" in stripped || cpuUs >= cpuMs * 1000) return fails(this.#limited("cpu"), cpuUs);
    if ("error" in stripped) return fails({ kind: "syntax", ...stripped.error }, cpuUs);
    if (this.#isClosed) return fails(this.#ended(), cpuUs);
    const [names, ...fixed] = this.#fixed;
    const tools = own && { ...this.#options.tools, ...own };
    const all = tools === undefined ? names : encode(toolNames(tools));
    const body = encodeAll([encode(stripped.code), input, all, ...fixed]);
    return this.#run(body, began, cpuUs, { code: stripped.code, signal, context, tools: tools && toolsByPath(tools) });
  }

  /** The declarations of the tools and the input in TypeScript, for a model or an editor. */
  types(): string {
    return declarations(this.#options.tools ?? {}, this.#options.input);
  }

  /** Ends the evaluations that run, and frees the memory. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const evaluation of [...this.#settled.keys()]) this.#evaluations.cancel(evaluation);
    await fromNative(this.#runtime.flush());
    this.#runtime.release();
    this.#closed();
  }

  /** Closes at the end of a block: `await using sandbox = await runtime.sandbox(…)`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #input(given: unknown): Promise<unknown> {
    const schema = this.#options.input;
    if (schema === undefined) return given;
    const result = await schema["~standard"].validate(given);
    if (result.issues === undefined) return result.value;
    throw new TenonError("CONFIG", `the input is wrong: ${issuesText(result.issues)}`);
  }

  #run(
    body: Buffer,
    began: number,
    cpuUs: number,
    { code, signal, context, tools, cpuMs = this.#limits.cpuMs - cpuUs / 1000 }: Running,
  ): Promise<Evaluated> {
    const { logBytes, wallMs } = this.#limits;
    return new Promise((resolve) => {
      const ended = new AbortController();
      // Each call of a tool may listen to it.
      setMaxListeners(0, ended.signal);
      const evaluation = this.#evaluations.begin(body, cpuMs, logBytes);
      let reason: EvaluationError | undefined;
      const end = (why: EvaluationError) => {
        reason ??= why;
        this.#evaluations.cancel(evaluation);
      };
      const onAbort = () => end(aborted);
      // The runtime's own limit does not count the time in which an evaluation waits to begin.
      const late = Math.max(wallMs - (performance.now() - began), 0);
      const timer = setTimeout(() => end(this.#limited("wall")), late);
      signal?.addEventListener("abort", onAbort, { once: true });
      this.#calls.begin(evaluation, { signal: ended.signal, context, tools });
      this.#settled.set(evaluation, (status, answer, used) => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", onAbort);
        this.#calls.end(evaluation);
        ended.abort(new Error("the evaluation has ended"));
        const usage = { ...usageOf(used), wallUs: since(began) };
        usage.cpuUs += Math.round(cpuUs);
        const logs = logsOf(used);
        void this.#outcome(status, answer, used, reason, logs, code).then((outcome) =>
          resolve({ ...outcome, logs, usage } as Evaluated),
        );
      });
      // It may have been aborted before it could be listened to.
      if (signal?.aborted) onAbort();
    });
  }

  async #outcome(
    status: number,
    answer: Buffer,
    { limit }: NativeUsage,
    reason: EvaluationError | undefined,
    logs: EvaluationLog[],
    code: string,
  ): Promise<Outcome> {
    if (limit !== undefined) return { ok: false, error: this.#limited(limit) };
    if (reason !== undefined) return { ok: false, error: reason };
    if (status === 200) return this.#answered(answer, code);
    if (status === REGEX_STEPS) return { ok: false, error: this.#limited("regexSteps") };
    if (status === 504) return failed("the script waits for something that never happens");
    if (status === 0)
      return {
        ok: false,
        error: this.#isClosed ? this.#ended() : { kind: "thrown", message: "the evaluation was broken off" },
      };
    // A timer or a microtask has thrown, and that is logged.
    const uncaught = logs.filter(({ message }) => message.startsWith("Uncaught ")).at(-1);
    return failed(uncaught?.message.slice("Uncaught ".length) ?? "the script has ended its instance");
  }

  /** The failure of an evaluation that its program has ended. */
  #ended(): EvaluationError {
    return this.#isClosed ? { kind: "aborted", message: "the sandbox was closed" } : aborted;
  }

  /** Reads an answer, which a script may have forged. */
  async #answered(answer: Buffer, code: string): Promise<Outcome> {
    const isValue = answer[5] === FALSE;
    if (answer.length > this.#limits.outputBytes + (isValue ? VALUE_AT : ENVELOPE))
      return { ok: false, error: this.#limited("output") };
    try {
      const decoded = await decodeInSlices(answer);
      if (!Array.isArray(decoded) || decoded.length !== 2) return failed("the answer of the sandbox is invalid");
      return decoded[0] === false ? { ok: true, value: decoded[1] } : { ok: false, error: errorOf(decoded[1], code) };
    } catch (error) {
      return failed((error as Error).message);
    }
  }

  #limited(limit: string): EvaluationError {
    const { cpuMs, wallMs, memoryBytes, calls, outputBytes, logBytes, regexSteps } = this.#limits;
    switch (limit) {
      case "cpu":
        return limited("cpuMs", `the script has used more than ${cpuMs} ms of processor time`);
      case "wall":
        return limited("wallMs", `there was no value within ${wallMs} ms`);
      case "memory":
        return limited("memoryBytes", `the script needs more than ${memoryBytes} bytes of memory`);
      case "calls":
        return limited("calls", `the script has made more than ${calls} calls`);
      case "output":
        return limited("outputBytes", `the value is larger than ${outputBytes} bytes`);
      case "log":
        return limited("logBytes", `the script has logged more than ${logBytes} bytes`);
      case "regexSteps":
        return limited("regexSteps", `a regular expression has taken more than ${regexSteps} steps in one run`);
      default:
        return limited("host", "the script has reached a limit of the runtime");
    }
  }
}

const aborted: EvaluationError = { kind: "aborted", message: "the evaluation was aborted" };

const limited = (limit: SandboxLimitName, message: string): EvaluationError => ({ kind: "limit", limit, message });

const failed = (message: string) => ({ ok: false, error: { kind: "thrown", message } }) as const;

const since = (began: number) => Math.round((performance.now() - began) * 1000);

function usageOf({ cpuUs, peakMemoryBytes, calls, bytesIn, bytesOut }: NativeUsage) {
  return { cpuUs: Math.round(cpuUs), wallUs: 0, peakMemoryBytes, calls, bytesIn, bytesOut };
}

/** Frames of a stack whose columns are counted. The engine writes fewer. */
const FRAMES = 50;

/** The frames of the sandbox's own program. */
const ownFrame = /^\s+at (?:.* )?\(?(?:native|sandbox\.js:\d+(?::\d+)?)\)?$/;

/** The engine's line about a script that waits for nothing, which is an error of the evaluation. */
const WAITS = "The handler waits for something that never comes";

function logsOf({ log }: NativeUsage): EvaluationLog[] {
  const lines = log.filter(({ text }) => !ownFrame.test(text) && text !== WAITS);
  return lines.map(({ isError, text }) => ({ level: isError ? "error" : "info", message: text }));
}

/** The kinds and limits that an answer of the sandbox's program has. */
const kinds = new Set<unknown>(["thrown", "limit", "syntax", "tool"]);
const limitsOfProgram = new Set<unknown>(["stack", "outputBytes"]);

/** Reads a failure, of which every member may be anything. */
function errorOf(given: unknown, code: string): EvaluationError {
  const { kind, message, limit, name, line, column, stack } = (
    typeof given === "object" && given !== null ? given : {}
  ) as Readonly<Record<string, unknown>>;
  const isLimit = kind === "limit" && limitsOfProgram.has(limit);
  const isKnown = kinds.has(kind) && (kind !== "limit" || isLimit);
  const isText = (value: unknown): value is string => typeof value === "string";
  const isPlace = (value: unknown): value is number => Number.isInteger(value) && (value as number) > 0;
  const columns = new Columns(code);
  // A script may write its stack itself, and the event loop waits for the counting.
  let counted = 0;
  const framesOf = (text: string) =>
    text.replace(/\b(script\.ts:(\d+)):(\d+)/g, (frame, place, line, at) =>
      counted++ < FRAMES ? `${place}:${columns.ofBytes(+line, +at)}` : frame,
    );
  return {
    kind: isKnown ? (kind as EvaluationError["kind"]) : "thrown",
    message: isText(message) ? message : "the script has failed",
    ...(isLimit ? { limit: limit as SandboxLimitName } : {}),
    ...(isText(name) ? { name } : {}),
    ...(kind === "syntax" && isText(message) && !isPlace(line) ? importPlace(code, message) : {}),
    ...(isPlace(line) ? { line } : {}),
    ...(isPlace(column) ? { column: isPlace(line) ? columns.ofBytes(line, column) : column } : {}),
    ...(isText(stack) ? { stack: framesOf(stack) } : {}),
  };
}

/** Strips a source, in as much processor time and time as the evaluation may take. */
async function strippedInTime(
  source: string,
  owner: object,
  budgetUs: number,
  ms: number,
  signal: AbortSignal | undefined,
): Promise<Stripped | { readonly ended: "late" | "aborted"; readonly cpuUs: number }> {
  let isOver = false;
  if (ms <= 0) return { ended: "late", cpuUs: 0 };
  const stripped = strip(source, owner, budgetUs, () => isOver);
  if (!("then" in stripped)) return stripped;
  let end: ((how: "late" | "aborted") => void) | undefined;
  const ended = new Promise<"late" | "aborted">((resolve) => {
    end = resolve;
  });
  const timer = setTimeout(() => end?.("late"), ms);
  const onAbort = () => end?.("aborted");
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    const first = await Promise.race([stripped, ended]);
    return typeof first === "string" ? { ended: first, cpuUs: usedUs(source, owner) } : first;
  } finally {
    isOver = true;
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  }
}

/** Reports whether a signal has Node's own limit of listeners. */
function hasDefaultLimit(signal: AbortSignal): boolean {
  try {
    return getMaxListeners(signal) === defaultMaxListeners;
  } catch {
    // Node 20 throws when the limit is 0, which is none.
    return false;
  }
}
