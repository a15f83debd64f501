/**
 * `console` as the Console Standard has it: stacks of errors, placeholders, counts and times. The engine's own methods, which it
 * replaces, print texts. `debug` prints to standard output, where the log's level is `info`.
 */
import { monotonicNow } from "tenon:engine";
import { defineMethods } from "../interface.ts";
import { line } from "./format.ts";
import { printable } from "./values.ts";

type Print = (text: string) => void;

const { console } = globalThis;
const { log: out, error: err } = console as unknown as { log: Print; error: Print };
const counts = new Map<string, number>();
const times = new Map<string, number>();

function print(to: Print, values: readonly unknown[]): void {
  let text: string;
  try {
    text = line(printable(values));
  } catch {
    // A getter or a proxy of a value threw.
    text = "a value that cannot be printed";
  }
  to(text);
}

const methods = {
  log: (...values: unknown[]) => print(out, values),
  info: (...values: unknown[]) => print(out, values),
  debug: (...values: unknown[]) => print(out, values),
  dirxml: (...values: unknown[]) => print(out, values),
  table: (...values: unknown[]) => print(out, values),
  group: (...values: unknown[]) => print(out, values),
  groupCollapsed: (...values: unknown[]) => print(out, values),
  warn: (...values: unknown[]) => print(err, values),
  error: (...values: unknown[]) => print(err, values),
  dir: (...values: unknown[]) => print(out, values.slice(0, 1)),
  groupEnd: () => {},
  clear: () => {},
  trace: (...values: unknown[]) => {
    // The first line is this function's own.
    const stack = String(new Error().stack).trimEnd().split("\n").slice(1);
    print(out, values.length === 0 ? ["Trace"] : values);
    if (stack.length > 0) out(stack.join("\n"));
  },
  assert: (...given: unknown[]) => {
    const [holds, ...values] = given;
    if (holds) return;
    const [first, ...rest] = values;
    if (typeof first === "string") print(err, [`Assertion failed: ${first}`, ...rest]);
    else print(err, values.length === 0 ? ["Assertion failed"] : ["Assertion failed:", ...values]);
  },
  count: (label: unknown = "default") => {
    const name = `${label}`;
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    out(`${name}: ${count}`);
  },
  countReset: (label: unknown = "default") => {
    const name = `${label}`;
    if (counts.has(name)) counts.set(name, 0);
    else err(`Count for '${name}' does not exist`);
  },
  time: (label: unknown = "default") => {
    const name = `${label}`;
    if (!times.has(name)) times.set(name, monotonicNow());
  },
  timeLog: (label: unknown = "default", ...values: unknown[]) => {
    const name = `${label}`;
    const start = times.get(name);
    if (start === undefined) err(`No such label '${name}' for console.timeLog()`);
    else print(out, [`${name}: ${passed(start)}`, ...values]);
  },
  timeEnd: (label: unknown = "default") => {
    const name = `${label}`;
    const start = times.get(name);
    times.delete(name);
    if (start === undefined) err(`No such label '${name}' for console.timeEnd()`);
    else out(`${name}: ${passed(start)}`);
  },
};

const passed = (start: number): string => `${(monotonicNow() - start).toFixed(6)}ms`;

defineMethods(console, methods);
