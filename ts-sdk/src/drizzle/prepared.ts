/** A statement that Drizzle has built, with the conversions of its values. */
import { is, Param, type Query } from "drizzle-orm";
import { decodeBase64 } from "../encoding/base64.ts";
import type { Column as Value } from "../outbound/db.ts";
import type { ArrayResult } from "../outbound/statements.ts";
import { type GivenStatement, objectsOf } from "./connection.ts";
import { fillPlaceholders, mapResultRow, type SelectedField } from "./internals.ts";

/** Converts a value of the wire to what a column's own decoder reads. */
export type Decode = (value: Value) => unknown;

/** Converts a driver's value of Drizzle to what the wire has; `encoder` is a column, if there is one. */
export type Encode = (value: unknown, encoder: unknown) => unknown;

/** The parts of a statement that do not depend on the database. */
export interface Prepared {
  readonly query: Query;
  /** The encoders of its parameters, by their places. */
  readonly encoders: readonly unknown[];
  readonly encode: Encode;
  /** The conversions of its columns, by their places. */
  readonly decoders: readonly (Decode | undefined)[];
  readonly fields: readonly SelectedField[] | undefined;
  readonly mapRows: ((rows: unknown[][]) => unknown) | undefined;
}

/** Fills the placeholders of a statement. */
export function statementOf(
  { query, encoders, encode }: Pick<Prepared, "query" | "encoders" | "encode">,
  given: Record<string, unknown> = {},
): GivenStatement {
  const encodersOf = query.params.map((param, index) => (is(param, Param) ? param.encoder : encoders[index]));
  const params = fillPlaceholders([...query.params], given);
  return { sql: query.sql, params: params.map((param, index) => encode(param, encodersOf[index])) };
}

/** Reports whether rows are read as arrays, because columns are mapped by their places. */
export const isMapped = ({ fields, mapRows }: Prepared): boolean => fields !== undefined || mapRows !== undefined;

/** Maps rows of arrays to what the statement's caller gets. */
export function mapped(
  { decoders, fields, mapRows }: Prepared,
  rows: readonly (readonly Value[])[],
  joinsNotNullable: Record<string, boolean> | undefined,
): unknown {
  const decoded = decoders.some((decode) => decode !== undefined) ? rows.map((row) => decodeRow(row, decoders)) : rows;
  if (mapRows !== undefined) return mapRows(decoded as unknown[][]);
  return decoded.map((row) => mapResultRow(fields as readonly SelectedField[], row, joinsNotNullable));
}

/** The rows of a result of a batch. */
export function mappedResult(
  prepared: Prepared,
  result: ArrayResult,
  joinsNotNullable: Record<string, boolean> | undefined,
): unknown {
  return isMapped(prepared) ? mapped(prepared, result.rows, joinsNotNullable) : objectsOf(result);
}

function decodeRow(row: readonly Value[], decoders: readonly (Decode | undefined)[]): unknown[] {
  return row.map((value, index) => (value === null ? null : (decoders[index]?.(value) ?? value)));
}

/** Converts base64 to bytes. */
export const toBytes: Decode = (value) => (typeof value === "string" ? decodeBase64(value) : value);
