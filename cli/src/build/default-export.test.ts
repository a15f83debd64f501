import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { defaultExportOf } from "./default-export.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tenon-default-"));
});
afterAll(() => rm(folder, { recursive: true }));

test.each([
  ["// ä\nexport default {};", { line: 2, column: 16, text: "export default {};", code: "{}" }],
  ["export default class A {}\r\n", { line: 1, column: 16, text: "export default class A {}", code: "class A {}" }],
  [
    "const a = 1;\nexport { a as default };",
    { line: 2, column: 10, text: "export { a as default };", code: "a as default" },
  ],
  [
    'export { default } from "./a.ts";',
    { line: 1, column: 10, text: 'export { default } from "./a.ts";', code: "default" },
  ],
  ["export const a: number = 1;", undefined],
  ["module.exports = {};", undefined],
  ["export default (", undefined],
])("finds the default export of %j", async (source, expected) => {
  const file = join(folder, "handler.ts");
  await writeFile(file, source);
  expect(await defaultExportOf(file)).toEqual(expected);
});

test("finds none in a file that cannot be read", async () => {
  expect(await defaultExportOf(join(folder, "none.ts"))).toBeUndefined();
});
