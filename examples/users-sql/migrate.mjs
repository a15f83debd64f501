// Makes the tables: `npm run migrate` while `tenon dev` runs, or `node migrate.mjs postgres http://127.0.0.1:7001` with the
// address of a sidecar that may change the schema. It may run again and again.
import { readFileSync } from "node:fs";

/** The statements of a dialect's migration. */
export function statements(dialect) {
  const text = readFileSync(new URL(`migrations/${dialect}.sql`, import.meta.url), "utf8");
  return text
    .split(/;\s*$/m)
    .map((sql) => ({ sql: sql.trim() }))
    .filter(({ sql }) => sql !== "");
}

/** Runs them, or others, as one transaction. */
export async function migrate(dialect, url, run = statements(dialect)) {
  const response = await fetch(`${url}/sql/batch`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ statements: run }),
  });
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const [dialect = "sqlite", url = "http://127.0.0.1:9919"] = process.argv.slice(2);
  await migrate(dialect, url);
  process.stderr.write(`The tables are there (${dialect}, ${url}).\n`);
}
