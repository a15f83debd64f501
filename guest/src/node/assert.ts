/** `node:assert` inside a component. */
import { isDeepEqual } from "./deep-equal.ts";
import { inspect } from "./inspect.ts";

type Message = string | Error | undefined;
type Expected = Message | RegExp | object | ((error: unknown) => unknown);

/** The error of a failed assertion. */
export class AssertionError extends Error {
  readonly code = "ERR_ASSERTION";
  readonly actual: unknown;
  readonly expected: unknown;
  readonly operator: string;
  readonly generatedMessage: boolean;

  constructor(options: { message?: Message; actual?: unknown; expected?: unknown; operator?: string }) {
    const { message, actual, expected, operator = "fail" } = options;
    super(message === undefined ? `${inspect(actual)} ${operator} ${inspect(expected)}` : String(message));
    this.name = "AssertionError";
    this.actual = actual;
    this.expected = expected;
    this.operator = operator;
    this.generatedMessage = message === undefined;
  }
}

function check(holds: boolean, operator: string, actual: unknown, expected: unknown, message: Message): asserts holds {
  if (holds) return;
  if (message instanceof Error) throw message;
  const text = message ?? `${words[operator] ?? operator}\n\n${inspect(actual)} !== ${inspect(expected)}\n`;
  const error = new AssertionError({ message: text, actual, expected, operator });
  throw Object.assign(error, { generatedMessage: message === undefined });
}

const words: Record<string, string> = {
  strictEqual: "Expected values to be strictly equal:",
  deepStrictEqual: "Expected values to be strictly deep-equal:",
  deepEqual: "Expected values to be loosely deep-equal:",
  notStrictEqual: 'Expected "actual" to be strictly unequal to:',
  notDeepStrictEqual: 'Expected "actual" not to be strictly deep-equal to:',
};

export function ok(value: unknown, message?: Message): asserts value {
  const text = "The expression evaluated to a falsy value";
  check(Boolean(value), "==", value, true, message ?? text);
}
export function fail(message?: Message): never {
  if (message instanceof Error) throw message;
  throw new AssertionError({ message: message ?? "Failed", operator: "fail" });
}
export function equal(actual: unknown, expected: unknown, message?: Message): void {
  // biome-ignore lint/suspicious/noDoubleEquals: it implements the loose comparison.
  check(actual == expected || (Number.isNaN(actual) && Number.isNaN(expected)), "==", actual, expected, message);
}
export function notEqual(actual: unknown, expected: unknown, message?: Message): void {
  // biome-ignore lint/suspicious/noDoubleEquals: it implements the loose comparison.
  check(actual != expected && !(Number.isNaN(actual) && Number.isNaN(expected)), "!=", actual, expected, message);
}
export function strictEqual(actual: unknown, expected: unknown, message?: Message): void {
  check(Object.is(actual, expected), "strictEqual", actual, expected, message);
}
export function notStrictEqual(actual: unknown, expected: unknown, message?: Message): void {
  check(!Object.is(actual, expected), "notStrictEqual", actual, expected, message);
}
export function deepEqual(actual: unknown, expected: unknown, message?: Message): void {
  check(isDeepEqual(actual, expected, false), "deepEqual", actual, expected, message);
}
export function notDeepEqual(actual: unknown, expected: unknown, message?: Message): void {
  check(!isDeepEqual(actual, expected, false), "notDeepEqual", actual, expected, message);
}
export function deepStrictEqual(actual: unknown, expected: unknown, message?: Message): void {
  check(isDeepEqual(actual, expected, true), "deepStrictEqual", actual, expected, message);
}
export function notDeepStrictEqual(actual: unknown, expected: unknown, message?: Message): void {
  check(!isDeepEqual(actual, expected, true), "notDeepStrictEqual", actual, expected, message);
}
export function match(text: string, pattern: RegExp, message?: Message): void {
  check(pattern.test(text), "match", text, pattern, message);
}
export function doesNotMatch(text: string, pattern: RegExp, message?: Message): void {
  check(!pattern.test(text), "doesNotMatch", text, pattern, message);
}
export function ifError(value: unknown): void {
  if (value !== null && value !== undefined) throw value;
}

export function throws(call: () => unknown, expected?: Expected, message?: Message): void {
  let thrown: unknown;
  try {
    call();
  } catch (error) {
    thrown = error;
    expectThrown(thrown, expected, message);
    return;
  }
  fail(typeof expected === "string" ? expected : (message ?? "Missing expected exception."));
}

export function doesNotThrow(call: () => unknown, expected?: Expected, message?: Message): void {
  try {
    call();
  } catch (error) {
    const text = typeof expected === "string" ? expected : message;
    fail(`Got unwanted exception${text ? `: ${text}` : "."}\nActual message: "${(error as Error)?.message}"`);
  }
}

const started = async (call: Promise<unknown> | (() => Promise<unknown>)) =>
  typeof call === "function" ? call() : call;

export async function rejects(
  call: Promise<unknown> | (() => Promise<unknown>),
  expected?: Expected,
  message?: Message,
): Promise<void> {
  try {
    await started(call);
  } catch (error) {
    expectThrown(error, expected, message);
    return;
  }
  fail(typeof expected === "string" ? expected : (message ?? "Missing expected rejection."));
}

export async function doesNotReject(
  call: Promise<unknown> | (() => Promise<unknown>),
  _expected?: Expected,
  message?: Message,
): Promise<void> {
  try {
    await started(call);
  } catch (error) {
    fail(`Got unwanted rejection${message ? `: ${message}` : "."}\nActual message: "${(error as Error)?.message}"`);
  }
}

function expectThrown(thrown: unknown, expected: Expected, message: Message): void {
  if (expected === undefined || typeof expected === "string") return;
  if (expected instanceof RegExp) {
    check(expected.test(String(thrown)), "throws", thrown, expected, message);
    return;
  }
  if (typeof expected === "function") {
    if (expected.prototype !== undefined && thrown instanceof (expected as never)) return;
    const isClass = Object.prototype.isPrototypeOf.call(Error, expected) || expected === Error;
    check(!isClass && (expected as (error: unknown) => unknown)(thrown) === true, "throws", thrown, expected, message);
    return;
  }
  const keys = expected instanceof Error ? ["name", "message", ...Object.keys(expected)] : Object.keys(expected);
  for (const key of keys) {
    const wanted = (expected as Record<string, unknown>)[key];
    const given = (thrown as Record<string, unknown> | undefined)?.[key];
    const holds =
      wanted instanceof RegExp && typeof given === "string" ? wanted.test(given) : isDeepEqual(given, wanted, true);
    check(holds, "throws", thrown, expected, message);
  }
}

const functions = {
  AssertionError,
  ok,
  fail,
  throws,
  doesNotThrow,
  rejects,
  doesNotReject,
  match,
  doesNotMatch,
  ifError,
  strictEqual,
  notStrictEqual,
  deepStrictEqual,
  notDeepStrictEqual,
};
const strictly = {
  ...functions,
  equal: strictEqual,
  notEqual: notStrictEqual,
  deepEqual: deepStrictEqual,
  notDeepEqual: notDeepStrictEqual,
};

/** The module is a function. Its `strict` is the variant with strict comparisons only. */
type Assert = ((value: unknown, message?: Message) => void) & typeof functions & { strict: unknown };
export const strict = Object.assign(
  (value: unknown, message?: Message) => ok(value, message),
  strictly,
) as unknown as Assert;
strict.strict = strict;

const assert = Object.assign((value: unknown, message?: Message) => ok(value, message), functions, {
  equal,
  notEqual,
  deepEqual,
  notDeepEqual,
  strict,
}) as unknown as Assert;
export default assert;
