/** The index of docs/sdk.md has every export that is not a type, and a page that names it. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseSync } from "oxc-parser";
import { expect, test } from "vitest";
import * as client from "../src/client/index.ts";
import * as sdk from "../src/index.ts";
import * as password from "../src/password/index.ts";
import * as testing from "../src/testing/index.ts";

const docs = fileURLToPath(new URL("../../docs/", import.meta.url));

/** Exports for the generated entry of a bundle. */
const internal = new Set(["checkResponse", "rehearse", "warmUp"]);

const entries = {
  "": sdk,
  "@tenon/sdk/client": client,
  "@tenon/sdk/password": password,
  "@tenon/sdk/testing": testing,
};

/** Read from the source, because the packages that these entries import need not be installed. */
const adapters = ["drizzle", "kysely"].flatMap((name) => {
  const source = readFileSync(fileURLToPath(new URL(`../src/${name}/index.ts`, import.meta.url)), "utf8");
  const { staticExports } = parseSync("index.ts", source).module;
  const entries = staticExports.flatMap(({ entries }) => entries).filter(({ isType }) => !isType);
  return entries.map(({ exportName }) => `${exportName.name} @tenon/sdk/${name}`);
});

const rows = [
  ...readFileSync(`${docs}sdk.md`, "utf8").matchAll(
    /^\| `(\w+)` \|\s*`?([^|`]*?)`?\s*\| \[[^\]]+\]\(([\w/-]+\.md)[^)]*\) \|$/gm,
  ),
].map(([, name = "", entry = "", page = ""]) => ({ name, entry: entry.trim(), page }));

test("it lists the exports of the package", () => {
  const exported = Object.entries(entries).flatMap(([entry, module]) =>
    Object.keys(module)
      .filter((name) => !internal.has(name))
      .map((name) => `${name} ${entry}`.trim()),
  );
  expect(rows.map(({ name, entry }) => `${name} ${entry}`.trim()).sort()).toEqual([...exported, ...adapters].sort());
});

test("it is in alphabetical order", () => {
  const names = rows.map(({ name }) => name.toLowerCase());
  expect(names).toEqual([...names].sort());
});

test.each(rows)("$page has $name", ({ name, page }) => {
  expect(readFileSync(docs + page, "utf8")).toMatch(new RegExp(`\\b${name}\\b`));
});
