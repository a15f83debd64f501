// The section of docs/conformance.md about the tests of Kysely and Drizzle.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { writeSection } from "../section.mjs";
import { reasonFor } from "./reasons.mjs";

const titles = { kysely: "Kysely", drizzle: "Drizzle" };
const manifests = { kysely: "package.json", drizzle: "drizzle-orm/package.json" };

/** Writes the section: a row for each suite and database, then the reasons with the number of tests. */
export function writeTable(results, checkouts) {
  const rows = [];
  const counted = {};
  for (const [suite, tests] of Object.entries(results)) {
    const { version } = JSON.parse(readFileSync(join(checkouts[suite], manifests[suite]), "utf8"));
    const name = `${titles[suite]} ${version}, commit \`${commit(checkouts[suite])}\``;
    for (const database of ["PostgreSQL", "SQLite", ""]) {
      const own = tests.filter((test) => databaseOf(test) === database);
      if (own.length === 0) continue;
      const failed = own.filter(({ error }) => error !== undefined);
      rows.push(
        `| ${name} | ${database || "none"} | ${own.length} | ${own.length - failed.length} | ${failed.length} |`,
      );
      for (const test of failed) {
        const key = `| ${titles[suite]} | ${reasonFor(suite, test) ?? "no reason is listed"}`;
        counted[key] = (counted[key] ?? 0) + 1;
      }
    }
  }
  const sorted = Object.entries(counted).sort(([, one], [, other]) => other - one);
  const text = [
    "| suite | database | tests | passed | failed |",
    "|---|---|---:|---:|---:|",
    ...rows,
    "",
    "| suite | reason | tests |",
    "|---|---|---:|",
    ...sorted.map(([key, count]) => `${key} | ${count} |`),
  ].join("\n");
  writeSection("docs/conformance.md", "orm", text);
}

function databaseOf({ file, name }) {
  if (/^postgres|^pg/.test(name) || /^pg/.test(file)) return "PostgreSQL";
  return /^sqlite/.test(name) || /^sqlite/.test(file) ? "SQLite" : "";
}

function commit(checkout) {
  return execFileSync("git", ["rev-parse", "--short=8", "HEAD"], { cwd: checkout, encoding: "utf8" }).trim();
}
