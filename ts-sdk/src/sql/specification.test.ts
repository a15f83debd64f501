/** The exact text and parameters of every statement that the specification shows, and of each operator of its table. */
import { describe, expect, it } from "vitest";
import {
  all,
  bool,
  type Dialect,
  type Filter,
  float,
  int,
  parseFilter,
  postgres,
  sqlCreate,
  sqlDelete,
  sqlite,
  sqlRead,
  sqlUpdate,
  str,
} from "./index.ts";

const dialects: [string, Dialect, (text: string) => string][] = [
  ["postgres", postgres, (text) => text],
  ["sqlite", sqlite, (text) => text.replace(/\$(?=\d)/g, "?")],
];

describe.each(dialects)("%s", (_, dialect, placed) => {
  const where = (filter: Filter) => {
    const [sql, params] = sqlRead(dialect, "users", { filter });
    return [sql.replace("SELECT * FROM users WHERE ", ""), params];
  };

  it("selects every column unless told which", () => {
    expect(sqlRead(dialect, "users")).toEqual(["SELECT * FROM users", []]);
    expect(sqlRead(dialect, "users", {})).toEqual(["SELECT * FROM users", []]);
    expect(sqlRead(dialect, "users", { select: ["id", "name"] })).toEqual(["SELECT id, name FROM users", []]);
  });

  it("joins fields by AND in the order written", () => {
    expect(where({ name: "x", active: true, age: 3 })).toEqual([
      placed("name = $1 AND active = $2 AND age = $3"),
      ["x", true, 3],
    ]);
  });

  it("orders", () => {
    expect(sqlRead(dialect, "users", { order: ["-created_at", "name"] })[0]).toBe(
      "SELECT * FROM users ORDER BY created_at DESC, name ASC",
    );
    expect(sqlRead(dialect, "users", { order: "name" })[0]).toBe("SELECT * FROM users ORDER BY name ASC");
    expect(sqlRead(dialect, "users", { order: "-name" })[0]).toBe("SELECT * FROM users ORDER BY name DESC");
  });

  it("pages", () => {
    expect(sqlRead(dialect, "users", { page: 3, limit: 20 })).toEqual(["SELECT * FROM users LIMIT 20 OFFSET 40", []]);
    expect(sqlRead(dialect, "users", { limit: 20 })).toEqual(["SELECT * FROM users LIMIT 20", []]);
    expect(sqlRead(dialect, "users", { page: 1, limit: 20 })[0]).toBe("SELECT * FROM users LIMIT 20 OFFSET 0");
  });

  it("creates", () => {
    expect(sqlCreate(dialect, "users", { name: str("Ann"), age: int(7) })).toEqual([
      placed("INSERT INTO users (name, age) VALUES ($1, $2)"),
      ["Ann", 7],
    ]);
    expect(sqlCreate(dialect, "users", { name: str("Ann"), score: float(1.5), returning: ["id", "name"] })).toEqual([
      placed("INSERT INTO users (name, score) VALUES ($1, $2) RETURNING id, name"),
      ["Ann", 1.5],
    ]);
  });

  it("updates, the set values first", () => {
    expect(
      sqlUpdate(dialect, "users", { filter: { id: 7, age: { $lt: 3 } }, set: { name: "Ann", active: bool(true) } }),
    ).toEqual([placed("UPDATE users SET name = $1, active = $2 WHERE id = $3 AND age < $4"), ["Ann", true, 7, 3]]);
  });

  it("deletes", () => {
    expect(sqlDelete(dialect, "users", { filter: { id: 7 } })).toEqual([
      placed("DELETE FROM users WHERE id = $1"),
      [7],
    ]);
    expect(sqlDelete(dialect, "users", { filter: all })).toEqual(["DELETE FROM users", []]);
  });

  it.each<[string, Filter, string, unknown[]]>([
    ["(implicit)", { f: 1 }, "f = $1", [1]],
    ["$eq", { f: { $eq: 1 } }, "f = $1", [1]],
    ["$ne", { f: { $ne: 1 } }, "f != $1", [1]],
    ["$gt", { f: { $gt: 1 } }, "f > $1", [1]],
    ["$gte", { f: { $gte: 1 } }, "f >= $1", [1]],
    ["$lt", { f: { $lt: 1 } }, "f < $1", [1]],
    ["$lte", { f: { $lte: 1 } }, "f <= $1", [1]],
    ["$in", { f: { $in: [1, 2, 3] } }, "f IN ($1, $2, $3)", [1, 2, 3]],
    ["$nin", { f: { $nin: [1, 2] } }, "f NOT IN ($1, $2)", [1, 2]],
    ["$like", { f: { $like: "a%" } }, "f LIKE $1", ["a%"]],
    ["$between", { f: { $between: [1, 9] } }, "f BETWEEN $1 AND $2", [1, 9]],
    ["$and", { $and: [{ f: 1 }, { g: 2 }] }, "(f = $1) AND (g = $2)", [1, 2]],
    ["$or", { $or: [{ f: 1 }, { g: 2 }] }, "(f = $1) OR (g = $2)", [1, 2]],
    ["$not", { $not: { f: 1 } }, "NOT (f = $1)", [1]],
    ["null", { f: null }, "f IS NULL", []],
    ["$eq null", { f: { $eq: null } }, "f IS NULL", []],
    ["$ne null", { f: { $ne: null } }, "f IS NOT NULL", []],
    ["several on a field", { f: { $gte: 18, $lt: 65 } }, "f >= $1 AND f < $2", [18, 65]],
    ["empty $in", { f: { $in: [] } }, "1 = 0", []],
    ["empty $nin", { f: { $nin: [] } }, "1 = 1", []],
    ["$in with null", { f: { $in: [1, null] } }, "f IN ($1) OR f IS NULL", [1]],
    ["$nin with null", { f: { $nin: [1, null] } }, "f NOT IN ($1) AND f IS NOT NULL", [1]],
    ["$in of null", { f: { $in: [null] } }, "f IS NULL", []],
    [
      "$or beside a field",
      { a: 1, $or: [{ f: 1 }, { g: 2, h: 3 }] },
      "a = $1 AND ((f = $2) OR (g = $3 AND h = $4))",
      [1, 1, 2, 3],
    ],
    ["$and beside a field", { a: 1, $and: [{ f: 1 }, { g: 2 }] }, "a = $1 AND (f = $2) AND (g = $3)", [1, 1, 2]],
    ["$in with null beside a field", { a: 1, f: { $in: [1, null] } }, "a = $1 AND (f IN ($2) OR f IS NULL)", [1, 1]],
    ["nested", { $not: { $or: [{ $and: [{ a: 1 }] }, { b: null }] } }, "NOT (((a = $1)) OR (b IS NULL))", [1]],
  ])("%s", (_name, filter, sql, params) => {
    expect(where(filter)).toEqual([placed(sql), params]);
  });

  it("merges a user's filter beside the trusted one", () => {
    const merge = parseFilter('{"$or":[{"name":"x"},{"age":{"$gt":3}}]}');
    const allow = ["name", "age"];
    expect(sqlRead(dialect, "users", { filter: { tenant: 1, active: true }, merge, allow })).toEqual([
      placed("SELECT * FROM users WHERE (tenant = $1 AND active = $2) AND ((name = $3) OR (age > $4))"),
      [1, true, "x", 3],
    ]);
    expect(sqlRead(dialect, "users", { merge, allow })[0]).toBe(
      placed("SELECT * FROM users WHERE (name = $1) OR (age > $2)"),
    );
  });
});

describe("operators that differ", () => {
  const cases: [string, Filter, string, string, string[]][] = [
    ["$ilike", { f: { $ilike: "A%" } }, "f ILIKE $1", "f LIKE ?1", ["A%"]],
    ["$starts_with", { f: { $starts_with: "x" } }, "f LIKE $1", "f LIKE ?1 ESCAPE '\\'", ["x%"]],
    ["$ends_with", { f: { $ends_with: "x" } }, "f LIKE $1", "f LIKE ?1 ESCAPE '\\'", ["%x"]],
    ["$contains", { f: { $contains: "x" } }, "f LIKE $1", "f LIKE ?1 ESCAPE '\\'", ["%x%"]],
    ["literally", { f: { $contains: "5%_\\" } }, "f LIKE $1", "f LIKE ?1 ESCAPE '\\'", ["%5\\%\\_\\\\%"]],
  ];
  it.each(cases)("%s", (_, filter, inPostgres, inSqlite, params) => {
    expect(sqlRead("t", { filter })).toEqual([`SELECT * FROM t WHERE ${inPostgres}`, params]);
    expect(sqlRead(sqlite, "t", { filter })).toEqual([`SELECT * FROM t WHERE ${inSqlite}`, params]);
  });

  it("$regex is PostgreSQL's", () => {
    expect(sqlRead("t", { filter: { f: { $regex: "^a" } } })).toEqual(["SELECT * FROM t WHERE f ~ $1", ["^a"]]);
    expect(() => sqlRead(sqlite, "t", { filter: { f: { $regex: "^a" } } })).toThrow(
      expect.objectContaining({ name: "FilterError", code: "operator", field: "f", operator: "$regex" }),
    );
  });
});
