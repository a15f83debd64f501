/** Migrations of a database behind a sidecar: SQL files that are applied once each, in one transaction. */
import { defaultCacheFolder } from "../cache-folder.ts";
import { fromNative, native } from "../native.ts";
import { startInProcess } from "./in-process.ts";
import type { InProcessSidecar } from "./runtime-options.ts";
import { grammarFile } from "./sidecar.ts";

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
  readonly dialect: "sqlite" | "postgres";
  /** The files that this call applied. */
  readonly applied: readonly string[];
  /** The files that were applied before. */
  readonly before: readonly string[];
}

/**
 * Applies the files that were not applied yet, in the order of their names.
 *
 * @throws TenonError `BACKEND` when the sidecar refuses a file or does not answer, `CONFIG` for a file that has changed
 *   since it was applied, `FOLDER` when there are no files, `USAGE` for an invalid address
 */
export async function migrate({ address, folder, token }: MigrateOptions): Promise<Migrated> {
  if (typeof address !== "string") {
    const sidecar = await startInProcess("db", address);
    try {
      return await migrate({ address: sidecar.address, folder });
    } finally {
      await sidecar.close();
    }
  }
  const grammar = { grammar: grammarFile(), cache: defaultCacheFolder() };
  const options = { address, folder, ...grammar, ...(token === undefined ? {} : { token }) };
  return (await fromNative(native().migrate(options))) as Migrated;
}
