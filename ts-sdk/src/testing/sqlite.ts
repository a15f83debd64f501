/** A database for tests: SQLite through the service that `tenon sidecar sql` runs. */
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { TestSidecar } from "./sidecars.ts";

/** The package of the command, under the name of a clone. A release may rename it (`scripts/names.mjs`). */
const commandPackage: string = "tenon";

/** The folders of databases, which are removed when the process ends. */
const folders = new Set<string>();

/** The part of `@tenon/native` that is used. */
interface Native {
  readonly Sidecar: {
    start(settings: string, options: object): Promise<{ readonly address: string; close(): Promise<unknown> }>;
  };
  migrate(options: { readonly address: string; readonly folder: string }): Promise<unknown>;
}

/**
 * A new SQLite database for a test, behind the real sidecar: `testApp(app, { sidecars: { db: sqlite("migrations") } })`. It is started
 * by the first request, with the migrations of the folder, and its file is removed when the process ends.
 *
 * @param folder the folder of the migrations, from the working directory; without one, the database is empty
 * @throws Error at the first request, when the package `tenon` is not installed or a migration fails
 */
export function sqlite(folder?: string): TestSidecar {
  let started: Promise<{ readonly address: string; close(): Promise<unknown> }> | undefined;
  const start = async () => {
    const native = load();
    const place = mkdtempSync(join(tmpdir(), "tenon-test-"));
    // One listener for all: Node warns of more than ten.
    if (folders.size === 0) process.once("exit", removeFolders);
    folders.add(place);
    const settings = JSON.stringify({ run: "sql", url: `sqlite:${join(place, "test.sqlite")}` });
    const sidecar = await native.Sidecar.start(settings, { listen: "127.0.0.1:0", logLevel: "off" });
    if (folder !== undefined) await native.migrate({ address: sidecar.address, folder: resolve(folder) });
    return sidecar;
  };
  return {
    async start() {
      started ??= start();
      return (await started).address;
    },
    async close() {
      await (await started)?.close();
    },
  };
}

function removeFolders(): void {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}

function load(): Native {
  const places = [join(process.cwd(), "package.json"), import.meta.url];
  for (const place of places) {
    for (const through of [undefined, commandPackage]) {
      try {
        const own = createRequire(place);
        const from = through === undefined ? own : createRequire(own.resolve(through));
        return from("@tenon/native") as Native;
      } catch (thrown) {
        if (!/^(?:MODULE_NOT_FOUND|ERR_PACKAGE_PATH_NOT_EXPORTED)$/.test(String((thrown as { code?: string }).code)))
          throw thrown;
      }
    }
  }
  throw new Error(`sqlite: the package ${commandPackage}, which has the database, must be installed`);
}
