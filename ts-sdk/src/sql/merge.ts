/** The limits of a filter from a user: fields, operators, depth, and size. */
import type { Kind } from "../schema/schema.ts";
import type { Dialect } from "./dialect.ts";
import { FilterError, SqlError } from "./errors.ts";
import { type FilterGuard, isPlainObject } from "./filter.ts";
import { holdsKind } from "./kind.ts";
import { DEFAULT_MAX_CONDITIONS, DEFAULT_MAX_DEPTH, DEFAULT_MAX_LIST, HARD_MAX_DEPTH } from "./limits.ts";
import { isOperator } from "./operators.ts";
import { countParams } from "./param-count.ts";
import { isWellFormed } from "./text.ts";

/** The caller's rules; see `ReadOptions` for their meaning. */
export interface MergeRules {
  readonly allow?: unknown;
  readonly denyOps?: unknown;
  readonly allowOps?: unknown;
  readonly maxDepth?: unknown;
  readonly maxConditions?: unknown;
  readonly maxList?: unknown;
}

/** Operators that only `allowOps` enables: a regular expression can keep the database busy for hours. */
const OFF_BY_DEFAULT: ReadonlySet<string> = new Set(["$regex"]);

/**
 * The guard of one merged filter; it counts, so it is used once.
 *
 * @param kindOf the kind of a column, where the table has a schema
 * @param room the number of parameters that the rest of the statement leaves
 * @throws {SqlError} `option` for invalid rules
 */
export function mergeGuard(
  rules: MergeRules,
  dialect: Dialect,
  kindOf: (column: string) => Kind | undefined,
  room: number,
): FilterGuard {
  const allowed = readAllow(rules.allow);
  const denied = readOperators("denyOps", rules.denyOps);
  const enabled = readOperators("allowOps", rules.allowOps);
  for (let i = 0; i < enabled.length; i++) {
    const operator = enabled[i] as string;
    // A reader could take it for the complete list of allowed operators, so naming another one is an error.
    if (!OFF_BY_DEFAULT.has(operator))
      throw new SqlError("option", `${operator} is on already; to turn operators off, use denyOps`, "allowOps");
  }
  const maxDepth = readBound("maxDepth", rules.maxDepth, DEFAULT_MAX_DEPTH, HARD_MAX_DEPTH);
  const maxConditions = readBound("maxConditions", rules.maxConditions, DEFAULT_MAX_CONDITIONS, dialect.maxConditions);
  const maxList = readBound("maxList", rules.maxList, DEFAULT_MAX_LIST, dialect.maxParams);
  let conditions = 0;
  let params = 0;

  const operatorAllowed = (operator: string, field?: string): void => {
    if (denied.includes(operator) || (OFF_BY_DEFAULT.has(operator) && !enabled.includes(operator))) {
      throw new FilterError("operator", "is not allowed", field, operator);
    }
  };

  return {
    logical(operator, depth) {
      if (depth > maxDepth) throw new FilterError("depth", `more than ${maxDepth} levels`, undefined, operator);
      operatorAllowed(operator);
    },
    condition(field, operator, operand) {
      const operators = allowed(field);
      if (operators === undefined) throw new FilterError("field", "is not allowed", field);
      operatorAllowed(operator, field);
      if (operators !== "every" && !operators.includes(operator)) {
        throw new FilterError("operator", "is not allowed", field, operator);
      }
      if (++conditions > maxConditions) {
        throw new FilterError("conditions", `more than ${maxConditions} conditions`, field);
      }
      const kind = kindOf(field);
      if (Array.isArray(operand)) {
        if (operand.length > maxList) throw new FilterError("list", `more than ${maxList} elements`, field, operator);
        for (let i = 0; i < operand.length; i++) checkValue(operand[i], kind, field, operator, dialect);
      } else {
        checkValue(operand, kind, field, operator, dialect);
      }
      params += countParams(operand);
      if (params > room) {
        const most = `${dialect.name} accepts at most ${dialect.maxParams} parameters in one statement`;
        throw new FilterError("params", most, field, operator);
      }
    },
  };
}

/**
 * Refuses values on which the database would fail, because that would look like the server's mistake: texts that can't
 * be sent, and, where the column's kind is known, values of another kind.
 */
function checkValue(value: unknown, kind: Kind | undefined, field: string, operator: string, dialect: Dialect): void {
  if (typeof value === "string") {
    if (!isWellFormed(value, dialect))
      throw new FilterError("value", "holds a character that is none", field, operator);
  } else if (kind !== "f64" && typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value)) {
    throw new FilterError("value", "an integer beyond 2^53 is not exact here", field, operator);
  }
  if (kind !== undefined && !holdsKind(kind, value)) {
    throw new FilterError("value", `takes a value of the column's kind (${kind})`, field, operator);
  }
}

type AllowedOperators = "every" | readonly string[];

/** Field names, or an object of field names with the operators of each. Without it no field is allowed. */
function readAllow(allow: unknown): (field: string) => AllowedOperators | undefined {
  if (allow === undefined) return () => undefined;
  if (Array.isArray(allow)) return (field) => (allow.includes(field) ? "every" : undefined);
  if (!isPlainObject(allow)) throw new SqlError("option", "must be field names, or operators by field name", "allow");
  const byField = new Map<string, readonly string[]>();
  for (const field of Object.keys(allow)) byField.set(field, readOperators("allow", allow[field]));
  return (field) => byField.get(field);
}

/** Checks a list of operators, because a misspelt one would silently have no effect. */
function readOperators(option: string, operators: unknown): readonly string[] {
  if (operators === undefined) return [];
  if (!Array.isArray(operators)) throw new SqlError("option", "must be a list of operators", option);
  for (let i = 0; i < operators.length; i++) {
    if (!isOperator(operators[i])) throw new SqlError("option", "must be a list of operators", option);
  }
  return operators;
}

function readBound(option: string, value: unknown, fallback: number, most: number): number {
  if (value === undefined) return fallback;
  if (typeof value !== "number" || !Number.isInteger(value) || value < 0 || value > most) {
    throw new SqlError("option", `takes an integer from 0 to ${most}`, option);
  }
  return value;
}
