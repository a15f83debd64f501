/** Cursors from drivers' rows, on tables whose column kinds are known. */
import { describe, expect, it } from "vitest";
import { field, Type } from "../index.ts";
import { Cursor, type Dialect, pageInfo, postgres, sqlite, sqlRead, table, type Value } from "./index.ts";

const things = table(
  Type("Thing", {
    i64: field.i64(),
    u32: field.u32(),
    i32: field.i32(),
    f64: field.f64(),
    bool: field.bool(),
    text: field.string(),
  }),
);
type ColumnName = "i64" | "u32" | "i32" | "f64" | "bool" | "text";

/** The parameters of the page after a row with this value. */
function bound(dialect: Dialect, column: ColumnName, value: Value): Value[] {
  const order = [column];
  const { page } = pageInfo([{ [column]: value }, {}], { order, limit: 1 });
  return sqlRead(dialect, things, { order, after: page.next_cursor })[1];
}

describe.each([postgres, sqlite])("a cursor for $name", (dialect) => {
  it.each<[ColumnName, Value, Value]>([
    ["i64", "1", 1],
    ["i64", "-7", -7],
    ["i64", "9007199254740993", 9_007_199_254_740_993n],
    ["i64", "-9223372036854775808", -(2n ** 63n)],
    ["i64", 5n, 5n],
    ["u32", "4294967295", 4_294_967_295],
    ["i32", "-2147483648", -2_147_483_648],
    ["f64", 0.5, 0.5],
    ["f64", "1.50", "1.50"],
    ["f64", "-0.12345678901234567890", "-0.12345678901234567890"],
    ["f64", "9007199254740993", "9007199254740993"],
    ["bool", true, true],
    ["text", "1", "1"],
  ])("%s: %o is bound as %o", (column, given, expected) => {
    expect(bound(dialect, column, given)).toEqual([expected]);
  });

  it.each<[ColumnName, Value]>([
    ["i64", "abc"],
    ["i64", ""],
    ["i64", "1.5"],
    ["i64", "9223372036854775808"],
    ["i64", true],
    ["u32", "-1"],
    ["u32", "4294967296"],
    ["i32", "2147483648"],
    ["i32", "0x10"],
    ["f64", "abc"],
    ["f64", ""],
    ["f64", "1e999"],
    ["f64", "Infinity "],
    ["f64", false],
    ["bool", "true"],
    ["bool", "1"],
    ["bool", 2],
    ["bool", -1n],
    ["text", 1],
  ])("%s: %o is refused", (column, given) => {
    expect(() => bound(dialect, column, given)).toThrow(
      expect.objectContaining({ name: "CursorError", code: "value", field: column }),
    );
  });
});

describe("what differs", () => {
  it("is that SQLite has 0 and 1 for booleans", () => {
    for (const bit of [0, 1, 0n, 1n]) {
      expect(bound(sqlite, "bool", bit)).toEqual([bit]);
      expect(() => bound(postgres, "bool", bit)).toThrow(expect.objectContaining({ code: "value", field: "bool" }));
    }
  });

  it("is that in SQLite a number is less than every text", () => {
    expect(bound(sqlite, "f64", "1.5")).toEqual([1.5]);
    expect(bound(postgres, "f64", "1.5")).toEqual(["1.5"]);
  });

  it("is that PostgreSQL orders what is not finite", () => {
    for (const text of ["NaN", "Infinity", "-Infinity"]) {
      expect(bound(postgres, "f64", text)).toEqual([text]);
      expect(() => bound(sqlite, "f64", text)).toThrow(expect.objectContaining({ code: "value", field: "f64" }));
    }
  });

  it("is not that a user may write texts for numbers", () => {
    for (const merge of [{ i64: "1" }, { f64: "1.5" }, { bool: 1 }]) {
      expect(() => sqlRead(sqlite, things, { merge: merge as never, allow: ["i64", "f64", "bool"] })).toThrow(
        expect.objectContaining({ name: "FilterError", code: "value" }),
      );
    }
  });

  it("is nothing where the kinds are not known", () => {
    const after = new Cursor().string("a", "1").encode();
    expect(sqlRead(sqlite, "things", { order: "a", after })[1]).toEqual(["1"]);
  });
});
