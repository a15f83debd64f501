/** A release under another scope names its packages by that scope, and nothing else: the command stays `tenon`. */
import { beforeAll, expect, test, vi } from "vitest";

interface Names {
  readonly isRenamed: boolean;
  publishedName(name: string): string;
  renamed(text: string): string;
}

let names: Names;

beforeAll(async () => {
  vi.stubEnv("TENON_SCOPE", "@acme");
  names = (await import("../scripts/names.mjs" as string)) as Names;
});

test("packages get the scope, and the command's package a place in it", () => {
  expect(names.isRenamed).toBe(true);
  expect(["tenon", "@tenon/sdk", "@tenon/native-linux-x64-gnu", "commander"].map(names.publishedName)).toEqual([
    "@acme/tenon",
    "@acme/sdk",
    "@acme/native-linux-x64-gnu",
    "commander",
  ]);
});

test.each([
  ['import { Runtime } from "tenon";', 'import { Runtime } from "@acme/tenon";'],
  ['} from "tenon/sandbox/ai";', '} from "@acme/tenon/sandbox/ai";'],
  ['await import("@tenon/sdk/drizzle")', 'await import("@acme/sdk/drizzle")'],
  ['export const commandPackage = "tenon";', 'export const commandPackage = "@acme/tenon";'],
  ["npm install --save-dev tenon @tenon/build", "npm install --save-dev @acme/tenon @acme/build"],
  ["#:schema ./node_modules/tenon/tenon.schema.json", "#:schema ./node_modules/@acme/tenon/tenon.schema.json"],
  [String.raw`/^node_modules\/(@tenon\/native-.*)$/`, String.raw`/^node_modules\/(@acme\/native-.*)$/`],
  [String.raw`/[\\/]@tenon[\\/]sdk[\\/]dist/`, String.raw`/[\\/]@acme[\\/]sdk[\\/]dist/`],
])("%s", (text, other) => {
  expect(names.renamed(text)).toBe(other);
});

test.each([
  "npx tenon run",
  'new Command("tenon")',
  '{ version: 1, vendor: "tenon" }',
  "npm install ./tenon-*.tgz",
  'from "tenon:engine"',
])("%s stays", (text) => {
  expect(names.renamed(text)).toBe(text);
});
