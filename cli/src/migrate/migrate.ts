/** Migrations of a database behind a sidecar: SQL files that are applied once each, in one transaction. */
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { ask, detailOf, type Reply } from "../ask.ts";
import { systemReason, TenonError } from "../errors.ts";
import { startInProcess } from "../in-process.ts";
import type { InProcessSidecar } from "../runtime.ts";
import { statementsOf } from "./statements.ts";

/** Options of {@link migrate}. */
export interface MigrateOptions {
  /**
   * Address of the sidecar `sql`: `unix:///run/db.sock` or `http://127.0.0.1:7001`; or a sidecar in this process, such
   * as `{ run: "sql", url: "env:DATABASE_URL" }`. It must be allowed to change the schema.
   */
  readonly address: string | InProcessSidecar;
  /** Folder of the files: its `<dialect>/*.sql`, or its `*.sql` when it has no folder of the dialect. */
  readonly folder: string;
  /** Bearer token of the sidecar. */
  readonly token?: string | undefined;
}

/** The result of {@link migrate}. */
export interface Migrated {
  readonly dialect: Dialect;
  /** The files that this call applied. */
  readonly applied: readonly string[];
  /** The files that were applied before. */
  readonly before: readonly string[];
}

type Dialect = "sqlite" | "postgres";

/** A statement in the form of `/sql/batch`. */
interface Statement {
  readonly sql: string;
  readonly params?: readonly string[];
}

/** Table of the applied files. */
const TABLE = "tenon_migrations";

/** Timeout in milliseconds. A migration may rewrite a large table. */
const TIMEOUT_MS = 10 * 60 * 1000;

/**
 * Applies the files that were not applied yet, in the order of their names.
 *
 * @throws TenonError `BACKEND` when the sidecar refuses a file or does not answer, `CONFIG` for a file that has changed
 * since it
 *   was applied, `FOLDER` when there are no files
 */
export async function migrate({ address, folder, token }: MigrateOptions): Promise<Migrated> {
  if (typeof address === "string") {
    const send: Send = (path, json) => ask({ address, method: "POST", path, json, token, timeoutMs: TIMEOUT_MS });
    return apply(new Database(address, send), folder);
  }
  const sidecar = await startInProcess("db", address);
  try {
    return await apply(new Database("the sidecar", (path, json) => sidecar.ask("POST", path, json)), folder);
  } finally {
    await sidecar.close();
  }
}

async function apply(database: Database, folder: string): Promise<Migrated> {
  const dialect = await database.dialect();
  const files = await filesOf(folder, dialect);
  const applied: string[] = [];
  const before = await database.applied();
  for (const { name, text } of files) {
    const digest = createHash("sha256").update(text).digest("hex");
    if (isApplied(before, name, digest)) continue;
    const note = {
      sql: `INSERT INTO ${TABLE} (name, digest, applied_at) VALUES (${dialect === "sqlite" ? "?1, ?2, ?3" : "$1, $2, $3"})`,
      params: [name, digest, new Date().toISOString()],
    };
    // The note is first, so that one of two concurrent migrations waits for the other.
    const refused = await database.run([note, ...statementsOf(text).map((sql) => ({ sql }))]);
    if (refused === undefined) applied.push(name);
    else if (!isApplied(await database.applied(), name, digest)) {
      throw new TenonError("BACKEND", `${name} was not applied: ${refused}`, "correct the file, and migrate again");
    }
  }
  return { dialect, applied, before: [...before.keys()] };
}

type Send = (path: string, json: object) => Promise<Reply>;

/** Returns whether a file was applied with its current content. */
function isApplied(applied: ReadonlyMap<string, string>, name: string, digest: string): boolean {
  const known = applied.get(name);
  if (known === undefined || known === digest) return known !== undefined;
  throw new TenonError(
    "CONFIG",
    `${name} has changed since it was applied`,
    "restore it, and write the change into a new file",
  );
}

class Database {
  readonly #address: string;
  readonly #send: Send;

  constructor(address: string, send: Send) {
    this.#address = address;
    this.#send = send;
  }

  async dialect(): Promise<Dialect> {
    const reply = await this.#post("/sql/query", { sql: "SELECT sqlite_version()" });
    return reply.status === 200 ? "sqlite" : "postgres";
  }

  /** Returns the digests of the applied files by name. Makes the table if it is missing. */
  async applied(): Promise<Map<string, string>> {
    const sql = `CREATE TABLE IF NOT EXISTS ${TABLE} (name TEXT PRIMARY KEY, digest TEXT NOT NULL, applied_at TEXT NOT NULL)`;
    // PostgreSQL may refuse it once while another program makes the table.
    if ((await this.run([{ sql }])) !== undefined) {
      const refused = await this.run([{ sql }]);
      if (refused !== undefined) {
        throw new TenonError(
          "BACKEND",
          `the table ${TABLE} cannot be made: ${refused}`,
          "migrate through a sidecar that may change the schema: without --read-only, --tables and --role",
        );
      }
    }
    const reply = await this.#post("/sql/query", { sql: `SELECT name, digest FROM ${TABLE} ORDER BY name` });
    if (reply.status !== 200) throw new TenonError("BACKEND", `the table ${TABLE} cannot be read: ${detailOf(reply)}`);
    const { rows } = JSON.parse(reply.text) as { rows: readonly { name: string; digest: string }[] };
    return new Map(rows.map(({ name, digest }) => [name, digest]));
  }

  /** Runs statements in one transaction. Returns the reason if they are refused. */
  async run(statements: readonly Statement[]): Promise<string | undefined> {
    const reply = await this.#post("/sql/batch", { statements });
    return reply.status === 200 ? undefined : detailOf(reply);
  }

  async #post(path: string, json: object): Promise<Reply> {
    try {
      return await this.#send(path, json);
    } catch (error) {
      if (error instanceof TenonError) throw error;
      throw new TenonError(
        "BACKEND",
        `nothing answers at ${this.#address}: ${(error as Error).message}`,
        "start `tenon dev` or the sidecar first",
      );
    }
  }
}

async function filesOf(folder: string, dialect: Dialect): Promise<{ readonly name: string; readonly text: string }[]> {
  const own = join(folder, dialect);
  const names = await sqlFiles(own);
  const [where, found] = names === undefined ? [folder, await sqlFiles(folder)] : [own, names];
  if (found === undefined || found.length === 0) {
    throw new TenonError(
      "FOLDER",
      `there is no migration: neither ${join(own, "*.sql")} nor ${join(folder, "*.sql")}`,
      `write ${join(own, "0001_tables.sql")}`,
    );
  }
  return Promise.all(found.map(async (name) => ({ name, text: await readFile(join(where, name), "utf8") })));
}

/** Lists the migrations in a folder, sorted by name; undefined when the folder is missing. */
async function sqlFiles(folder: string): Promise<string[] | undefined> {
  try {
    return (await readdir(folder)).filter((name) => name.endsWith(".sql") && !name.startsWith(".")).sort();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw new TenonError("FOLDER", `${folder} cannot be read: ${systemReason(error)}`, undefined, error);
  }
}
