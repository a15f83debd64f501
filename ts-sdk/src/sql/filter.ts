/** Converts filter objects to conditions. For users' filters, a guard limits them. */
import type { Condition } from "./ast.ts";
import type { Dialect } from "./dialect.ts";
import { FilterError } from "./errors.ts";
import { HARD_MAX_DEPTH } from "./limits.ts";
import { FIELD_OPERATORS, LOGICAL_OPERATORS } from "./operators.ts";

/** A reader's checks; each method throws to refuse. */
export interface FilterGuard {
  /** Checks an `$and`, `$or` or `$not`, at the level it opens (the outermost is 1). */
  logical(operator: string, depth: number): void;
  /** Checks a condition. */
  condition(field: string, operator: string, operand: unknown): void;
}

/**
 * Reads a filter.
 *
 * @param filter a value of any type
 * @param guard absent for filters that are part of the program
 * @param dialect absent when the statement's database is not known yet
 * @returns `undefined` for an empty object: no condition
 * @throws {FilterError} when it is not a filter, or the guard refuses
 */
export function readFilter(
  filter: unknown,
  guard: FilterGuard | undefined,
  dialect: Dialect | undefined,
): Condition | undefined {
  return readObject(filter, undefined, 0, guard, dialect);
}

/**
 * @param parent the operator whose operand it is
 * @param depth the number of enclosing `$and`, `$or` and `$not`
 */
function readObject(
  filter: unknown,
  parent: string | undefined,
  depth: number,
  guard: FilterGuard | undefined,
  dialect: Dialect | undefined,
): Condition | undefined {
  if (filter === undefined) throw new FilterError("undefined", "a filter is undefined", undefined, parent);
  if (!isPlainObject(filter)) {
    throw new FilterError("shape", "a filter must be an object of fields and operators", undefined, parent);
  }
  const items: Condition[] = [];
  const keys = Object.keys(filter);
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string;
    const operand = filter[key];
    if (key[0] !== "$") readField(key, operand, items, guard, dialect);
    else if (LOGICAL_OPERATORS.has(key)) items.push(readLogical(key, operand, depth + 1, guard, dialect));
    else throw unknown(key);
  }
  return items.length > 1 ? { kind: "all", items } : items[0];
}

/** A nested filter. Only an outermost filter may be empty. */
function readInner(
  filter: unknown,
  parent: string,
  depth: number,
  guard: FilterGuard | undefined,
  dialect: Dialect | undefined,
): Condition {
  const condition = readObject(filter, parent, depth, guard, dialect);
  if (condition === undefined) throw new FilterError("shape", "a filter inside a filter is empty", undefined, parent);
  return condition;
}

function readLogical(
  operator: string,
  operand: unknown,
  depth: number,
  guard: FilterGuard | undefined,
  dialect: Dialect | undefined,
): Condition {
  // Trusted filters can be cyclic, or built by a loop, so the recursion is limited for them too.
  if (depth > HARD_MAX_DEPTH) throw new FilterError("depth", `more than ${HARD_MAX_DEPTH} levels`, undefined, operator);
  guard?.logical(operator, depth);
  if (operand === undefined) throw new FilterError("undefined", "is undefined", undefined, operator);
  if (operator === "$not") return { kind: "not", item: readInner(operand, operator, depth, guard, dialect) };
  if (!Array.isArray(operand)) throw new FilterError("value", "must be a list of filters", undefined, operator);
  // An empty $and would hold for every row and an empty $or for none: neither is intended.
  if (operand.length === 0) throw new FilterError("shape", "must have at least one filter", undefined, operator);
  const items: Condition[] = [];
  for (let i = 0; i < operand.length; i++) items.push(readInner(operand[i], operator, depth, guard, dialect));
  return { kind: operator === "$and" ? "and" : "or", items };
}

function readField(
  field: string,
  operand: unknown,
  items: Condition[],
  guard: FilterGuard | undefined,
  dialect: Dialect | undefined,
): void {
  if (operand === undefined) throw new FilterError("undefined", "is undefined", field);
  if (!isPlainObject(operand)) {
    items.push(readCondition(field, "$eq", operand, guard, dialect));
    return;
  }
  const operators = Object.keys(operand);
  if (operators.length === 0) throw new FilterError("shape", "has no operator", field);
  for (let i = 0; i < operators.length; i++) {
    const operator = operators[i] as string;
    items.push(readCondition(field, operator, operand[operator], guard, dialect));
  }
}

function readCondition(
  field: string,
  operator: string,
  operand: unknown,
  guard: FilterGuard | undefined,
  dialect: Dialect | undefined,
): Condition {
  const read = FIELD_OPERATORS.get(operator);
  if (read === undefined) throw unknown(operator, field);
  guard?.condition(field, operator, operand);
  return read({ field, operator, operand, dialect });
}

function unknown(operator: string, field?: string): FilterError {
  return new FilterError("operator", "is not an operator of a filter here", field, operator);
}

/** An object literal or JSON object: not a list, a Date, a Map or another class, whose keys mean nothing here. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
