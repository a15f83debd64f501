/** The migrations of a project that its development database lacks. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";

/**
 * Returns the files that `tenon migrate` would apply, in their order; none when the database cannot be asked.
 *
 * @param folder the project's
 * @param services the address of the development services, whose database is SQLite
 */
export async function pendingMigrations(folder: string, services: string): Promise<string[]> {
  const files =
    (await sqlFiles(join(folder, "migrations", "sqlite"))) ?? (await sqlFiles(join(folder, "migrations"))) ?? [];
  if (files.length === 0) return [];
  try {
    const applied = await appliedAt(services);
    return files.filter((file) => !applied.has(file));
  } catch {
    return [];
  }
}

async function sqlFiles(folder: string): Promise<string[] | undefined> {
  try {
    return (await readdir(folder)).filter((file) => file.endsWith(".sql")).sort();
  } catch {
    return undefined;
  }
}

/** The names in the table of `crates/jobs/src/migrate.rs`. */
async function appliedAt(services: string): Promise<Set<string>> {
  const ask = async (sql: string) => {
    const headers = { "content-type": "application/json" };
    const answer = await fetch(new URL("/sql/query", services), {
      method: "POST",
      headers,
      body: JSON.stringify({ sql, params: [] }),
    });
    if (!answer.ok) throw new Error(`${answer.status}`);
    return ((await answer.json()) as { rows: { name: string }[] }).rows.map(({ name }) => name);
  };
  const tables = await ask("SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'tenon_migrations'");
  return new Set(tables.length === 0 ? [] : await ask("SELECT name FROM tenon_migrations"));
}
