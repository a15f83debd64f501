/** The operators of a field: the operand that each accepts, and the node that it makes. */
import { encodeUtf8 } from "../platform.ts";
import type { Comparison, Condition } from "./ast.ts";
import type { Dialect } from "./dialect.ts";
import { FilterError } from "./errors.ts";
import { isValue, type Value } from "./value.ts";

/** The operators of a field. `FIELD_OPERATORS` reads each of them. */
export type FieldOperator =
  | "$eq"
  | "$ne"
  | "$gt"
  | "$gte"
  | "$lt"
  | "$lte"
  | "$in"
  | "$nin"
  | "$like"
  | "$ilike"
  | "$starts_with"
  | "$ends_with"
  | "$contains"
  | "$between"
  | "$regex";

/** The operators that join filters. */
export type LogicalOperator = "$and" | "$or" | "$not";

/** Every operator. */
export type Operator = FieldOperator | LogicalOperator;

/** The operand, unchecked, and its place for the error. */
export interface OperatorCall {
  readonly field: string;
  readonly operator: string;
  readonly operand: unknown;
  /** Absent while a text is only parsed: checks that depend on the database are skipped then. */
  readonly dialect: Dialect | undefined;
}

type Reader = (call: OperatorCall) => Condition;

/** Readers by operator; a Map, so that `constructor` and other inherited names are not operators. */
export const FIELD_OPERATORS: ReadonlyMap<string, Reader> = new Map<FieldOperator, Reader>([
  ["$eq", (call) => equality(call, false)],
  ["$ne", (call) => equality(call, true)],
  ["$gt", (call) => comparison(call, ">")],
  ["$gte", (call) => comparison(call, ">=")],
  ["$lt", (call) => comparison(call, "<")],
  ["$lte", (call) => comparison(call, "<=")],
  ["$in", (call) => list(call, false)],
  ["$nin", (call) => list(call, true)],
  ["$like", (call) => pattern(call, false)],
  ["$ilike", (call) => pattern(call, true)],
  ["$starts_with", (call) => affix(call, "", "%")],
  ["$ends_with", (call) => affix(call, "%", "")],
  ["$contains", (call) => affix(call, "%", "%")],
  ["$between", between],
  ["$regex", regex],
]);

/** The operators that join filters. */
export const LOGICAL_OPERATORS: ReadonlySet<string> = new Set<LogicalOperator>(["$and", "$or", "$not"]);

/** Reports whether `name` is an operator. */
export function isOperator(name: unknown): name is Operator {
  return typeof name === "string" && (FIELD_OPERATORS.has(name) || LOGICAL_OPERATORS.has(name));
}

/** SQL's `= NULL` holds for no row, so NULL becomes IS NULL. */
function equality(call: OperatorCall, negated: boolean): Condition {
  const value = scalar(call, call.operand);
  if (value === null) return { kind: "null", column: call.field, negated };
  return { kind: "compare", column: call.field, op: negated ? "!=" : "=", value };
}

function comparison(call: OperatorCall, op: Comparison): Condition {
  return { kind: "compare", column: call.field, op, value: notNull(call, call.operand) };
}

/**
 * A list with NULL means the same as `$eq` for each element: SQL's own `NOT IN (…, NULL)` holds for no row at all, and
 * `IN (…, NULL)` never finds the NULL.
 */
function list(call: OperatorCall, negated: boolean): Condition {
  if (!Array.isArray(call.operand)) throw refused(call, "must be a list");
  const values: Value[] = [];
  let hasNull = false;
  // An index, so that a hole in the list is undefined in every engine.
  for (let i = 0; i < call.operand.length; i++) {
    const value = scalar(call, call.operand[i]);
    if (value === null) hasNull = true;
    else values.push(value);
  }
  const column = call.field;
  if (!hasNull) {
    return values.length === 0 ? { kind: "constant", holds: negated } : { kind: "list", column, negated, values };
  }
  const nullTest: Condition = { kind: "null", column, negated };
  if (values.length === 0) return nullTest;
  return { kind: negated ? "all" : "any", items: [{ kind: "list", column, negated, values }, nullTest] };
}

function between(call: OperatorCall): Condition {
  if (!Array.isArray(call.operand) || call.operand.length !== 2) throw refused(call, "must be a list of two");
  const low = notNull(call, call.operand[0]);
  return { kind: "between", column: call.field, low, high: notNull(call, call.operand[1]) };
}

function pattern(call: OperatorCall, insensitive: boolean): Condition {
  const text = textOf(call);
  // PostgreSQL fails on such a pattern at run time, and only for rows that match up to its end.
  if (call.dialect?.escapesByDefault && endsInLoneBackslash(text)) {
    throw refused(call, "must not end with a lone backslash");
  }
  return like(call, text, insensitive, false);
}

function like(call: OperatorCall, pattern: string, insensitive: boolean, escaped: boolean): Condition {
  const most = call.dialect?.maxPattern ?? Number.POSITIVE_INFINITY;
  // A UTF-16 unit is at most three bytes.
  if (pattern.length * 3 > most && encodeUtf8(pattern).length > most) {
    throw refused(call, `is longer than ${most} bytes, the limit of ${call.dialect?.name} for a pattern`);
  }
  return { kind: "like", column: call.field, pattern, insensitive, escaped };
}

function endsInLoneBackslash(text: string): boolean {
  let count = 0;
  while (text[text.length - 1 - count] === "\\") count++;
  return count % 2 === 1;
}

function affix(call: OperatorCall, before: string, after: string): Condition {
  const literal = textOf(call).replace(/[\\%_]/g, "\\$&");
  return like(call, before + literal + after, false, true);
}

function regex(call: OperatorCall): Condition {
  if (call.dialect !== undefined && call.dialect.regex === undefined) {
    throw new FilterError("operator", `${call.dialect.name} has no such operator`, call.field, call.operator);
  }
  return { kind: "regex", column: call.field, pattern: textOf(call) };
}

function scalar(call: OperatorCall, value: unknown): Value {
  if (isValue(value)) return value;
  if (value === undefined) throw new FilterError("undefined", "is undefined", call.field, call.operator);
  throw refused(call, "must be a string, a finite number, a bigint, a boolean or null");
}

function notNull(call: OperatorCall, value: unknown): Value {
  const given = scalar(call, value);
  if (given === null) throw refused(call, "does not take null");
  return given;
}

/** A pattern. SQLite's LIKE stops at U+0000, and would match the text before it. */
function textOf(call: OperatorCall): string {
  const value = scalar(call, call.operand);
  if (typeof value !== "string") throw refused(call, "must be a string");
  if (value.includes("\0")) throw refused(call, "must not hold U+0000");
  return value;
}

function refused(call: OperatorCall, reason: string): FilterError {
  return new FilterError("value", reason, call.field, call.operator);
}
