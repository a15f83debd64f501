import { readAssignments } from "./assignments.ts";
import type { ConflictNode } from "./ast.ts";
import { readColumns, refuseUnknown } from "./call.ts";
import { SqlError } from "./errors.ts";
import { isPlainObject } from "./filter.ts";
import type { AnyRow, Assignments, ColumnOf } from "./filter-types.ts";

/** The action when a row with the same values in `columns` exists. */
export type OnConflict<Row = AnyRow> = ConflictUpdate<Row> | ConflictNothing<Row>;

/** Changes the existing row. */
export interface ConflictUpdate<Row = AnyRow> {
  /** The columns of a unique index, all of them. */
  readonly columns: readonly ColumnOf<Row>[];
  /** The new values; `"excluded"` takes those of the row to be inserted, in every column except `columns`. */
  readonly set: Assignments<Row> | "excluded";
  readonly nothing?: never;
}

/** Keeps the existing row. */
export interface ConflictNothing<Row = AnyRow> {
  /** The columns of a unique index, all of them; of any index when omitted. */
  readonly columns?: readonly ColumnOf<Row>[];
  readonly nothing: true;
  readonly set?: never;
}

const OPTIONS: ReadonlySet<string> = new Set(["columns", "set", "nothing"]);

/**
 * Reads `onConflict`.
 *
 * @param inserted the columns of the rows
 * @throws {SqlError} `option` when it has neither or both of `set` and `nothing`, or sets no column; `value` as in
 *   `set`
 */
export function readConflict(conflict: unknown, inserted: readonly string[]): ConflictNode | undefined {
  if (conflict === undefined) return undefined;
  if (!isPlainObject(conflict)) throw new SqlError("option", "must have columns, and set or nothing", "onConflict");
  refuseUnknown(conflict, OPTIONS);
  // SQLite does not allow this clause with DEFAULT VALUES.
  if (inserted.length === 0) throw new SqlError("option", "must come with a column to insert", "onConflict");
  const { set, nothing } = conflict;
  const columns = readColumns("columns", conflict["columns"]);
  const dotted = columns.find((column) => column.includes("."));
  // SQL does not allow a table's name here.
  if (dotted !== undefined)
    throw new SqlError("identifier", "must be a column of the table itself, without a dot", dotted);
  if (Object.hasOwn(conflict, "set") === Object.hasOwn(conflict, "nothing")) {
    throw new SqlError("option", "must have either set or nothing", "onConflict");
  }
  if (Object.hasOwn(conflict, "nothing")) {
    if (nothing !== true) throw new SqlError("option", "must be true or left out", "nothing");
    return { columns, set: [], excluded: [] };
  }
  if (columns.length === 0) throw new SqlError("option", "must be given with set", "columns");
  if (set === "excluded") return { columns, set: [], excluded: excludedColumns(inserted, columns) };
  if (!isPlainObject(set) || Object.keys(set).length === 0) {
    throw new SqlError("option", 'must have at least one column with its value, or "excluded"', "set");
  }
  return { columns, set: readAssignments(set), excluded: [] };
}

function excludedColumns(inserted: readonly string[], columns: readonly string[]): readonly string[] {
  const excluded = inserted.filter((column) => !columns.includes(column));
  if (excluded.length === 0) throw new SqlError("option", "leaves no column to set; say nothing: true", "set");
  return excluded;
}
