/**
 * Keyset pagination: the condition "after this row" for an order of any columns, directions and NULLs.
 *
 * SQL's comparisons are unknown beside NULL, while ORDER BY puts NULLs at one end: at the end in PostgreSQL's ASC and
 * SQLite's DESC, at the start in the other two. Rows at the end need to be asked for (`OR a IS NULL`), unless the column
 * is known to hold no NULL; those at the start are behind any cursor that has a value.
 */
import type { Condition, Operand, OrderTerm } from "./ast.ts";
import type { Dialect } from "./dialect.ts";
import { SqlError } from "./errors.ts";
import type { Value } from "./value.ts";

/** One term of the order with the cursor's value for it. */
interface Position {
  readonly column: string;
  readonly descending: boolean;
  /** `null` when the cursor's row has NULL there. */
  readonly value: Operand | null;
  /** Whether rows with NULL come after all values in this direction. */
  readonly nullsLast: boolean;
  /** Whether rows with NULL can come after a row with a value. */
  readonly nullsFollow: boolean;
}

/**
 * The condition for the rows that come after the row with `values`.
 *
 * @param order at least one term, no column twice
 * @param values one for each term
 * @param neverNull whether a column is known to hold no NULL
 */
export function keyset(
  order: readonly OrderTerm[],
  values: readonly Value[],
  dialect: Dialect,
  neverNull: (column: string) => boolean,
): Condition {
  if (new Set(order.map(({ column }) => column)).size !== order.length) {
    throw new SqlError("option", "names a column twice", "order");
  }
  const positions = order.map(({ column, descending }, i): Position => {
    const value = values[i] ?? null;
    const nullsLast = descending !== dialect.nullsAreLargest;
    return {
      column,
      descending,
      value: value === null ? null : { shared: value },
      nullsLast,
      nullsFollow: nullsLast && !neverNull(column),
    };
  });
  return afterWithBound(positions) ?? { kind: "constant", holds: false };
}

/**
 * For mixed directions a bound on the first column stands before the alternatives: it is implied by them, but only it is
 * a condition that a database can look up in an index.
 */
function afterWithBound(positions: readonly Position[]): Condition | undefined {
  const [first] = positions;
  const condition = after(positions);
  if (first === undefined || condition === undefined) return condition;
  if (first.value === null || positions.length === 1 || isUniform(positions)) return condition;
  const bound: Condition = {
    kind: "compare",
    column: first.column,
    op: first.descending ? "<=" : ">=",
    value: first.value,
  };
  if (!first.nullsFollow) return { kind: "all", items: [bound, condition] };
  const bounded = after([{ ...first, nullsFollow: false }, ...positions.slice(1)]);
  const items: Condition[] = bounded === undefined ? [] : [{ kind: "all", items: [bound, bounded] }];
  return joinAny([...items, isNull(first, false)]);
}

/** The rows after the position; `undefined` when there can be none. */
function after(positions: readonly Position[]): Condition | undefined {
  const [first, ...rest] = positions;
  if (first === undefined) return undefined;
  if (rest.length > 0 && isUniform(positions)) return rowValue(positions);
  const alternatives: Condition[] = [];
  if (first.value !== null) {
    alternatives.push({ kind: "compare", column: first.column, op: first.descending ? "<" : ">", value: first.value });
    if (first.nullsFollow) alternatives.push(isNull(first, false));
  } else if (!first.nullsLast) {
    alternatives.push(isNull(first, true));
  }
  const tied = after(rest);
  if (tied !== undefined) alternatives.push({ kind: "all", items: [equals(first), tied] });
  return joinAny(alternatives);
}

/** `(a, b) > (x, y)`, and the rows with NULL that it is unknown for: those that tie up to a column and are NULL there. */
function rowValue(positions: readonly Position[]): Condition | undefined {
  const alternatives: Condition[] = [
    {
      kind: "row",
      columns: positions.map(({ column }) => column),
      op: positions[0]?.descending ? "<" : ">",
      values: positions.map(({ value }) => value),
    },
  ];
  positions.forEach((position, i) => {
    if (!position.nullsFollow) return;
    const ties = positions.slice(0, i).map(equals);
    alternatives.push(i === 0 ? isNull(position, false) : { kind: "all", items: [...ties, isNull(position, false)] });
  });
  return joinAny(alternatives);
}

function isUniform(positions: readonly Position[]): boolean {
  return positions.every(({ value, descending }) => value !== null && descending === positions[0]?.descending);
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
