import { expect, test } from "vitest";
import { pnpmPackages } from "./pnpm-workspace.ts";

test.each([
  ["what pnpm writes", 'packages:\n  - "apps/*"\n  - packages/**\n', ["apps/*", "packages/**"]],
  ["no indentation", "packages:\n- apps/*\n- '!apps/old'\n", ["apps/*", "!apps/old"]],
  [
    "comments and other keys",
    "# all of them\nlinkWorkspacePackages: true\n\npackages: # here\n  # apps\n  - apps/* # each\n\n  - tools/#1\ncatalog:\n  - none\n",
    ["apps/*", "tools/#1"],
  ],
  ["a list in flow style", "packages: [\"apps/*\", tools/a ,'b'] # all\nother: [c]\n", ["apps/*", "tools/a", "b"]],
  ["such a list over lines", 'packages: [\n  "apps/*", # each\n  tools/*,\n]\n', ["apps/*", "tools/*"]],
  ["quotes inside quotes", "packages:\n  - 'it''s'\n  - \"a\\\"b\"\n", ["it's", 'a"b']],
  ["Windows", "packages:\r\n  - apps/*\r\n  - b\r\ncatalog: {}\r\n", ["apps/*", "b"]],
  ["an empty list", "packages: []\n", []],
  ["settings alone", "onlyBuiltDependencies:\n  - esbuild\n", undefined],
  ["a key below another", "catalogs:\n  packages:\n    - apps/*\n", undefined],
  ["nothing", "", undefined],
])("%s", (_, text, patterns) => {
  expect(pnpmPackages(text)).toEqual(patterns);
});
