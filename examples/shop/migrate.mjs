// Makes the tables: node migrate.mjs sqlite http://127.0.0.1:9919, with the address of the database's sidecar. It may run again.
import { readFileSync } from "node:fs";
import { argv } from "node:process";
import { pathToFileURL } from "node:url";

/** Runs the statements of a dialect as one transaction. */
export async function migrate(dialect, url) {
  const text = readFileSync(new URL(`migrations/${dialect}.sql`, import.meta.url), "utf8");
  const statements = text.split(/;\s*$/m).flatMap((sql) => (sql.trim() === "" ? [] : [{ sql: sql.trim() }]));
  const response = await fetch(`${url}/sql/batch`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ statements }),
  });
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
}

if (import.meta.url === pathToFileURL(argv[1] ?? "").href) {
  await migrate(argv[2] ?? "sqlite", argv[3] ?? "http://127.0.0.1:9919");
}
