// Runs Kysely's and Drizzle's own tests with `@tenon/sdk/kysely` and `@tenon/sdk/drizzle`, and writes the tables in docs/conformance.md.
//
//   node scripts/orm/run.mjs --kysely <folder> --drizzle <folder> [--only <part of a file's name>] [--keep <folder>]
//
// The folders are checkouts of github.com/kysely-org/kysely and github.com/drizzle-team/drizzle-orm. The tests run in
// Node, against sidecars of SQLite and of a PostgreSQL that is started for them. With --only, or one checkout alone, no
// table is written. The exit code is 1 when a test fails that has no reason in reasons.mjs, or when one with a reason passes.
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fail, root } from "../setup.mjs";
import { argumentsOf } from "../usage.mjs";
import { startPostgres } from "./postgres.mjs";
import { reasonFor } from "./reasons.mjs";
import { writeTable } from "./table.mjs";

const { values } = argumentsOf(import.meta.url, {
  options: {
    kysely: { type: "string" },
    drizzle: { type: "string" },
    only: { type: "string", default: "" },
    keep: { type: "string" },
  },
});
if (values.kysely === undefined && values.drizzle === undefined)
  fail("usage: node scripts/orm/run.mjs --kysely <folder> --drizzle <folder>");

const { Sidecar } = await import(join(root, "cli/dist/embed/sidecar.js"));
const folder = resolve(values.keep ?? mkdtempSync(join(tmpdir(), "tenon-orm-")));
const postgres = startPostgres();
for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, () => {
    postgres.stop();
    process.exit(130);
  });
}
const results = {};
try {
  const sidecar = await Sidecar.start({ kind: "sql", url: postgres.url, listen: "127.0.0.1:0", logLevel: "off" });
  const databases = { postgres: sidecar.address, sqlite: "" };
  for (const name of ["kysely", "drizzle"]) {
    if (values[name] === undefined) continue;
    const { run } = await import(`./${name}.mjs`);
    const own = join(folder, name);
    mkdirSync(own, { recursive: true });
    results[name] = await run({ checkout: resolve(values[name]), folder: own, databases, only: values.only });
    writeFileSync(join(own, "results.json"), JSON.stringify(results[name], null, 1));
    const failed = results[name].filter(({ error }) => error !== undefined);
    for (const { file, name: test, error } of failed) console.log(`  ${file}: ${test}: ${error.split("\n")[0]}`);
    console.log(`${name}: ${results[name].length - failed.length} of ${results[name].length}`);
    for (const { file, name: test, error } of results[name]) {
      const isListed = reasonFor(name, { file, name: test }) !== undefined;
      if (isListed === (error !== undefined)) continue;
      console.log(`  ${file}: ${test}: ${isListed ? "has a reason, but passes" : "fails without a reason"}`);
      process.exitCode = 1;
    }
  }
  await sidecar.close();
  if (values.only === "" && results.kysely && results.drizzle) writeTable(results, values);
} finally {
  postgres.stop();
}
