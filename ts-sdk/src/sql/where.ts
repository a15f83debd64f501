import { all } from "./all.ts";
import type { Condition } from "./ast.ts";
import type { Call } from "./call.ts";
import { SqlError } from "./errors.ts";
import { type FilterGuard, readFilter } from "./filter.ts";

/**
 * The trusted `filter` of a read: no option, an empty object and `all` are no condition.
 *
 * An option that is there but undefined is refused with the rest: it would show every row to whom it was to hide some.
 *
 * @param guard sees its conditions, where somebody counts them
 */
export function readTrusted({ options, dialect }: Call, guard?: FilterGuard): Condition | undefined {
  if (!Object.hasOwn(options, "filter") || options.filter === all) return undefined;
  return readFilter(options.filter, guard, dialect);
}

/**
 * The `filter` of a statement that changes rows.
 *
 * @returns `undefined` for `filter: all` only
 * @throws {SqlError} `filter` when there is none, or an empty one
 */
export function readRequired(call: Call): Condition | undefined {
  const { options } = call;
  if (Object.hasOwn(options, "filter") && options.filter === all) return undefined;
  const given = options.filter === undefined ? undefined : readTrusted(call);
  if (given === undefined)
    throw new SqlError("filter", "is missing or empty; when every row is meant, say filter: all", "filter");
  return given;
}
