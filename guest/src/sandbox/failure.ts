/** Describes the value that a script has thrown, for the program of the sandbox. */
import { className } from "tenon:engine";

const { Error, RangeError, RegExp, String, Symbol, WeakSet } = globalThis;
const { apply } = Reflect;
const { stringify } = JSON;
const instanceOf = (Function.prototype as unknown as Record<symbol, () => boolean>)[
  Symbol.hasInstance
] as () => boolean;
const { has, add } = WeakSet.prototype;
const { exec } = RegExp.prototype;
const { slice, split, indexOf, replace } = String.prototype;

/** The name of a script in stacks. */
export const SCRIPT = "script.ts";

/** The most characters of a message, and of a stack. */
const MOST = 8 * 1024;

/** A failure of a script. */
export interface Failure {
  readonly kind: "thrown" | "limit" | "syntax" | "tool";
  readonly message: string;
  readonly limit?: string;
  readonly name?: string;
  readonly line?: number;
  readonly column?: number;
  readonly stack?: string;
}

const ofTools = new WeakSet<object>();

/** The error for a tool that has failed. */
export function toolError(message: string): Error {
  const error = new Error(message);
  error.name = "ToolError";
  apply(add, ofTools, [error]);
  return error;
}

function text(value: unknown): string | undefined {
  try {
    return apply(slice, String(value), [0, MOST]) as string;
  } catch {
    return undefined;
  }
}

/** The value that was thrown as text: a plain object as JSON, because its text has none of its members. */
function shown(thrown: unknown): string | undefined {
  const given = text(thrown);
  if (given !== "[object Object]") return given;
  try {
    const json = stringify(thrown) as unknown;
    return typeof json === "string" ? text(json) : given;
  } catch {
    return given;
  }
}

/** A property of what was thrown, as text; undefined when it has none, or when reading it fails. */
function property(thrown: unknown, name: string): string | undefined {
  try {
    const value = (thrown as Record<string, unknown>)[name];
    return typeof value === "string" ? text(value) : undefined;
  } catch {
    return undefined;
  }
}

/** Leaves out the frames of this program. */
function ofScript(stack: string): string {
  const lines = apply(split, stack, ["\n"]) as string[];
  let kept = "";
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] as string;
    if (apply(indexOf, line, [SCRIPT]) === -1) continue;
    kept += kept === "" ? line : `\n${line}`;
  }
  return kept;
}

/** Describes what was thrown. Every step may run code of the script's, which may throw again. */
export function failureOf(thrown: unknown, isParsed: boolean): Failure {
  const isError = (typeof thrown === "object" && thrown !== null) || typeof thrown === "function";
  const isTools = isError && apply(has, ofTools, [thrown]);
  const name = isError ? property(thrown, "name") : undefined;
  const given = isError ? property(thrown, "message") : text(thrown);
  const described = given ?? shown(thrown) ?? "a value that cannot be shown";
  // The engine names the module of a tool with its own prefix.
  const message = isParsed ? described : (apply(replace, described, ["module 'given:", "module '"]) as string);
  const whole = isError ? property(thrown, "stack") : undefined;
  const stack = whole === undefined ? undefined : ofScript(whole);
  const place = /script\.ts:(\d+)(?::(\d+))?/;
  const found = stack === undefined ? null : (apply(exec, place, [stack]) as RegExpExecArray | null);
  const isOverflow =
    isError && className(thrown) === "Error" && given === "Maximum call stack size exceeded" && isRange(thrown);
  return {
    kind: isOverflow ? "limit" : isTools ? "tool" : isParsed ? "thrown" : "syntax",
    message,
    ...(isOverflow ? { limit: "stack" } : {}),
    ...(name === undefined ? {} : { name }),
    ...(found === null ? {} : { line: +(found[1] ?? 0) }),
    ...(found?.[2] === undefined ? {} : { column: +found[2] }),
    ...(stack === undefined || stack === "" ? {} : { stack }),
  };
}

function isRange(thrown: unknown): boolean {
  return apply(instanceOf, RangeError, [thrown]) as boolean;
}
