import { describe, expect, it } from "vitest";
import { TenonDialect } from "../kysely/index.ts";
import { dialectOf, isWrite, toParameters } from "./parameter.ts";

const born = new Date("2026-03-01T10:00:00.123Z");

describe("toParameters", () => {
  it.each(["postgres", "sqlite"] as const)("keeps what the wire has, and writes dates and objects: %s", (dialect) => {
    const bytes = new Uint8Array([1]);
    const same = ["a\0", 1, -0, Number.NaN, 2n ** 70n, true, null, bytes];
    expect(toParameters(same, dialect)).toEqual(same);
    expect(toParameters([bytes.buffer, new DataView(bytes.buffer)], dialect)).toEqual([bytes, bytes]);
    const view = new Uint16Array([1, 2, 3]).subarray(1, 2);
    expect(toParameters([view], dialect)).toEqual([new Uint8Array([2, 0])]);
    expect(toParameters([born], dialect)).toEqual(["2026-03-01T10:00:00.123Z"]);
    // An object of this form would be bytes.
    expect(toParameters([{ base64: "AA==" }], dialect)).toEqual(['{"base64":"AA=="}']);
  });

  it("leaves lists to PostgreSQL, and writes them for SQLite", () => {
    const list = [1, 2n, Infinity, null, born, ["a"]];
    expect(toParameters([list], "postgres")).toEqual([[1, "2", "Infinity", null, "2026-03-01T10:00:00.123Z", ["a"]]]);
    expect(toParameters([[1, [born]]], "sqlite")).toEqual(['[1,["2026-03-01T10:00:00.123Z"]]']);
  });

  it.each([
    [undefined, "parameter 2 must not be undefined; use null"],
    [Symbol("secret"), "parameter 2 must not be a symbol"],
    [() => 1, "parameter 2 must not be a function"],
    [new Date(Number.NaN), "parameter 2 must be a valid date"],
    [{ secret: 1n }, "parameter 2 must be a value that JSON has a form for"],
    [[undefined], "parameter 2 must not have undefined; use null"],
    [[[() => 1]], "parameter 2 must not have a function"],
  ])("refuses %s without repeating it", (value, message) => {
    expect(() => toParameters(["a", value], "postgres")).toThrow(new TypeError(message));
  });
});

it.each([
  ["INSERT INTO a VALUES (1)", true],
  ["  update a set b = 1", true],
  ["WITH x AS (SELECT 1) DELETE FROM a", true],
  ["with recursive t(n) as (select 1) select replace(n, 1, 2) from t", false],
  ["SELECT 1", false],
  ["CREATE TABLE updates (a int)", false],
])("%s", (sql, expected) => {
  expect(isWrite(sql)).toBe(expected);
});

it("refuses other dialects", () => {
  for (const name of [undefined, "mysql", 1]) {
    expect(() => dialectOf(name, "TenonDialect")).toThrow('TenonDialect: "dialect" must be "postgres" or "sqlite"');
  }
  expect(() => new TenonDialect({ dialect: "sqlite", pool: 1 } as never)).toThrow('TenonDialect: unknown "pool"');
});
