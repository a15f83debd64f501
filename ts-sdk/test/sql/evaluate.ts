/** SQL's semantics over rows in memory: three-valued logic, LIKE, and each database's NULL order. */
import type { Dialect, Value } from "../../src/sql/index.ts";

/** SQL's truth values: `null` is unknown. */
export type Truth = boolean | null;

type AnyRow = { readonly [column: string]: unknown };

/** Reports whether WHERE keeps the row: only for true, not for unknown. */
export function keeps(filter: object, row: AnyRow, dialect: Dialect): boolean {
  return test(filter, row, dialect) === true;
}

function test(filter: object, row: AnyRow, dialect: Dialect): Truth {
  return every(
    Object.entries(filter).map(([key, operand]) => {
      if (key === "$and") return every(operand.map((item: object) => test(item, row, dialect)));
      if (key === "$or") return some(operand.map((item: object) => test(item, row, dialect)));
      if (key === "$not") return not(test(operand, row, dialect));
      const operators = typeof operand === "object" && operand !== null ? operand : { $eq: operand };
      return every(
        Object.entries(operators).map(([operator, value]) => apply(operator, row[key] as Value, value, dialect)),
      );
    }),
  );
}

function apply(operator: string, cell: Value, operand: unknown, dialect: Dialect): Truth {
  const equal = (value: unknown): Truth =>
    value === null ? cell === null : lift(cell, () => order(cell, value) === 0);
  const text = (pattern: RegExp): Truth => lift(cell, () => pattern.test(cell as string));
  const foldsCase = dialect.name === "sqlite";
  switch (operator) {
    case "$eq":
      return equal(operand);
    case "$ne":
      return operand === null ? cell !== null : not(equal(operand));
    case "$gt":
      return lift(cell, () => order(cell, operand) > 0);
    case "$gte":
      return lift(cell, () => order(cell, operand) >= 0);
    case "$lt":
      return lift(cell, () => order(cell, operand) < 0);
    case "$lte":
      return lift(cell, () => order(cell, operand) <= 0);
    case "$in":
      return some((operand as unknown[]).map(equal));
    case "$nin":
      return not(some((operand as unknown[]).map(equal)));
    case "$between": {
      const [low, high] = operand as [unknown, unknown];
      return lift(cell, () => order(cell, low) >= 0 && order(cell, high) <= 0);
    }
    case "$like":
      return text(likePattern(operand as string, dialect.name === "postgres", foldsCase));
    case "$ilike":
      return text(likePattern(operand as string, dialect.name === "postgres", true));
    case "$starts_with":
      return text(new RegExp(`^${literal(operand as string, foldsCase)}`, "su"));
    case "$ends_with":
      return text(new RegExp(`${literal(operand as string, foldsCase)}$`, "su"));
    case "$contains":
      return text(new RegExp(literal(operand as string, foldsCase), "su"));
    default:
      throw new Error(`no operator: ${operator}`);
  }
}

/** LIKE as a regular expression. Both databases fold ASCII letters only (PostgreSQL: in the C locale). */
function likePattern(pattern: string, escapes: boolean, foldsCase: boolean): RegExp {
  let source = "";
  const characters = [...pattern];
  for (let i = 0; i < characters.length; i++) {
    const character = characters[i] as string;
    if (character === "%") source += ".*";
    else if (character === "_") source += ".";
    else if (character === "\\" && escapes) source += literal(characters[++i] as string, foldsCase);
    else source += literal(character, foldsCase);
  }
  return new RegExp(`^${source}$`, "su");
}

function literal(text: string, foldsCase: boolean): string {
  return [...text]
    .map((character) => {
      if (foldsCase && /[A-Za-z]/.test(character)) return `[${character.toLowerCase()}${character.toUpperCase()}]`;
      return /[\^$\\.*+?()[\]{}|/]/.test(character) ? `\\${character}` : character;
    })
    .join("");
}

/** The order of two values of one column: numbers by size, texts by code points, false before true. */
export function order(a: unknown, b: unknown): number {
  if (typeof a === "string" && typeof b === "string") return Buffer.compare(Buffer.from(a), Buffer.from(b));
  const [left, right] = [Number(a), Number(b)];
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Rows in an ORDER BY, with NULLs in the database's order. */
export function sorted<Row extends object>(rows: readonly Row[], terms: readonly string[], dialect: Dialect): Row[] {
  return [...rows].sort((a, b) => {
    for (const term of terms) {
      const descending = term.startsWith("-");
      const column = (descending ? term.slice(1) : term) as keyof Row;
      const difference = orderWithNulls(a[column], b[column], dialect);
      if (difference !== 0) return descending ? -difference : difference;
    }
    return 0;
  });
}

function orderWithNulls(a: unknown, b: unknown, dialect: Dialect): number {
  const nullIs = dialect.name === "postgres" ? 1 : -1;
  if (a === null || b === null) return a === b ? 0 : a === null ? nullIs : -nullIs;
  return order(a, b);
}

function lift(cell: Value, holds: () => boolean): Truth {
  return cell === null ? null : holds();
}

function not(truth: Truth): Truth {
  return truth === null ? null : !truth;
}

function every(truths: Truth[]): Truth {
  return truths.includes(false) ? false : truths.includes(null) ? null : true;
}

function some(truths: Truth[]): Truth {
  return truths.includes(true) ? true : truths.includes(null) ? null : false;
}
