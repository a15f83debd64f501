import { describe, expect, it } from "vitest";
import { all, ids, sqlCreate, sqlDelete, sqlite, sqlUpdate } from "./index.ts";

const error = (name: string, code: string, field?: string) =>
  expect.objectContaining(field === undefined ? { name, code } : { name, code, field });

describe("sqlCreate", () => {
  it("writes NULLs as parameters and a row of defaults without columns", () => {
    expect(sqlCreate("t", { a: null, b: 2n })).toEqual(["INSERT INTO t (a, b) VALUES ($1, $2)", [null, 2n]]);
    expect(sqlCreate(sqlite, "t", { returning: ["id"] })).toEqual(["INSERT INTO t DEFAULT VALUES RETURNING id", []]);
  });

  it("refuses what is no value, and a returning that is no list of columns", () => {
    for (const value of [undefined, {}, [], new Date(), Number.NaN, Symbol("x"), () => 1]) {
      expect(() => sqlCreate("t", { a: value as never })).toThrow(error("SqlError", "value", "a"));
    }
    for (const returning of [undefined, "id", [], [1]]) {
      expect(() => sqlCreate("t", { a: 1, returning: returning as never })).toThrow(
        error("SqlError", "option", "returning"),
      );
    }
    expect(() => sqlCreate("t", { "a, b": 1 })).toThrow(error("SqlError", "identifier"));
    expect(() => sqlCreate("t", { a: 1, returning: ["*"] })).toThrow(error("SqlError", "identifier"));
  });
});

describe.each([
  [
    "sqlUpdate",
    (options: object) => sqlUpdate("t", { set: { a: 1 }, ...options } as never),
    "UPDATE t SET a = $1",
    [1],
  ],
  ["sqlDelete", (options: object) => sqlDelete("t", options as never), "DELETE FROM t", []],
] as const)("%s", (_, build, sql, params) => {
  it("refuses to go without a filter", () => {
    const refused = error("SqlError", "filter", "filter");
    expect(() => build({})).toThrow(refused);
    expect(() => build({ filter: undefined })).toThrow(refused);
    expect(() => build({ filter: {} })).toThrow(refused);
    expect(() => build({ filter: Object.create(null) })).toThrow(refused);
    expect(() => build({ filter: Object.create({ id: 1 }) })).toThrow(error("FilterError", "shape"));
    for (const filter of [null, "all", true, [], [{ id: 1 }], Symbol("tenon.sql.all")]) {
      expect(() => build({ filter })).toThrow(error("FilterError", "shape"));
    }
    for (const filter of [
      { $and: [] },
      { $and: [{}] },
      { $or: [] },
      { $not: {} },
      { $or: [{ a: 1 }, {}] },
      { a: {} },
    ]) {
      expect(() => build({ filter })).toThrow(error("FilterError", "shape"));
    }
  });

  it("takes every row when told so", () => {
    expect(build({ filter: all })).toEqual([sql, params]);
  });

  it("gives columns back", () => {
    expect(build({ filter: { id: 7 }, returning: ["id"] })[0]).toMatch(/ WHERE id = \$\d RETURNING id$/);
  });

  it("refuses other options", () => {
    expect(() => build({ filter: all, limit: 1 })).toThrow(error("SqlError", "option", "limit"));
  });
});

describe("sqlUpdate", () => {
  it("refuses an empty set", () => {
    for (const set of [undefined, null, {}, []]) {
      expect(() => sqlUpdate("t", { set, filter: all } as never)).toThrow(error("SqlError", "option", "set"));
    }
  });
});

describe("ids", () => {
  it("gives distinct values in the order of the rows, without NULLs", () => {
    expect(ids([{ id: 3 }, { id: 1 }, { id: 3 }])).toEqual([3, 1]);
    expect(ids([{ user_id: "b" }, { user_id: null }, { user_id: "a" }], "user_id")).toEqual(["b", "a"]);
    expect(ids([])).toEqual([]);
  });

  it("refuses rows without the field", () => {
    expect(() => ids([{ name: "x" }] as never)).toThrow(error("SqlError", "value", "id"));
    expect(() => ids([{}], "toString" as never)).toThrow(error("SqlError", "value"));
    expect(() => ids([{ id: {} }])).toThrow(error("SqlError", "value"));
  });
});
