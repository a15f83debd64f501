/** The WHERE of a statement that reads: the trusted filter, and a user's filter beside it. */
import type { All } from "./all.ts";
import type { Condition } from "./ast.ts";
import type { StatementCall } from "./call.ts";
import { readFilter } from "./filter.ts";
import type { AnyRow, ColumnOf, Filter } from "./filter-types.ts";
import { mergeGuard } from "./merge.ts";
import type { FieldOperator, Operator } from "./operators.ts";
import { ParamCounter } from "./param-count.ts";
import { readTrusted } from "./where.ts";

/** The selected rows. All options are trusted, except `merge`. */
export interface FilterOptions<Row = AnyRow> {
  /** The trusted condition, which always applies. */
  readonly filter?: Filter<Row> | All;
  /** A filter from a user, from `parseFilter` or parsed JSON. It can only narrow `filter`. */
  readonly merge?: Filter | Filter<Row> | undefined;
  /** The fields that `merge` may use, or the operators allowed for each. None when omitted. */
  readonly allow?:
    | readonly ColumnOf<Row>[]
    | { readonly [Column in ColumnOf<Row>]?: readonly FieldOperator[] }
    | undefined;
  /** Operators that `merge` may not use. */
  readonly denyOps?: readonly Operator[] | undefined;
  /** Operators that `merge` may use only when named here. */
  readonly allowOps?: readonly "$regex"[] | undefined;
  /** The limit of nested `$and`, `$or` and `$not` in `merge`; 5 when omitted, 100 at most. */
  readonly maxDepth?: number | undefined;
  /** The limit of conditions in `merge`; 64 when omitted. */
  readonly maxConditions?: number | undefined;
  /** The limit of elements of one list in `merge`; 1,000 when omitted. */
  readonly maxList?: number | undefined;
}

/** The names of {@link FilterOptions}. */
export const FILTER_OPTIONS = [
  ...(["filter", "merge", "allow", "denyOps", "allowOps", "maxDepth", "maxConditions", "maxList"] as const),
] satisfies (keyof FilterOptions)[];

/**
 * The trusted filter with the merged one.
 *
 * @param taken the number of parameters in the rest of the statement
 */
export function readConditions(call: StatementCall, taken: number): Condition | undefined {
  if (call.options.merge === undefined) return readTrusted(call);
  const counter = new ParamCounter();
  const filter = readTrusted(call, counter);
  return joinMerged(filter, readMerged(call, counter.count + taken));
}

/**
 * The user's filter under its rules. `{}` adds no condition.
 *
 * @param taken the number of parameters in the rest of the statement
 */
function readMerged({ options, dialect, columns }: StatementCall, taken: number): Condition | undefined {
  // When the rest alone exceeds the limit, the printer refuses it, because that is not the user's mistake.
  const room = taken > dialect.maxParams ? Number.POSITIVE_INFINITY : dialect.maxParams - taken;
  const guard = mergeGuard(options, dialect, (column) => columns.get(column)?.kind, room);
  return readFilter(options.merge, guard, dialect);
}

/** Puts each into parentheses, so that neither's OR reaches the other. */
function joinMerged(filter: Condition | undefined, merged: Condition | undefined): Condition | undefined {
  if (filter === undefined || merged === undefined) return filter ?? merged;
  return { kind: "and", items: [filter, merged] };
}
