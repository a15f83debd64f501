/** The reasons why a value can fail: the closed set of codes in an error body. */
export const FAILURE_CODES = ["required", "type", "min", "max", "format", "enum", "json", "check"] as const;

/** The reason why a value failed. */
export type FailureCode = (typeof FAILURE_CODES)[number];

/** One failure of a value. It has the place and the expectation, and never the value itself. */
export interface Failure {
  /** Keys and indexes from the root of the value; empty for the value itself. */
  readonly path: PropertyKey[];
  readonly code: FailureCode;
  /** The expectation, for a person. */
  readonly detail: string;
}

/** A parser's result for an invalid value. */
export const INVALID: unique symbol = Symbol("invalid");

/** The limit of failures in one answer, so that a hostile body can't cause a large answer. */
export const MAX_FAILURES = 100;

/** The limit of collected failures: one more, which shows that there are more. */
export const MAX_COLLECTED = MAX_FAILURES + 1;

/** Collects the failures of one value in one pass. */
export class Failures {
  readonly list: Failure[] = [];
  /** True while checking a handler's answer, where a missing field is not replaced by its default. */
  readonly outgoing: boolean;

  constructor(outgoing = false) {
    this.outgoing = outgoing;
  }
}

/** A parser of one schema: returns the parsed value, or reports to `failures` and returns {@link INVALID}. */
export type Parse = (value: unknown, failures: Failures) => unknown;

/** Reports a failure of the current value; its parents prepend their keys with {@link within}. */
export function fail(failures: Failures, code: FailureCode, detail: string): typeof INVALID {
  if (failures.list.length < MAX_COLLECTED) failures.list.push({ path: [], code, detail });
  return INVALID;
}

/** Reports a length, or a number of items or keys, that is out of bounds. */
export function failCount(
  failures: Failures,
  bound: "min" | "max",
  count: number,
  unit: "character" | "item" | "byte" | "key",
): typeof INVALID {
  const units = `${count} ${unit}${count === 1 ? "" : "s"}`;
  return fail(failures, bound, `must have at ${bound === "min" ? "least" : "most"} ${units}`);
}

/** Prepends `key` to the path of every failure from number `from` on. Paths cost nothing while nothing fails. */
export function within(failures: Failures, from: number, key: PropertyKey): void {
  const { list } = failures;
  for (let i = from; i < list.length; i++) list[i]?.path.unshift(key);
}

/**
 * A path as a JSON pointer in the form for a URI fragment, `#/address/zip` (RFC 6901 section 6).
 */
export function pointer(path: readonly PropertyKey[]): string {
  let text = "#";
  for (const key of path) text += `/${escapeToken(String(key))}`;
  return text;
}

const NEEDS_NO_ESCAPE = /^[\w-]*$/;

function escapeToken(key: string): string {
  if (NEEDS_NO_ESCAPE.test(key)) return key;
  const token = key.replaceAll("~", "~0").replaceAll("/", "~1");
  // A lone surrogate has no encoding, and a JSON key may contain one.
  return encodeURI(token.replace(LONE_SURROGATE, "\ufffd")).replaceAll("#", "%23");
}

const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
