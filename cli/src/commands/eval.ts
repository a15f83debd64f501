import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { buffer } from "node:stream/consumers";
import { type Command, InvalidArgumentError } from "commander";
import { exitCode, systemReason, TenonError } from "../errors.ts";
import { exitOnInterrupt } from "../lifecycle.ts";
import { type CommonOptions, terminalFor, withCommonOptions } from "../options.ts";
import { type SandboxLimits, sandboxLimits } from "../sandbox/limits.ts";
import type { Evaluated, EvaluationError } from "../sandbox/sandbox.ts";
import type { Terminal } from "../terminal.ts";

/** The limits that have options. */
const limits = {
  cpuMs: ["--cpu-ms <n>", "processor time"],
  wallMs: ["--wall-ms <n>", "time, waiting included"],
  memoryBytes: ["--memory-bytes <n>", "memory"],
  calls: ["--calls <n>", "outbound calls"],
  outputBytes: ["--output-bytes <n>", "size of the value"],
  logBytes: ["--log-bytes <n>", "size of the log"],
  sourceBytes: ["--source-bytes <n>", "size of the script"],
  regexSteps: ["--regex-steps <n>", "steps of one run of a regular expression"],
} as const;

const limitNames = Object.keys(limits) as (keyof typeof limits)[];

interface Options extends CommonOptions, Pick<SandboxLimits, keyof typeof limits> {
  readonly eval?: string;
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly allow?: readonly string[];
  readonly json?: boolean;
}

/** `tenon eval`: evaluates a script in a sandbox, and prints its value. */
export function evalCommand(program: Command): void {
  const command = program
    .command("eval")
    .summary("evaluate a script in a sandbox")
    .description(
      "Evaluates a module in TypeScript or JavaScript in a sandbox, and prints the value of its default export or of its last " +
        "expression as JSON. A function is called with the input. Logs go to standard error.",
    )
    .argument("[file]", "the script; - reads it from standard input")
    .option("-e, --eval <source>", "the script itself, in place of a file")
    .option("--input <json>", "the input; - reads it from standard input")
    .option("--env <name=value>", "a variable for process.env; may be repeated", variable)
    .option("--allow <host>", "a host that the script may fetch from, with its port; may be repeated", collect);
  for (const name of limitNames) {
    const [flag, text] = limits[name];
    command.option(flag, `${text} (${sandboxLimits[name].default})`, whole);
  }
  command.option("--json", "print the whole result, with its log and usage");
  withCommonOptions(command).action(async (file: string | undefined, options: Options) => {
    exitOnInterrupt();
    const terminal = terminalFor(options);
    const source = await sourceOf(file, options);
    const input = await inputOf(options);
    const { Runtime } = await import("../embed/runtime.ts");
    await using runtime = await Runtime.create({ modules: {} });
    const { env = {}, allow = [] } = options;
    const given: SandboxLimits = Object.fromEntries(limitNames.map((name) => [name, options[name]]));
    await using sandbox = await runtime.sandbox({ limits: given, env, outbound: { allow } }).catch(asUsage);
    const done = await sandbox.evaluate(source, { input });
    print(done, nameOf(file), options.json === true, terminal);
    if (!done.ok) process.exitCode = exitCode.failed;
  });
}

function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

function variable(value: string, before: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const [, name, rest] = /^([^=]+)=(.*)$/s.exec(value) ?? [];
  if (name === undefined || rest === undefined) throw new InvalidArgumentError("It must be NAME=VALUE.");
  return { ...before, [name]: rest };
}

function whole(value: string): number {
  if (!/^\d{1,15}$/.test(value)) throw new InvalidArgumentError("It must be a whole number.");
  return Number(value);
}

/** A limit or host that no sandbox can have is wrong usage, and the message names the option. */
function asUsage(error: unknown): never {
  if (!(error instanceof TenonError) || error.code !== "CONFIG") throw error;
  const name = limitNames.find((each) => error.message.startsWith(`\`limits.${each}\``));
  const message = name === undefined ? error.message : error.message.replace(/^`.*?`/, optionOf(name));
  throw new TenonError("USAGE", message, undefined, error);
}

/** The option of a limit, such as `--cpu-ms`. */
const optionOf = (name: keyof typeof limits) => limits[name][0].split(" ")[0] as string;

/** The name of a script in messages. One without a file has the name that Node gives it. */
function nameOf(file: string | undefined): string {
  if (file === undefined) return "[eval]";
  return file === "-" ? "[stdin]" : basename(file);
}

async function sourceOf(file: string | undefined, options: Options): Promise<string> {
  if (options.eval !== undefined && file === undefined) return options.eval;
  if (options.eval !== undefined) throw new TenonError("USAGE", "give a file or --eval, not both");
  if (file === undefined)
    throw new TenonError("USAGE", "a script must be given", "tenon eval file.ts, or tenon eval -e '1 + 1'");
  if (file === "-" && options.input === "-")
    throw new TenonError("USAGE", "the script and its input cannot both be standard input");
  const read = () => (file === "-" ? buffer(process.stdin) : readFile(file));
  return textOf(read, file === "-" ? "standard input" : file);
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Reads a text. Other bytes than those of UTF-8 would become another text. */
async function textOf(read: () => Promise<Buffer>, name: string): Promise<string> {
  try {
    return utf8.decode(await read());
  } catch (error) {
    throw new TenonError("USAGE", `cannot read ${name}: ${systemReason(error)}`);
  }
}

async function inputOf({ input }: Options): Promise<unknown> {
  if (input === undefined) return undefined;
  const json = input === "-" ? await textOf(() => buffer(process.stdin), "standard input") : input;
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new TenonError("USAGE", `the input must be JSON: ${(error as Error).message}`);
  }
}

function print(done: Evaluated, name: string, isWhole: boolean, terminal: Terminal): void {
  if (isWhole) {
    process.stdout.write(`${json(done)}\n`);
    return;
  }
  for (const { message } of done.logs) process.stderr.write(`${message}\n`);
  if (!done.ok) terminal.failure(printable(describe(done.error, name)), hintOf(done.error));
  else if (done.value !== undefined) process.stdout.write(`${json(done.value, 2)}\n`);
}

/** A script's text without control sequences for the terminal, as the lines of its log are. */
function printable(text: string): string {
  return text.replace(/[^\P{Cc}\n\t]/gu, (control) => `\\u{${control.charCodeAt(0).toString(16)}}`);
}

/** JSON in which bytes are base64. Some terminals obey U+0080 to U+009F, which JSON leaves as they are. */
function json(value: unknown, indent?: number): string {
  const bytesAsText = (_: string, each: unknown) =>
    each instanceof Uint8Array ? Buffer.from(each).toString("base64") : each;
  const text = JSON.stringify(value, bytesAsText, indent);
  return text.replace(/[\x7f-\x9f]/g, (control) => `\\u00${control.charCodeAt(0).toString(16)}`);
}

/** Names the option that changes a reached limit or lets the script reach a host, or says why an import fails. */
function hintOf({ limit, message }: EvaluationError): string | undefined {
  const name = limitNames.find((each) => each === limit);
  if (name !== undefined)
    return `${limits[name][0]} sets the limit, which is ${sandboxLimits[name].default} by default`;
  const [, host] = /: (\S+) is refused: .*`outbound\.allow`/.exec(message) ?? [];
  if (host !== undefined) return `--allow ${printable(host)} lets the script fetch from it`;
  return message.includes("cannot be imported: ")
    ? "`tenon eval` gives no tools, so a script imports nothing: bundle it with its modules"
    : undefined;
}

function describe(error: EvaluationError, file: string): string {
  const { kind, message, name, line, column, stack, limit } = error;
  const place = line === undefined ? "" : `${file}:${line}${column === undefined ? "" : `:${column}`}: `;
  const what = kind === "limit" ? `${limit}: ` : name === undefined || name === "Error" ? "" : `${name}: `;
  const frames = kind === "thrown" && stack !== undefined ? `\n${stack.replaceAll("script.ts:", `${file}:`)}` : "";
  return `${place}${what}${message}${frames}`;
}
