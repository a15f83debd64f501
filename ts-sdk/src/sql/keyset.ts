/**
 * Keyset pagination: the condition "after this row" for an order of any columns, directions and NULLs.
 *
 * SQL's comparisons are unknown beside NULL, while ORDER BY puts NULLs at one end: at the end in PostgreSQL's ASC and
 * SQLite's DESC, at the start in the other two. Rows at the end need a condition (`OR a IS NULL`), unless the column is
 * known to have no NULL; those at the start precede any cursor that has a value.
 */
import type { Condition, Operand, OrderTerm } from "./ast.ts";
import type { Dialect } from "./dialect.ts";
import type { Value } from "./value.ts";

/** One term of the order with the cursor's value for it. */
interface Position {
  readonly column: string;
  readonly descending: boolean;
  /** The cursor's value; `null` for NULL. */
  readonly value: Operand | null;
  /** True when rows with NULL come after all values in this direction. */
  readonly nullsLast: boolean;
  /** True when rows with NULL can come after a row with a value. */
  readonly nullsFollow: boolean;
}

/**
 * The condition for the rows that come after the row with `values`.
 *
 * @param order at least one term, no column twice
 * @param values one for each term
 * @param neverNull reports whether a column is known to have no NULL
 */
export function keyset(
  order: readonly OrderTerm[],
  values: readonly Value[],
  dialect: Dialect,
  neverNull: (column: string) => boolean,
): Condition {
  const positions: Position[] = [];
  for (let i = 0; i < order.length; i++) {
    const { column, descending } = order[i] as OrderTerm;
    const shared = values[i] ?? null;
    const nullsLast = descending !== dialect.nullsAreLargest;
    const nullsFollow = nullsLast && !neverNull(column);
    positions.push({ column, descending, value: shared === null ? null : { shared }, nullsLast, nullsFollow });
  }
  return afterWithBound(positions) ?? { kind: "constant", holds: false };
}

/**
 * With mixed directions, a bound on the first column precedes the alternatives. They imply it, but only the bound can
 * be looked up in an index.
 */
function afterWithBound(positions: readonly Position[]): Condition | undefined {
  const first = positions[0];
  if (first === undefined || first.value === null || isUniform(positions, 0)) return after(positions, 0);
  const { column, descending, value } = first;
  const bound: Condition = { kind: "compare", column, op: descending ? "<=" : ">=", value };
  const alternatives: Condition[] = [strictlyAfter(column, descending, value)];
  addTied(alternatives, positions, 0);
  const bounded: Condition = { kind: "all", items: [bound, joinAny(alternatives) ?? bound] };
  return first.nullsFollow ? { kind: "any", items: [bounded, isNull(first, false)] } : bounded;
}

/** The rows after the position that equal it in the columns before `from`; `undefined` when there can be none. */
function after(positions: readonly Position[], from: number): Condition | undefined {
  const first = positions[from];
  if (first === undefined) return undefined;
  if (from < positions.length - 1 && isUniform(positions, from)) return rowValue(positions, from);
  const alternatives: Condition[] = [];
  if (first.value !== null) {
    alternatives.push(strictlyAfter(first.column, first.descending, first.value));
    if (first.nullsFollow) alternatives.push(isNull(first, false));
  } else if (!first.nullsLast) {
    alternatives.push(isNull(first, true));
  }
  addTied(alternatives, positions, from);
  return joinAny(alternatives);
}

/** The rows that equal the position in one column more, and come after it in the next. */
function addTied(alternatives: Condition[], positions: readonly Position[], at: number): void {
  const tied = after(positions, at + 1);
  if (tied !== undefined) alternatives.push({ kind: "all", items: [equals(positions[at] as Position), tied] });
}

/**
 * `(a, b) > (x, y)`, and the rows with NULL, for which that is unknown: those that equal the position up to a column
 * and are NULL there.
 */
function rowValue(positions: readonly Position[], from: number): Condition | undefined {
  const columns: string[] = [];
  const values: Operand[] = [];
  const op = positions[from]?.descending ? "<" : ">";
  const alternatives: Condition[] = [{ kind: "row", columns, op, values }];
  for (let i = from; i < positions.length; i++) {
    const position = positions[i] as Position;
    columns.push(position.column);
    values.push(position.value);
    if (!position.nullsFollow) continue;
    const ties = positions.slice(from, i).map(equals);
    ties.push(isNull(position, false));
    alternatives.push(ties.length > 1 ? { kind: "all", items: ties } : isNull(position, false));
  }
  return joinAny(alternatives);
}

/** Reports whether the columns from `from` have one direction, and a value each, as a row value needs. */
function isUniform(positions: readonly Position[], from: number): boolean {
  for (let i = from; i < positions.length; i++) {
    const position = positions[i] as Position;
    if (position.value === null || position.descending !== positions[from]?.descending) return false;
  }
  return true;
}

function strictlyAfter(column: string, descending: boolean, value: Operand): Condition {
  return { kind: "compare", column, op: descending ? "<" : ">", value };
}

function equals({ column, value }: Position): Condition {
  return value === null ? { kind: "null", column, negated: false } : { kind: "compare", column, op: "=", value };
}

function isNull({ column }: Position, negated: boolean): Condition {
  return { kind: "null", column, negated };
}

function joinAny(items: Condition[]): Condition | undefined {
  return items.length > 1 ? { kind: "any", items } : items[0];
}
