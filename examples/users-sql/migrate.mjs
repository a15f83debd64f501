// Makes the tables: `npm run migrate` while `tenon dev` runs, or `node migrate.mjs postgres http://127.0.0.1:7001` with the
// address of a sidecar that may change the schema. It may run again and again.
import { existsSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";

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
  }).catch(() => {
    throw new Error(`nothing answers at ${url}: start \`tenon dev\` or the sidecar first`);
  });
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
}

/** The development services of this project. A `tenon dev` that runs has a file with their address, named by its process. */
function developmentServices() {
  const folder = new URL(".tenon/running/", import.meta.url);
  const processes = existsSync(folder) ? readdirSync(folder) : [];
  return processes
    .filter(runs)
    .map((id) => readFileSync(new URL(id, folder), "utf8"))
    .find((url) => url !== "");
}

/** Whether a process is there: one that was killed leaves its file. */
function runs(id) {
  try {
    return process.kill(Number(id), 0);
  } catch (error) {
    return error.code === "EPERM";
  }
}

/** What it does as a command; gives the exit code. */
async function main(dialect = "sqlite", url = developmentServices()) {
  if (url === undefined) {
    process.stderr.write("No `tenon dev` of this project runs: start it first, or give the address of a sidecar.\n");
    return 1;
  }
  await migrate(dialect, url);
  process.stderr.write(`The tables are there (${dialect}, ${url}).\n`);
  return 0;
}

// As a command, not as a module of the tests. Real paths: a symbolic link is another name of the same file.
const command = process.argv[1] ?? "";
if (existsSync(command) && realpathSync(command) === realpathSync(fileURLToPath(import.meta.url))) {
  process.exitCode = await main(...process.argv.slice(2));
}
