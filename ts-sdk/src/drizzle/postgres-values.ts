/** Values of PostgreSQL between the wire and Drizzle's columns. */
import { type Column, is } from "drizzle-orm";
import { PgColumn } from "drizzle-orm/pg-core";
import { decodingColumn, type SelectedField } from "./internals.ts";
import { type Decode, toBytes } from "./prepared.ts";

const INTEGERS = "(?:small|big)?(?:int|serial)|integer|int[248]|oid";
const NUMBERS = "real|double precision|float[48]?|numeric|decimal|bool|boolean";
const TEXTS = "text|varchar|char|character|bpchar|citext|name|uuid|jsonb?|bytea";
const TIMES = "date|timestamp|time(?!.*with time zone)";

/** The types that the wire has a form for. Values of others are sent and read as PostgreSQL's texts. */
const ON_THE_WIRE = new RegExp(`^(?:${INTEGERS}|${NUMBERS}|${TEXTS}|${TIMES})\\b`, "i");

/** The column of an array's elements, or the column itself. */
function elementOf(column: Column): Column {
  const { baseColumn } = column as unknown as { readonly baseColumn?: Column };
  return baseColumn === undefined ? column : elementOf(baseColumn);
}

function isOnTheWire(column: Column): boolean {
  const element = elementOf(column);
  return element.columnType.startsWith("PgEnum") || ON_THE_WIRE.test(element.getSQLType());
}

/** The column that encodes a parameter. */
export const encodingColumn = (encoder: unknown): Column | undefined => (is(encoder, PgColumn) ? encoder : undefined);

/** The cast behind a parameter's placeholder. */
export function castOf(column: Column | undefined): string {
  if (column === undefined || isOnTheWire(column)) return "";
  return `::text${elementOf(column) === column ? "" : "[]"}::${column.getSQLType()}`;
}

/** Converts a parameter of Drizzle's: an array is a literal there, and a list on the wire. */
export function encode(value: unknown, column: unknown): unknown {
  if (typeof value !== "string" || !value.startsWith("{") || column === undefined) return value;
  return (column as Column).getSQLType().endsWith("]") ? readArray(value) : value;
}

/** The conversion of a selected field's values. */
export function decoderOf(field: unknown): Decode | undefined {
  const column = decodingColumn(field);
  if (column === undefined) return undefined;
  const decode = ofElement(elementOf(column));
  if (decode === undefined || elementOf(column) === column) return decode;
  const ofList: Decode = (value) => {
    if (Array.isArray(value)) return value.map(ofList);
    return value === null ? null : decode(value);
  };
  return ofList;
}

function ofElement(column: Column): Decode | undefined {
  if (column.columnType === "PgTimestampString") return spaced;
  if (column.columnType === "PgInet") return withoutFullMask;
  // Drizzle parses the text of a `json`, and the wire has the value.
  if (column.columnType === "PgJson" || column.columnType === "PgJsonb") return quoted;
  return /^bytea\b/i.test(column.getSQLType()) ? toBytes : undefined;
}

/** Converts ISO 8601 to PostgreSQL's own form, which Drizzle has in the mode `string`. */
const spaced: Decode = (value) => (typeof value === "string" ? value.replace("T", " ").replace(/Z$/, "+00") : value);

/** Removes the mask of one address, which a cast to text adds. */
const withoutFullMask: Decode = (value) =>
  typeof value === "string" ? value.replace(/^([^:]*)\/32$|\/128$/, "$1") : value;

const quoted: Decode = (value) => (typeof value === "string" ? JSON.stringify(value) : value);

/**
 * Selects the texts of those columns that the wire has no form for. A statement that changes rows has to be at the top
 * level, where a `WITH` has it.
 */
export function withTexts(sql: string, fields: readonly SelectedField[], kind: string = "select"): string {
  const columns = fields.map(({ field }) => decodingColumn(field));
  if (columns.every((column) => column === undefined || isOnTheWire(column))) return sql;
  const names = columns.map((_, index) => `"${index + 1}"`);
  const selected = columns.map((column, index) => `${names[index]}${castToText(column)}`).join(", ");
  if (kind === "select") return `select ${selected} from (${sql}) as "_" (${names.join(", ")})`;
  return `with "_" (${names.join(", ")}) as (${sql}) select ${selected} from "_"`;
}

function castToText(column: Column | undefined): string {
  if (column === undefined || isOnTheWire(column)) return "";
  return elementOf(column) === column ? "::text" : "::text[]";
}

/** Reads an array literal, as Drizzle writes it: `{1,null,"a \"b\""}`. */
function readArray(literal: string): unknown {
  let at = 0;
  const read = (): unknown[] => {
    const items: unknown[] = [];
    at++;
    while (at < literal.length && literal[at] !== "}") {
      if (literal[at] === "{") items.push(read());
      else if (literal[at] === '"') items.push(readQuoted());
      else items.push(readBare());
      if (literal[at] === ",") at++;
    }
    at++;
    return items;
  };
  const readQuoted = (): string => {
    let text = "";
    for (at++; at < literal.length && literal[at] !== '"'; at++) {
      if (literal[at] === "\\") at++;
      text += literal[at];
    }
    at++;
    return text;
  };
  const readBare = (): string | null => {
    const from = at;
    while (at < literal.length && literal[at] !== "," && literal[at] !== "}") at++;
    const text = literal.slice(from, at);
    return text === "null" ? null : text;
  };
  return read();
}
