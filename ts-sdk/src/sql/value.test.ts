import { describe, expect, it } from "vitest";
import { bool, float, int, SqlError, str } from "./index.ts";

type Hint = (value: never) => unknown;
const hints: Record<string, Hint> = { str, int, bool, float };

describe.each<[string, unknown, unknown]>([
  ["str", "a", "a"],
  ["str", "", ""],
  ["str", 7, "7"],
  ["str", 7n, "7"],
  ["str", true, "true"],
  ["int", 7, 7],
  ["int", -0, -0],
  ["int", 7n, 7],
  ["int", 2n ** 53n, 2n ** 53n],
  ["int", "42", 42],
  ["int", "+42", 42],
  ["int", "-9223372036854775808", -(2n ** 63n)],
  ["int", true, 1],
  ["bool", true, true],
  ["bool", 1, true],
  ["bool", 0n, false],
  ["bool", "false", false],
  ["float", 1.5, 1.5],
  ["float", 3n, 3],
  ["float", "1.5e2", 150],
  ["float", "-.5", -0.5],
  ["str", null, null],
  ["int", null, null],
  ["bool", null, null],
  ["float", null, null],
])("%s(%s)", (name, given, expected) => {
  it("takes it", () => expect(hints[name]?.(given as never)).toBe(expected));
});

describe.each<[string, unknown[]]>([
  ["str", [undefined, {}, [], Number.NaN, Symbol("x")]],
  [
    "int",
    [undefined, {}, 1.5, Number.NaN, 2 ** 53, 2n ** 63n, "", " 1", "1.0", "1e3", "0x10", "9223372036854775808", "1n"],
  ],
  ["bool", [undefined, {}, 2, "yes", "", "TRUE", []]],
  ["float", [undefined, {}, Number.NaN, Number.POSITIVE_INFINITY, "", " 1", "1e999", "Infinity", "0x10", true, []]],
])("%s", (name, refused) => {
  it.each(refused.map((value) => [value]))("refuses %s", (value) => {
    expect(() => hints[name]?.(value as never)).toThrow(SqlError);
  });
});
