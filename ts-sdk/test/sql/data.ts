/**
 * Random rows and filters over one table of every column type, rich in NULLs, ties and characters that are special in
 * SQL.
 */
import type { Dialect, Value } from "../../src/sql/index.ts";
import type { Database } from "./database.ts";
import type { Random } from "./random.ts";

export interface Row {
  readonly id: number;
  readonly age: number | null;
  readonly score: number | null;
  readonly name: string | null;
  readonly title: string | null;
  readonly active: boolean | null;
  /** A reserved word of both databases. */
  readonly order: number | null;
}

export type ColumnName = keyof Row;
export const COLUMNS: readonly ColumnName[] = ["id", "age", "score", "name", "title", "active", "order"];
const TEXT: ReadonlySet<ColumnName> = new Set(["name", "title"]);

/** Most texts have few pieces, so that they match: in both cases, and with LIKE's special characters. */
const COMMON = ["a", "A", "b", "B", "%", "_", "\\", "é"];
const PIECES = [
  ...[
    "a",
    "A",
    "b",
    "ab",
    "aB",
    "x",
    "%",
    "_",
    "\\",
    "\\%",
    "\\\\",
    "'",
    "''",
    '"',
    ";",
    "--",
    "$1",
    "?1",
    "é",
    "É",
    "ß",
  ],
  ...["日", "\u{1f600}", "e\u0301", " ", "\n", "\t", "0", "NULL", "\u00a0", "*", "[a]", "^"],
];

export function randomText(random: Random): string {
  return random.list(random.integer(0, 3), () => random.pick(random.chance(0.7) ? COMMON : PIECES)).join("");
}

/** A non-NULL value of the column, from a range small enough for ties. */
export function randomValue(random: Random, column: ColumnName): Exclude<Value, null> {
  switch (column) {
    case "id":
      return random.integer(1, 40);
    case "age":
    case "order":
      return random.integer(-3, 6);
    case "score":
      return random.pick([-1.5, -0.25, 0, 0.1, 0.5, 1e-7, 2.75, 1e12]);
    case "active":
      return random.chance(0.5);
    default:
      return randomText(random);
  }
}

export function randomRows(random: Random, count: number): Row[] {
  return random.shuffled(Array.from({ length: count }, (_, i) => i + 1)).map((id) => {
    const cell = (column: ColumnName) => (random.chance(0.25) ? null : randomValue(random, column));
    return {
      id,
      age: cell("age") as number | null,
      score: cell("score") as number | null,
      name: cell("name") as string | null,
      title: cell("title") as string | null,
      active: cell("active") as boolean | null,
      order: cell("order") as number | null,
    };
  });
}

/** Recreates the table. */
export async function fill(database: Database, table: string, rows: readonly Row[]): Promise<void> {
  const real = database.name === "postgres" ? "DOUBLE PRECISION" : "REAL";
  await database.query([`DROP TABLE IF EXISTS ${table}`, []]);
  await database.query([
    `CREATE TABLE ${table} (id INTEGER PRIMARY KEY, age INTEGER, score ${real}, name TEXT, title TEXT, active BOOLEAN, "order" INTEGER)`,
    [],
  ]);
  if (rows.length === 0) return;
  const mark = database.name === "postgres" ? "$" : "?";
  const tuples = rows.map((_, r) => `(${COLUMNS.map((_, c) => `${mark}${r * COLUMNS.length + c + 1}`).join(", ")})`);
  const names = COLUMNS.map((column) => `"${column}"`).join(", ");
  await database.query([
    `INSERT INTO ${table} (${names}) VALUES ${tuples.join(", ")}`,
    rows.flatMap((row) => COLUMNS.map((column) => row[column])),
  ]);
}

/** A filter with up to `depth` levels of `$and`, `$or` and `$not`. */
export function randomFilter(random: Random, dialect: Dialect, depth: number): Record<string, unknown> {
  const filter: Record<string, unknown> = {};
  for (let i = random.pick([1, 1, 1, 2, 3]); i > 0; i--) {
    if (depth > 0 && random.chance(0.6)) {
      const operator = random.pick(["$and", "$or", "$or", "$or", "$not", "$not"]);
      const inner = () => randomFilter(random, dialect, depth - 1);
      filter[operator] = operator === "$not" ? inner() : random.list(random.integer(1, 3), inner);
    } else {
      const column = random.pick(COLUMNS);
      filter[column] = randomTest(random, dialect, column);
    }
  }
  return filter;
}

function randomTest(random: Random, dialect: Dialect, column: ColumnName): unknown {
  if (random.chance(0.15)) return random.chance(0.25) ? null : randomValue(random, column);
  const operators: Record<string, unknown> = {};
  for (let i = random.chance(0.3) ? 2 : 1; i > 0; i--) {
    const operator = random.pick(TEXT.has(column) ? [...GENERAL, ...TEXTUAL, ...TEXTUAL] : GENERAL);
    operators[operator] = randomOperand(random, dialect, column, operator);
  }
  return operators;
}

const GENERAL = ["$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in", "$nin", "$between"];
const TEXTUAL = ["$like", "$ilike", "$ilike", "$starts_with", "$ends_with", "$contains"];

function randomOperand(random: Random, dialect: Dialect, column: ColumnName, operator: string): unknown {
  const value = () => randomValue(random, column);
  const nullable = () => (random.chance(0.2) ? null : value());
  switch (operator) {
    case "$eq":
    case "$ne":
      return nullable();
    case "$in":
    case "$nin":
      return random.list(random.integer(0, 4), nullable);
    case "$between":
      return [value(), value()];
    case "$like":
    case "$ilike": {
      const pattern = random
        .list(random.integer(0, 3), () => random.pick(["%", "%", "_", "\\%", randomText(random)]))
        .join("");
      const lone = dialect.name === "postgres" && /(?<!\\)(?:\\\\)*\\$/.test(pattern);
      return lone ? `${pattern}\\` : pattern;
    }
    default:
      return value();
  }
}
