/** README.md and docs/routes.svg have the figures of bench/RESULTS.md. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { published } from "./published.mjs";

const text = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const results = text("bench/RESULTS.md");
const remedy = "run `node bench/routes/published.mjs`";

test("the README's table is that of the results", () => {
  const readme = text("README.md");
  expect(published(results, readme).readme, remedy).toBe(readme);
});

test("the plot is that of the results", () => {
  expect(published(results, text("README.md")).plot, remedy).toBe(text("docs/routes.svg"));
});

describe("other results", () => {
  const at = results.indexOf("## bench/routes");
  const changed = (from: string | RegExp, to: string) => results.slice(0, at) + results.slice(at).replace(from, to);

  test("change both", () => {
    const made = published(
      changed(/^(\| plain JSON) \|.*$/m, "$1 | 1,234 | 5,678 | 9,012 | 0.11 | 0.22 | 0.33 |"),
      text("README.md"),
    );
    expect(made.readme).toContain("| plain JSON | 1,234 | 5,678 | 9,012 |");
    expect(made.plot).toContain(">0.11<");
    expect(made.plot).toContain(">0.22<");
  });

  test("must have every row of the README's table", () => {
    const without = changed(/^\| 6 KB of HTML .*\n/m, "");
    expect(() => published(without, text("README.md"))).toThrow('no row "6 KB of HTML"');
  });

  test("must have a commit and a date", () => {
    expect(() => published(changed("Commit ", ""), text("README.md"))).toThrow("with a commit and a date");
  });
});
