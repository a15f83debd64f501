import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readJsonWithComments } from "./json-with-comments.ts";

test.each([
  ['{"a": [1, "b", null, true]}', { a: [1, "b", null, true] }],
  ['\ufeff{"a": 1}\r\n', { a: 1 }],
  ['// first\n{ "a": /* one */ { "b": "//", }, }', { a: { b: "//" } }],
  ["[1, 2,]", [1, 2]],
  ['{ "a": ', undefined],
  ["process.exit()", undefined],
])("%j", (text, value) => {
  const folder = mkdtempSync(join(tmpdir(), "tenon-json-"));
  try {
    writeFileSync(join(folder, "a.json"), text);
    expect(readJsonWithComments(join(folder, "a.json"))).toEqual(value);
    expect(readJsonWithComments(join(folder, "b.json"))).toBeUndefined();
  } finally {
    rmSync(folder, { recursive: true });
  }
});
