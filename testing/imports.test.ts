/** Imports among our TypeScript files: no circles of two, and nothing but guest code in a component. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { fileURLToPath } from "node:url";
import { parseSync } from "oxc-parser";
import { describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

interface Imports {
  /** Files of which it uses values. */
  readonly values: ReadonlySet<string>;
  /** Files of which it uses values or types. */
  readonly all: ReadonlySet<string>;
}

const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "*.ts"], {
  cwd: root,
  encoding: "utf8",
})
  .split("\n")
  .filter(
    (file) =>
      existsSync(root + file) &&
      /^(?:cli|ts-sdk|guest)\/src\//.test(file) &&
      !/\.(?:test|testing|test-d|d)\.ts$/.test(file),
  );

const known = new Set(files);

const imports = new Map(files.map((file) => [file, importsOf(file)]));

function importsOf(file: string): Imports {
  const values = new Set<string>();
  const all = new Set<string>();
  const add = (specifier: string, isType: boolean) => {
    const target = posix.join(posix.dirname(file), specifier);
    if (!specifier.startsWith(".") || !known.has(target)) return;
    all.add(target);
    if (!isType) values.add(target);
  };
  const { module } = parseSync(file, readFileSync(root + file, "utf8"));
  for (const { moduleRequest, entries } of module.staticImports)
    add(moduleRequest.value, entries.length > 0 && entries.every(({ isType }) => isType));
  for (const { entries } of module.staticExports)
    for (const { moduleRequest, isType } of entries) if (moduleRequest) add(moduleRequest.value, isType);
  return { values, all };
}

/** Pairs of files that import each other. */
function circles(of: (each: Imports) => ReadonlySet<string>): [string, string][] {
  return [...imports].flatMap(([file, each]) =>
    [...of(each)]
      .filter((other) => file < other && of(imports.get(other) as Imports).has(file))
      .map((other): [string, string] => [file, other]),
  );
}

describe("no two files import each other", () => {
  test("for values", () => {
    expect(circles(({ values }) => values)).toEqual([]);
  });

  test("in different folders, for types either", () => {
    const folder = (file: string) => posix.dirname(file);
    expect(circles(({ all }) => all).filter(([a, b]) => folder(a) !== folder(b))).toEqual([]);
  });
});

test("guest code imports the SDK, packages and itself only", () => {
  const outside = files
    .filter((file) => file.startsWith("guest/"))
    .flatMap((file) => {
      const { module } = parseSync(file, readFileSync(root + file, "utf8"));
      const specifiers = [...module.staticImports.map(({ moduleRequest }) => moduleRequest.value)];
      return specifiers
        .filter((each) => each.startsWith("node:") || posix.join(posix.dirname(file), each).startsWith(".."))
        .concat(
          specifiers.filter(
            (each) => each.startsWith(".") && !posix.join(posix.dirname(file), each).startsWith("guest/src/"),
          ),
        )
        .map((each) => `${file}: ${each}`);
    });
  expect(outside).toEqual([]);
});
