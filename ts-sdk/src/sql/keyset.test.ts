/** The text of each form of a cursor's condition. `test/sql/walk.test.ts` checks the rows. */
import { describe, expect, it } from "vitest";
import { Cursor, type Dialect, postgres, type ReadOptions, sqlite, sqlRead } from "./index.ts";

function where(dialect: Dialect, order: string[], values: Record<string, unknown>, options: ReadOptions = {}): string {
  const after = Cursor.from(values, order).encode();
  const [sql, params] = sqlRead(dialect, "t", { order, after, ...options });
  const used = new Set(sql.match(/[$?]\d+/g));
  expect(used.size).toBe(params.length);
  return sql.replace(/^SELECT \* FROM t WHERE (.*) ORDER BY .*$/, "$1");
}

const known = { notNull: ["a", "b", "c"] };
const row = { a: 1, b: "x", c: 2.5 };

describe("columns that hold no NULL", () => {
  it.each([
    [["a"], "a > $1"],
    [["-a"], "a < $1"],
    [["a", "b"], "(a, b) > ($1, $2)"],
    [["-a", "-b", "-c"], "(a, b, c) < ($1, $2, $3)"],
    [["-a", "b"], "a <= $1 AND (a < $1 OR (a = $1 AND b > $2))"],
    [["a", "-b"], "a >= $1 AND (a > $1 OR (a = $1 AND b < $2))"],
    [["-a", "b", "c"], "a <= $1 AND (a < $1 OR (a = $1 AND (b, c) > ($2, $3)))"],
    [["a", "b", "-c"], "a >= $1 AND (a > $1 OR (a = $1 AND (b > $2 OR (b = $2 AND c < $3))))"],
  ])("%j", (order, text) => {
    expect(where(postgres, order, row, known)).toBe(text);
    expect(where(sqlite, order, row, known)).toBe(text.replaceAll("$", "?"));
  });
});

describe("columns that may hold NULL", () => {
  it.each<[string[], string, string]>([
    [["a"], "a > $1 OR a IS NULL", "a > ?1"],
    [["-a"], "a < $1", "a < ?1 OR a IS NULL"],
    [["a", "b"], "(a, b) > ($1, $2) OR a IS NULL OR (a = $1 AND b IS NULL)", "(a, b) > (?1, ?2)"],
    [
      ["-a", "b"],
      "a <= $1 AND (a < $1 OR (a = $1 AND (b > $2 OR b IS NULL)))",
      "(a <= ?1 AND (a < ?1 OR (a = ?1 AND b > ?2))) OR a IS NULL",
    ],
  ])("%j", (order, inPostgres, inSqlite) => {
    expect(where(postgres, order, row)).toBe(inPostgres);
    expect(where(sqlite, order, row)).toBe(inSqlite);
  });
});

describe("a place at NULL", () => {
  it.each<[string[], object, string, string]>([
    [["a"], { a: null }, "1 = 0", "a IS NOT NULL"],
    [["-a"], { a: null }, "a IS NOT NULL", "1 = 0"],
    [["a", "b"], { a: null, b: 1 }, "a IS NULL AND (b > $1 OR b IS NULL)", "a IS NOT NULL OR (a IS NULL AND b > ?1)"],
    [
      ["a", "b"],
      { a: 1, b: null },
      "(a >= $1 AND a > $1) OR a IS NULL",
      "a >= ?1 AND (a > ?1 OR (a = ?1 AND b IS NOT NULL))",
    ],
    [["-a", "b"], { a: null, b: null }, "a IS NOT NULL", "a IS NULL AND b IS NOT NULL"],
  ])("%j %j", (order, values, inPostgres, inSqlite) => {
    expect(where(postgres, order, values as Record<string, unknown>)).toBe(inPostgres);
    expect(where(sqlite, order, values as Record<string, unknown>)).toBe(inSqlite);
  });
});

it("stands beside a filter in parentheses where it needs them", () => {
  expect(where(postgres, ["a"], row, { filter: { c: 1 } })).toBe("c = $1 AND (a > $2 OR a IS NULL)");
  expect(where(postgres, ["-a", "b"], row, { filter: { $or: [{ c: 1 }, { c: 2 }] }, ...known })).toBe(
    "((c = $1) OR (c = $2)) AND a <= $3 AND (a < $3 OR (a = $3 AND b > $4))",
  );
  expect(where(postgres, ["a", "b"], row, { filter: { c: 1 }, merge: { a: 2 }, allow: ["a"], ...known })).toBe(
    "(c = $1) AND (a = $2) AND (a, b) > ($3, $4)",
  );
});

it("takes the key for a column that holds no NULL", () => {
  expect(where(postgres, ["a", "b"], row, { key: "b" })).toBe("(a, b) > ($1, $2) OR a IS NULL");
  expect(where(postgres, ["a"], row, { key: "a" })).toBe("a > $1");
});

it("reads backwards with the order turned, NULLs and all", () => {
  const before = new Cursor().int("a", 1).int("b", 2).encode();
  expect(sqlRead("t", { order: ["a", "-b"], limit: 3, before })[0]).toBe(
    "SELECT * FROM t WHERE a <= $1 AND (a < $1 OR (a = $1 AND (b > $2 OR b IS NULL))) ORDER BY a DESC, b ASC LIMIT 3",
  );
});
