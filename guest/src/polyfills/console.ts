/**
 * `console` as the Console Standard has it: stacks of errors, placeholders, `assert`, and `debug` on standard output, where
 * the log's level is `info`. The engine's methods print.
 */
import { printable } from "./console-values.ts";

type Print = (...values: unknown[]) => void;

const { log, error } = console;

const printing =
  (print: Print): Print =>
  (...values) =>
    print(...printable(values));

const [toOutput, toErrors] = [printing(log), printing(error)];

Object.assign(console, {
  log: toOutput,
  info: toOutput,
  debug: toOutput,
  dirxml: toOutput,
  warn: toErrors,
  error: toErrors,
  dir: (value: unknown) => toOutput(value),
  trace: (...values: unknown[]) => {
    // The first line is this function's own.
    const stack = String(new Error().stack).trimEnd().split("\n").slice(1);
    toOutput(...(values.length === 0 ? ["Trace"] : values));
    if (stack.length > 0) log(stack.join("\n"));
  },
  assert: (holds: unknown, ...values: unknown[]) => {
    if (holds) return;
    const [first, ...rest] = values;
    if (typeof first === "string") toErrors(`Assertion failed: ${first}`, ...rest);
    else toErrors(...(values.length === 0 ? ["Assertion failed"] : ["Assertion failed:", ...values]));
  },
});
