import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { limits } from "./limits.ts";
import { native } from "./native.ts";

test("the limits are those of the runtime: `node cli/scripts/limits.mjs` writes them", () => {
  const told = native()
    .limitKeys()
    .map(({ name, meaning, ...key }) => [name, { ...key, meaning: meaning.replaceAll("\n ", " ") }]);
  expect(Object.entries(limits)).toEqual(told);
});

test("docs/runtime.md has every limit with its default", async () => {
  const page = await readFile(new URL("../../docs/runtime.md", import.meta.url), "utf8");
  for (const [name, limit] of Object.entries(limits)) {
    expect(page).toContain(`| \`${name}\` | ${limit.default.toLocaleString("en")} | ${limit.meaning} |`);
  }
});
