/**
 * `execute` of code mode: runs a program apart from the app, and makes its calls through the app. All that comes out of the isolate is
 * text of the program's, and is treated as arguments of a stranger.
 */
import { isolateKey } from "../../abi.ts";
import { encodeBase64 } from "../../encoding/base64.ts";
import { type Request, rawOf } from "../../http/request.ts";
import { decodeUtf8, decodeUtf8Leniently, encodeUtf8, platform } from "../../platform.ts";
import type { RawRequest } from "../../raw.ts";
import type { Operation } from "../../routing/operation.ts";
import { type Callee, requestOf } from "../call-tool.ts";
import { MAX_DEPTH, MAX_REQUEST, MAX_SOURCE, PROGRAM_LIMITS } from "../limits.ts";
import { INVALID_PARAMS, isDeep, isObject, type Members, ProtocolError } from "../messages.ts";
import { type Answered, dataOf, headerOf, isJson, isText, piecesOf, readAnswer, takeStream } from "../read-answer.ts";
import type { McpOptions, ProgramLimits, ToolEntry } from "../types.ts";
import { Confirmations } from "./confirm.ts";
import { argumentsOf } from "./program-input.ts";
import { credentialsOf, redact, redactJson } from "./redact.ts";
import type { FromIsolate, Isolate, OpenIsolate, ProgramError, ToIsolate } from "./types.ts";

/** The outcome of a program. */
export interface Executed {
  readonly result:
    | { readonly ok: true; readonly value?: unknown }
    | { readonly ok: false; readonly error: ProgramError; readonly confirm?: Confirm };
  readonly logs: readonly { readonly level: "info" | "error"; readonly message: string }[];
  readonly usage: { readonly cpuUs: number; readonly calls: number };
  /** The last call that was answered with 401, and its challenge. */
  readonly refused?: { readonly operation: Operation; readonly challenge: string } | undefined;
}

/** Calls that wait for a confirmation, and the token that confirms them. */
interface Confirm {
  readonly calls: readonly {
    readonly name: string;
    readonly method: string;
    readonly path: string;
    readonly input?: unknown;
  }[];
  readonly token?: string;
}

/** The arguments of `execute`. */
interface Program {
  readonly code: string;
  readonly input: unknown;
  readonly token: unknown;
}

/** @throws ProtocolError */
function programOf({ code, input, confirm, ...others }: Members): Program {
  if (Object.keys(others).length > 0) {
    throw new ProtocolError(INVALID_PARAMS, 'execute takes "code", "input" and "confirm".');
  }
  if (typeof code !== "string" || code.length > MAX_SOURCE) {
    throw new ProtocolError(INVALID_PARAMS, `"code" must be a text of at most ${MAX_SOURCE} characters.`);
  }
  return { code, input, token: confirm };
}

/** Bytes that each line of a log counts besides its own. */
const LINE = 16;

const OVER: Readonly<Record<number, string>> = { 1: "cpuMs", 2: "memoryBytes" };

/**
 * Runs a program.
 *
 * @throws ProtocolError for arguments that are not those of `execute`
 */
export async function execute(
  args: Members,
  request: Request,
  callee: Callee,
  tools: readonly ToolEntry[],
  options: McpOptions,
): Promise<Executed> {
  const program = programOf(args);
  const limits: ProgramLimits = { ...PROGRAM_LIMITS, ...options.limits };
  const isolate = platform[isolateKey];
  if (isolate === undefined) throw new Error("execute needs an isolate: tenon build, tenon dev and testApp add it");
  return await new Execution(isolate, program, request, callee, tools, options, limits).run();
}

/** One run of a program. */
class Execution {
  readonly #credentials: readonly string[];
  readonly #logs: { level: "info" | "error"; message: string }[] = [];
  readonly #queue: FromIsolate["calls"][number][] = [];
  readonly #held: { name: string; method: string; path: string; input?: unknown; key: string }[] = [];
  #confirmations: Confirmations | undefined;
  /** The calls that the token confirms, each once. */
  #confirmed: string[] | undefined;
  #made = 0;
  #calls = 0;
  #logBytes = 0;
  #done: FromIsolate["done"];
  #refused: Executed["refused"];
  readonly #isolate: Isolate;
  #opened: OpenIsolate | undefined;
  readonly #program: Program;
  readonly #request: Request;
  readonly #callee: Callee;
  readonly #tools: readonly ToolEntry[];
  readonly #options: McpOptions;
  readonly #limits: ProgramLimits;

  constructor(
    isolate: Isolate,
    program: Program,
    request: Request,
    callee: Callee,
    tools: readonly ToolEntry[],
    options: McpOptions,
    limits: ProgramLimits,
  ) {
    this.#isolate = isolate;
    this.#program = program;
    this.#request = request;
    this.#callee = callee;
    this.#tools = tools;
    this.#options = options;
    this.#limits = limits;
    this.#credentials = credentialsOf(rawOf(request).headers, callee.keyHeaders);
  }

  async run(): Promise<Executed> {
    const { code, input, token } = this.#program;
    if (token !== undefined) {
      this.#confirmed = this.#signer().check(token);
      if (this.#confirmed === undefined) {
        return this.#failed("confirm", "The confirmation is not of this program and this caller, or it has expired.");
      }
    }
    this.#opened = this.#isolate.open();
    let over = this.#exchange({ run: code, input });
    while (over === undefined && this.#queue.length > 0) {
      const [call, route, given] = this.#queue.shift() as FromIsolate["calls"][number];
      if (++this.#calls > this.#limits.calls) return this.#limited("calls");
      // One after the other, because they share the instance.
      const answer = await this.#answer(route, given);
      if (answer !== undefined) over = this.#exchange({ call, ...answer });
    }
    if (over !== undefined) return over;
    if (this.#held.length > 0) return this.#unconfirmed();
    if (this.#done === undefined) return this.#failed("thrown", "The program waits for something that never happens.");
    if (!this.#done.ok) return this.#end({ ok: false, error: this.#done.error });
    return this.#valued(this.#done.value);
  }

  /** Hands a text to the program, and takes what it says. Returns the outcome when the program is over by it. */
  #exchange(text: ToIsolate): Executed | undefined {
    const { cpuMs, memoryBytes } = this.#limits;
    const said = this.#opened?.exchange(JSON.stringify(text), cpuMs * 1000, memoryBytes) ?? 0;
    const limit = typeof said === "number" ? OVER[said] : said.length > MAX_REQUEST ? "outputBytes" : undefined;
    if (limit !== undefined) return this.#limited(limit);
    const read = typeof said === "string" ? readSaid(said) : undefined;
    if (read === undefined) return this.#failed("thrown", "The program has broken its connection to the app.");
    // One more than it may make, so that it ends. A list of any length could be no list of arguments.
    this.#queue.push(...read.calls.slice(0, this.#limits.calls + 1));
    this.#done ??= read.done;
    for (const [isError, message] of read.logs) {
      this.#logBytes += encodeUtf8(message).length + LINE;
      if (this.#logBytes > this.#limits.logBytes) return this.#limited("logBytes");
      this.#logs.push({ level: isError ? "error" : "info", message });
    }
    return undefined;
  }

  /** Makes a call; undefined for one that waits for a confirmation. */
  async #answer(route: string, input: unknown): Promise<{ answer: unknown } | { refused: string } | undefined> {
    const tool = this.#tools.find((each) => each.route === route);
    if (tool === undefined) return { refused: `api.${route.slice(0, 128)} is not a route: search finds their names` };
    if (isDeep(input)) return { refused: `the argument must have at most ${MAX_DEPTH} levels` };
    const given = argumentsOf(tool, input);
    if (typeof given === "string") return { refused: given };
    const made = requestOf(tool, given, this.#request, this.#callee);
    if ("refused" in made) return { answer: { ok: false, status: made.refused.status, problem: made.refused } };
    const { built, operation } = made;
    if (!(await this.#isAllowed(tool, built, input))) return undefined;
    this.#made++;
    const raw = await this.#callee.handle(built, this.#callee.how);
    const step = takeStream(raw);
    const answered = await readAnswer(raw, step && piecesOf(step)).catch((thrown: unknown) => {
      if (isObject(thrown) && typeof thrown["status"] === "number") return thrown as Members & { status: number };
      throw thrown;
    });
    if (!("type" in answered && "headers" in answered)) {
      return { answer: { ok: false, status: answered.status, problem: answered } };
    }
    const challenge = answered.status === 401 ? headerOf(answered as Answered, "www-authenticate") : undefined;
    if (challenge !== undefined) this.#refused = { operation, challenge };
    return { answer: this.#answerOf(answered as Answered) };
  }

  /** Reports whether a call may be made now; otherwise it is held. */
  async #isAllowed(tool: ToolEntry, built: RawRequest, input: unknown): Promise<boolean> {
    const { confirm } = this.#options;
    const { method, pathWithQuery, body } = built;
    if (confirm === undefined || method === "GET") return true;
    const call = { name: tool.route, method, path: pathWithQuery, input };
    if (!(await confirm(call as Parameters<typeof confirm>[0]))) return true;
    // Declared headers, the caller's among them. Others may differ in the next request: traces, and numbers that proxies give to requests.
    const declared = new Set(tool.args.flatMap(([, place, header]) => (place === "header" ? [header] : [])));
    const headers = built.headers.flatMap(([header, value]) =>
      declared.has(header.toLowerCase()) ? [[header.toLowerCase(), encodeBase64(value)]] : [],
    );
    const key = this.#signer().nameOf([tool.route, pathWithQuery, headers, body ? encodeBase64(body) : ""]);
    const at = this.#confirmed?.indexOf(key) ?? -1;
    if (at === -1) {
      this.#held.push({ ...call, key });
      return false;
    }
    this.#confirmed?.splice(at, 1);
    return true;
  }

  #signer(): Confirmations {
    const { code, input } = this.#program;
    const { headers } = rawOf(this.#request);
    const { keyHeaders } = this.#callee;
    this.#confirmations ??= new Confirmations(this.#isolate, { headers, keyHeaders, source: code, input });
    return this.#confirmations;
  }

  /** The members of an answer of the typed client. */
  #answerOf(answer: Answered): Members {
    const { status, type, body } = answer;
    const data = body === undefined || body.length === 0 ? undefined : this.#dataIn(type, body);
    if (status < 400) return { ok: true, status, ...(data === undefined ? {} : { data }) };
    return { ok: false, status, problem: isObject(data) ? data : { status, ...(data ? { detail: data } : {}) } };
  }

  /** The data of a body: JSON, events, a text, or bytes in base64. */
  #dataIn(type: string, body: Uint8Array): unknown {
    const text = isText(type) ? decodeUtf8(body) : undefined;
    if (text === undefined) return this.#bytesOf(body);
    const value = isJson(type) ? parsed(text) : undefined;
    if (value !== undefined) {
      // Valid JSON only: in other texts, quotes without an end take quadratic time.
      const safe = redactJson(text, this.#credentials);
      return safe === text ? value : parsed(safe);
    }
    const redacted = redact(text, this.#credentials);
    return type === "text/event-stream" ? dataOf(redacted) : redacted;
  }

  /** Bytes in base64. The program's text could not be searched for credentials any more. */
  #bytesOf(body: Uint8Array): string {
    const text = decodeUtf8Leniently(body);
    const redacted = redact(text, this.#credentials);
    return encodeBase64(redacted === text ? body : encodeUtf8(redacted));
  }

  #unconfirmed(): Executed {
    const calls = this.#held.map(({ key: _, ...call }) => call);
    if (encodeUtf8(JSON.stringify(calls)).length > this.#limits.outputBytes) return this.#limited("outputBytes");
    if (this.#confirmed !== undefined) {
      const message = `The confirmation does not have these calls, which were not made; ${this.#made} calls were made.`;
      return this.#end({ ok: false, error: { kind: "confirm", message }, confirm: { calls } });
    }
    const token = this.#signer().sign(this.#held.map(({ key }) => key));
    const message =
      'These calls were not made. Show them to the user. If they agree, call execute again with the same code and input, and the token as "confirm": the program runs again from its beginning, and makes them.';
    return this.#end({ ok: false, error: { kind: "confirm", message }, confirm: { calls, token } });
  }

  #valued(text: string | undefined): Executed {
    if (text === undefined) return this.#end({ ok: true });
    if (encodeUtf8(text).length > this.#limits.outputBytes) return this.#limited("outputBytes");
    const value = parsed(text);
    if (value === undefined || isDeep(value)) {
      return this.#failed("thrown", `The value must be JSON with at most ${MAX_DEPTH} levels.`);
    }
    return this.#end({ ok: true, value });
  }

  #limited(limit: string): Executed {
    const error: ProgramError = { kind: "limit", message: `The program has reached its limit of ${limit}.`, limit };
    return this.#end({ ok: false, error });
  }

  #failed(kind: "thrown" | "confirm", message: string): Executed {
    return this.#end({ ok: false, error: { kind, message } });
  }

  #end(result: Executed["result"]): Executed {
    const [cpuUs] = this.#opened?.usage() ?? [0];
    return { result, logs: this.#logs, usage: { cpuUs, calls: this.#made }, refused: this.#refused };
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Reads what a program says; undefined for what no honest one says. */
function readSaid(text: string): FromIsolate | undefined {
  const said = parsed(text);
  if (!isObject(said)) return undefined;
  const { calls, logs, done } = said;
  if (!Array.isArray(calls) || !Array.isArray(logs)) return undefined;
  const areCalls = calls.every(
    (each) => Array.isArray(each) && Number.isSafeInteger(each[0]) && typeof each[1] === "string",
  );
  const areLogs = logs.every((each) => Array.isArray(each) && typeof each[1] === "string");
  if (!areCalls || !areLogs) return undefined;
  if (done === undefined) return { calls, logs };
  if (!isObject(done)) return undefined;
  const { ok, value, error } = done;
  if (ok === true) {
    return value === undefined || typeof value === "string"
      ? { calls, logs, done: { ok, ...(value === undefined ? {} : { value }) } }
      : undefined;
  }
  const given = errorOf(error);
  return given && { calls, logs, done: { ok: false, error: given } };
}

/** The most characters of a text of an error. */
const MAX_TEXT = 4096;

function errorOf(error: unknown): ProgramError | undefined {
  if (!isObject(error) || typeof error["message"] !== "string") return undefined;
  const { kind, message, name, stack, line, column } = error;
  return {
    kind: kind === "syntax" ? "syntax" : "thrown",
    message: (message as string).slice(0, MAX_TEXT),
    ...(typeof name === "string" ? { name: name.slice(0, 100) } : {}),
    ...(Number.isSafeInteger(line) ? { line: line as number } : {}),
    ...(Number.isSafeInteger(column) ? { column: column as number } : {}),
    ...(typeof stack === "string" ? { stack: stack.slice(0, MAX_TEXT) } : {}),
  };
}
