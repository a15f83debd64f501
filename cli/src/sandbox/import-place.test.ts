/** Places of refused imports, in sources that a stranger wrote. */
import { expect, test } from "vitest";
import { importPlace } from "./import-place.ts";

const unknown = (name: string) => `"${name}" cannot be imported: a script imports its tools only`;

test.each([
  ["import fs from 'fs'", unknown("fs"), { line: 1, column: 16 }],
  ["1;\r\n  import\n'fs'", unknown("fs"), { line: 3, column: 1 }],
  ['export { a } from "a.b+c"', unknown("a.b+c"), { line: 1, column: 19 }],
  ['import { x } from "crm"', "Could not find export 'x' in module 'crm'", { line: 1, column: 19 }],
  ["import a from 'fs'; import b from 'fs'", unknown("fs"), undefined],
  ["import a from '\\x66s'", unknown("fs"), undefined],
  ["import a from 'fs'", "fs is not defined", undefined],
])("%j", (source, message, place) => {
  expect(importPlace(source, message)).toEqual(place);
});

test("long messages and sources are not searched, because a script chooses how long that takes", () => {
  const name = "a".repeat(400);
  expect(importPlace(`import '${name}'`, unknown(name))).toEqual({ line: 1, column: 8 });
  expect(importPlace(`import '${name.repeat(2)}'`, unknown(name.repeat(2)))).toBeUndefined();
  expect(importPlace(`import 'fs'${" ".repeat(200_000)}`, unknown("fs"))).toBeUndefined();
});
