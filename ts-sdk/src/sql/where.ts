import { all } from "./all.ts";
import type { Condition } from "./ast.ts";
import type { StatementCall } from "./call.ts";
import { SqlError } from "./errors.ts";
import { type FilterGuard, readFilter } from "./filter.ts";

/**
 * Reads the trusted `filter` of a query: no option, an empty object and `all` are no condition.
 *
 * An undefined option is refused, because it would show rows that it was meant to hide.
 *
 * @param guard sees its conditions, to count them
 */
export function readTrusted({ options, dialect }: StatementCall, guard?: FilterGuard): Condition | undefined {
  if (!Object.hasOwn(options, "filter") || options.filter === all) return undefined;
  return readFilter(options.filter, guard, dialect);
}

/**
 * Reads the `filter` of a statement that changes rows.
 *
 * @returns `undefined` for `filter: all` only
 * @throws {SqlError} `filter` when there is none, or an empty one
 */
export function readRequired(call: StatementCall): Condition | undefined {
  const { options } = call;
  if (Object.hasOwn(options, "filter") && options.filter === all) return undefined;
  const given = options.filter === undefined ? undefined : readTrusted(call);
  if (given === undefined)
    throw new SqlError("filter", "is missing or empty; when every row is meant, say filter: all", "filter");
  return given;
}
