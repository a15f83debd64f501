/** Answers the calls of tools: checks what a script sends, runs the tool, and checks its result. */
import type { Tools as NativeTools } from "@tenon/native";
import { native } from "../native.ts";
import { decodeInSlices } from "./decode.ts";
import { encode, encodeAll, encodeInSlices } from "./encode.ts";
import { type AnySchema, type AnyTool, issuesText, PublicError } from "./tool.ts";

/** The part of an evaluation that its tools see. */
export interface CallingEvaluation {
  readonly signal: AbortSignal;
  readonly context: unknown;
  /** The tools of an evaluation that has other ones than its sandbox. */
  readonly tools?: ReadonlyMap<string, AnyTool> | undefined;
}

/** Receives the errors of tools that are hidden from scripts. */
export type OnToolError = (error: unknown, tool: string) => void | Promise<void>;

/** An error whose message is for the script. */
class Refused extends Error {}

interface State {
  running: number;
  readonly waiting: (() => void)[];
}

type Running = CallingEvaluation & { readonly calls: State };

/** The tools of a sandbox, as a sidecar in this process. */
export class ToolCalls {
  readonly #native: NativeTools;
  readonly #evaluations: Map<number, Running>;

  constructor(tools: ReadonlyMap<string, AnyTool>, concurrent: number, onError: OnToolError) {
    // The addon holds the function, so it must not lead back to this object.
    const evaluations = new Map<number, Running>();
    this.#evaluations = evaluations;
    let addon: NativeTools | undefined;
    addon = new (native().Tools)((call, number, body) => {
      const evaluation = evaluations.get(number);
      if (evaluation === undefined) return;
      const { calls, signal } = evaluation;
      const run = async () => {
        const answer = await answerOf(tools, evaluation, body, onError);
        if (!signal.aborted) addon?.answer(call, answer);
        const next = calls.waiting.shift();
        if (next === undefined) calls.running--;
        else next();
      };
      if (calls.running >= concurrent) calls.waiting.push(() => void run());
      else {
        calls.running++;
        void run();
      }
    });
    this.#native = addon;
  }

  /** The address for a runtime. */
  get address(): string {
    return this.#native.address;
  }

  /** Answers the calls of an evaluation from now on. */
  begin(number: number, evaluation: CallingEvaluation): void {
    this.#evaluations.set(number, { ...evaluation, calls: { running: 0, waiting: [] } });
  }

  /** Answers no more calls of an evaluation. */
  end(number: number): void {
    const evaluation = this.#evaluations.get(number);
    if (evaluation === undefined) return;
    evaluation.calls.waiting.length = 0;
    this.#evaluations.delete(number);
  }
}

const noError = encode(false);

async function answerOf(
  tools: ReadonlyMap<string, AnyTool>,
  evaluation: CallingEvaluation,
  body: Buffer,
  onError: OnToolError,
): Promise<Buffer> {
  const failed = (message: string) => encode([true, message]);
  let path = "a tool";
  let tool: AnyTool | undefined;
  try {
    const [name, given] = await pathAndInput(body);
    tool = (evaluation.tools ?? tools).get(name);
    if (tool === undefined) return failed(`there is no tool ${JSON.stringify(name.slice(0, 100))}`);
    path = name;
    const { input: accepts, output: returns } = tool;
    const input = accepts ? await checked(accepts, given, (issues) => new Refused(`${path}: ${issues}`)) : given;
    if (evaluation.signal.aborted) return failed("the evaluation has ended");
    const { signal, context } = evaluation;
    const result = await tool.run(input as never, { signal, context });
    const isWrong = (issues: string) => new Error(`${path}: the result is wrong: ${issues}`);
    const output = returns ? await checked(returns, result, isWrong) : result;
    // The answer is not sent when the evaluation has ended.
    return encodeAll([noError, await encodeInSlices(output, `the result of ${path}`, () => signal.aborted)]);
  } catch (error) {
    if (tool?.publicErrors === true || isPublic(error)) return failed(messageOf(error));
    void report(error, path, onError);
    return failed(`${path} failed`);
  }
}

/** Reports whether a script may read an error. A tool may throw a Proxy, which may throw itself at `instanceof`. */
function isPublic(error: unknown): boolean {
  try {
    return error instanceof Refused || error instanceof PublicError;
  } catch {
    return false;
  }
}

/** Gives an error to the program. A mistake in `onToolError` must not end the process: a script decides when a tool fails. */
async function report(error: unknown, path: string, onError: OnToolError): Promise<void> {
  try {
    await onError(error, path);
  } catch (mistake) {
    process.emitWarning(`onToolError has failed: ${messageOf(mistake)}`);
  }
}

async function pathAndInput(body: Buffer): Promise<[path: string, input: unknown]> {
  let call: unknown;
  try {
    call = await decodeInSlices(body);
  } catch {
    throw new Refused("the call is invalid");
  }
  if (!Array.isArray(call) || call.length !== 2 || typeof call[0] !== "string")
    throw new Refused("the call is invalid");
  return [call[0], call[1]];
}

async function checked(schema: AnySchema, value: unknown, wrong: (issues: string) => Error): Promise<unknown> {
  const result = await schema["~standard"].validate(value);
  if (result.issues === undefined) return result.value;
  throw wrong(issuesText(result.issues));
}

/** The text of whatever a tool has thrown: it may have no text, and an error's message may be any value. */
function messageOf(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error).slice(0, 2_000);
  } catch {
    return "the tool has failed";
  }
}
