/** Filter objects to conditions, for trusted filters (in code) and for users' ones: a guard says what is allowed. */
import type { Condition } from "./ast.ts";
import type { Dialect } from "./dialect.ts";
import { FilterError } from "./errors.ts";
import { HARD_MAX_DEPTH } from "./limits.ts";
import { FIELD_OPERATORS, LOGICAL_OPERATORS } from "./operators.ts";

/** What a reader asks before it goes on; each method throws to refuse. */
export interface FilterGuard {
  /** Before an `$and`, `$or` or `$not`, at the level it opens (the outermost is 1). */
  logical(operator: string, depth: number): void;
  /** Before a condition. */
  condition(field: string, operator: string, operand: unknown): void;
}

/** The guard of filters that are part of the program. */
export const trusted: FilterGuard = { logical() {}, condition() {} };

/**
 * Reads a filter.
 *
 * @param filter what was given, of any type
 * @param dialect absent when the statement's database is not known yet
 * @returns `undefined` for an empty object: no condition
 * @throws {FilterError} when it is no filter, or the guard refuses
 */
export function readFilter(filter: unknown, guard: FilterGuard, dialect: Dialect | undefined): Condition | undefined {
  const reader = new FilterReader(guard, dialect);
  if (isPlainObject(filter) && Object.keys(filter).length === 0) return undefined;
  return reader.object(filter, 0);
}

class FilterReader {
  readonly #guard: FilterGuard;
  readonly #dialect: Dialect | undefined;

  constructor(guard: FilterGuard, dialect: Dialect | undefined) {
    this.#guard = guard;
    this.#dialect = dialect;
  }

  /** @param depth the levels of `$and`, `$or` and `$not` around it */
  object(filter: unknown, depth: number): Condition {
    if (filter === undefined) throw new FilterError("undefined", "a filter is undefined");
    if (!isPlainObject(filter)) throw new FilterError("shape", "a filter is an object of fields and operators");
    const items: Condition[] = [];
    for (const key of Object.keys(filter)) {
      const operand = filter[key];
      if (LOGICAL_OPERATORS.has(key)) items.push(this.#logical(key, operand, depth + 1));
      else if (key.startsWith("$")) throw unknown(key);
      else this.#field(key, operand, items);
    }
    return joined(items);
  }

  #logical(operator: string, operand: unknown, depth: number): Condition {
    // Trusted filters can be cyclic, or built by a loop: the recursion ends here for them too.
    if (depth > HARD_MAX_DEPTH) {
      throw new FilterError("depth", `more than ${HARD_MAX_DEPTH} levels`, undefined, operator);
    }
    this.#guard.logical(operator, depth);
    if (operand === undefined) throw new FilterError("undefined", "is undefined", undefined, operator);
    if (operator === "$not") return { kind: "not", item: this.object(operand, depth) };
    if (!Array.isArray(operand)) throw new FilterError("value", "takes a list of filters", undefined, operator);
    // An empty $and would hold for every row and an empty $or for none: neither is what anybody means.
    if (operand.length === 0) throw new FilterError("shape", "takes at least one filter", undefined, operator);
    const items: Condition[] = [];
    for (let i = 0; i < operand.length; i++) items.push(this.object(operand[i], depth));
    return { kind: operator === "$and" ? "and" : "or", items };
  }

  #field(field: string, operand: unknown, items: Condition[]): void {
    if (operand === undefined) throw new FilterError("undefined", "is undefined", field);
    if (!isPlainObject(operand)) {
      items.push(this.#condition(field, "$eq", operand));
      return;
    }
    const operators = Object.keys(operand);
    if (operators.length === 0) throw new FilterError("shape", "has no operator", field);
    for (const operator of operators) items.push(this.#condition(field, operator, operand[operator]));
  }

  #condition(field: string, operator: string, operand: unknown): Condition {
    const read = FIELD_OPERATORS.get(operator);
    if (read === undefined) throw unknown(operator, field);
    this.#guard.condition(field, operator, operand);
    return read({ field, operator, operand, dialect: this.#dialect });
  }
}

function joined(items: Condition[]): Condition {
  const [first] = items;
  // Only at the outermost level does an empty object say "no condition".
  if (first === undefined) throw new FilterError("shape", "a filter inside a filter is empty");
  return items.length === 1 ? first : { kind: "all", items };
}

function unknown(operator: string, field?: string): FilterError {
  return new FilterError("operator", "is no operator of a filter here", field, operator);
}

/** An object literal or JSON object: not a list, a Date, a Map or another class, whose keys would say nothing. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
