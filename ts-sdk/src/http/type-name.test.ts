import { expect, test } from "vitest";
import { typeName } from "./type-name.ts";

test.each([
  [undefined, "undefined"],
  [null, "null"],
  ["a", "a string"],
  [1n, "a bigint"],
  [() => 1, "a function"],
  [{}, "an Object"],
  [[], "an Array"],
  [new Uint16Array(1), "a Uint16Array"],
  [new ArrayBuffer(1), "an ArrayBuffer"],
])("names the type of %o", (value, name) => {
  expect(typeName(value)).toBe(name);
});
