/** Members of Drizzle that its drivers use, and that its types leave out. */
import { Column, fillPlaceholders, is, SQL, Subquery } from "drizzle-orm";
import * as utils from "drizzle-orm/utils";

export { fillPlaceholders };

/** A selected column or expression. */
export interface SelectedField {
  readonly path: readonly string[];
  readonly field: unknown;
}

/** A relation's selection: the columns of its statement, in their order. */
export interface RelationalSelection {
  readonly field: unknown;
  readonly isJson: boolean;
}

type MapResultRow = (
  fields: readonly SelectedField[],
  row: readonly unknown[],
  joinsNotNullableMap: Record<string, boolean> | undefined,
) => unknown;

export const mapResultRow: MapResultRow = (utils as unknown as { mapResultRow: MapResultRow }).mapResultRow;

/** Runs a statement through the cache of its database. */
export interface WithCache {
  queryWithCache<T>(sql: string, params: readonly unknown[], run: () => Promise<T>): Promise<T>;
}

/** The column that decodes a field; undefined when a function does, or nothing. */
export function decodingColumn(field: unknown): Column | undefined {
  if (is(field, Column)) return field;
  const sql = is(field, SQL)
    ? field
    : is(field, SQL.Aliased)
      ? field.sql
      : is(field, Subquery)
        ? field._.sql
        : undefined;
  const decoder = (sql as { readonly decoder?: unknown } | undefined)?.decoder;
  return is(decoder, Column) ? decoder : undefined;
}
