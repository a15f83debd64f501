/** Runs every example of the guide, and compares the limits that it names with the code's. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import * as sdk from "../../src/index.ts";
import * as limits from "../../src/sql/limits.ts";
import { FIELD_OPERATORS, LOGICAL_OPERATORS } from "../../src/sql/operators.ts";

const guide = readFileSync(new URL("../../../docs/sql.md", import.meta.url), "utf8");
const blocks = [...guide.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = ""]) => code);

describe("docs/sql.md", () => {
  it("has its examples", () => expect(blocks.length).toBeGreaterThan(12));

  it.each(blocks.map((code) => [code]))("%s", (code) => {
    const program = code
      .split(/\n{2,}/)
      .map(readParagraph)
      .join("\n");
    // Runs the guide's examples as they are.
    new Function("check", ...Object.keys(sdk), program)(check, ...Object.values(sdk));
  });

  it("names every operator, and the bounds", () => {
    for (const operator of [...FIELD_OPERATORS.keys(), ...LOGICAL_OPERATORS])
      expect(guide).toContain(`\`${operator}\``);
    for (const bound of [
      limits.MAX_FILTER_TEXT,
      limits.MAX_FILTER_NESTING,
      limits.MAX_PARSED_LIST,
      limits.HARD_MAX_DEPTH,
    ]) {
      expect(guide).toContain(` ${bound.toLocaleString("en")} `);
    }
    for (const bound of [limits.DEFAULT_MAX_DEPTH, limits.DEFAULT_MAX_CONDITIONS, limits.DEFAULT_MAX_LIST]) {
      expect(guide).toContain(`| ${bound.toLocaleString("en")} |`);
    }
    expect(guide).toContain(
      `${sdk.postgres.maxParams.toLocaleString("en")} | ${sdk.sqlite.maxParams.toLocaleString("en")}`,
    );
    expect(guide).toContain(`${sdk.sqlite.maxPattern.toLocaleString("en")}; more is`);
    const { postgres, sqlite } = sdk;
    expect(guide).toContain(`${postgres.maxConditions.toLocaleString("en")}, in SQLite ${sqlite.maxConditions}`);
  });
});

/** Converts code with `// →` lines after it into a check; other code runs as it is. */
function readParagraph(paragraph: string): string {
  const lines = paragraph.split("\n").filter((line) => line !== "");
  const code = lines.filter((line) => !/^\/\/ (?:→|throws) /.test(line)).join("\n");
  const results = lines.filter((line) => line.startsWith("// → ")).map((line) => line.slice(5));
  const thrown = lines
    .find((line) => line.startsWith("// throws "))
    ?.slice(10)
    .split(" ");
  if (results.length === 0 && thrown === undefined) return code;
  const expected =
    thrown !== undefined
      ? JSON.stringify({ name: thrown[0], code: thrown[1] })
      : results.length === 1
        ? results[0]
        : `[${JSON.stringify(results[0])}, ${results[1]}]`;
  return `check(() => (${code.replace(/;$/, "")}), ${expected}, ${thrown !== undefined});`;
}

function check(run: () => unknown, expected: unknown, throws: boolean): void {
  if (throws) expect(run).toThrow(expect.objectContaining(expected as object));
  else expect(run()).toEqual(expected);
}
