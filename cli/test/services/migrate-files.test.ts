/** Migration files mean what the databases' own programs make of them: `sqlite3 < file` and `psql -f file`. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeWith } from "../../../testing/needs.ts";
import { findProgram } from "../../../testing/programs.ts";
import { postgresProgram } from "../../../ts-sdk/test/sql/postgres.ts";
import { migrate } from "../../src/embed/migrate.ts";
import { Sidecar } from "../../src/embed/sidecar.ts";
import { askAt } from "./ask.ts";
import { Random, randomFile } from "./migration-files.ts";
import { folder, type PostgresStore, startPostgres } from "./stores.ts";

const directory = folder();
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Seeds of files; `TENON_FILES` asks for more. */
const seeds = Array.from({ length: Number(process.env["TENON_FILES"] ?? 40) }, (_, seed) => seed);

let folders = 0;
/** A folder with one migration. */
function migration(text: string): string {
  const at = join(directory, `m${folders++}`);
  mkdirSync(at);
  writeFileSync(join(at, "1.sql"), text);
  return at;
}

/** The rows and the schema, without the table of applied files. */
const withoutOwn = (dump: string) =>
  dump
    .replaceAll("\r", "\\r")
    .split("\n")
    // pg_dump writes a random word into two commands.
    .filter((line) => !/tenon_migrations|^\\(un)?restrict /.test(line))
    .join("\n");

describeWith("sqlite3", "SQLite", () => {
  const program = findProgram("sqlite3") as string;
  const dump = (file: string) => {
    const said = execFileSync(program, [file, ".dump", "PRAGMA user_version"], { encoding: "utf8" });
    return withoutOwn(said);
  };

  async function compare(text: string): Promise<void> {
    const at = migration(text);
    const [own, theirs] = [join(at, "own.db"), join(at, "theirs.db")];
    execFileSync(program, ["-bail", theirs], {
      input: readFileSync(join(at, "1.sql")),
      stdio: ["pipe", "ignore", "pipe"],
    });
    await migrate({ address: { run: "sql", url: `sqlite:${own}` }, folder: at });
    expect(dump(own), text).toBe(dump(theirs));
  }

  test("random files", async () => {
    for (const seed of seeds) await compare(randomFile("sqlite", new Random(seed)));
  }, 600_000);

  test("a rebuild, with foreign keys off or not mentioned", async () => {
    const tables = `CREATE TABLE p (id INTEGER PRIMARY KEY); INSERT INTO p VALUES (1);
CREATE TABLE c (p REFERENCES p ON DELETE CASCADE); INSERT INTO c VALUES (1); CREATE VIEW v AS SELECT id FROM p;\n`;
    const rebuild = "CREATE TABLE o (id INTEGER PRIMARY KEY, x); INSERT INTO o (id) SELECT id FROM p; DROP TABLE p;\n";
    const legacy = "PRAGMA legacy_alter_table = ON;";
    for (const file of [
      `${tables}DROP VIEW v;${rebuild}ALTER TABLE o RENAME TO p;`,
      `PRAGMA foreign_keys=OFF;${tables}DROP VIEW v;${rebuild}ALTER TABLE o RENAME TO p;PRAGMA foreign_keys=ON;`,
      `${legacy}${tables}${rebuild}ALTER TABLE o RENAME TO p;`,
      `PRAGMA foreign_keys=ON;${tables}DELETE FROM p;`,
      `${tables}ALTER TABLE c RENAME TO d;`,
      `${tables}${legacy}ALTER TABLE p RENAME TO q; DROP VIEW v; CREATE TABLE p (id INTEGER PRIMARY KEY, x); INSERT INTO p (id) SELECT id FROM q; DROP TABLE q;`,
    ])
      await compare(file);
  });

  test.each([
    [".mode csv\n", "1.sql was not applied: line 1: .mode is a command of sqlite3"],
    ["SELECT 1;\nROLLBACK;", "1.sql was not applied: line 2: a file is applied in one transaction"],
    ["SELECT 1;\n\nSELECT none;", "1.sql was not applied: line 3: no such column: none"],
  ])("a file that is refused: %j", async (text, message) => {
    const at = migration(text);
    const migrated = migrate({ address: { run: "sql", url: `sqlite:${join(at, "own.db")}` }, folder: at });
    await expect(migrated).rejects.toMatchObject({ message: expect.stringContaining(message) });
  });
});

describeWith("postgresql", "PostgreSQL", () => {
  let store: PostgresStore;
  beforeAll(async () => {
    store = await startPostgres();
  });
  afterAll(() => store?.stop());

  const psql = (url: string, ...args: string[]) =>
    execFileSync(postgresProgram("psql"), ["-X", "-q", "-v", "ON_ERROR_STOP=1", url, ...args], {
      stdio: ["ignore", "ignore", "pipe"],
    });
  const database = (name: string) => {
    psql(store.url, "-c", `CREATE DATABASE ${name}`);
    return store.url.replace("/postgres?", `/${name}?`);
  };
  const dump = (url: string) =>
    withoutOwn(
      execFileSync(postgresProgram("pg_dump"), ["-T", "tenon_migrations", "--inserts", url], { encoding: "utf8" }),
    );

  async function compare(text: string): Promise<void> {
    const at = migration(text);
    const [own, theirs] = [database(`own${folders}`), database(`theirs${folders}`)];
    psql(theirs, "-f", join(at, "1.sql"));
    await migrate({ address: { run: "sql", url: own }, folder: at });
    expect(dump(own), text).toBe(dump(theirs));
  }

  test("random files", async () => {
    for (const seed of seeds) await compare(randomFile("postgres", new Random(seed)));
  }, 900_000);

  test.each([
    ["SELECT 1;\n\\connect other\n", "line 2: \\connect is a command of psql"],
    ["CREATE TABLE a (b int);\nCOPY a FROM stdin;\n1\n\\.\n", "line 3: COPY … FROM STDIN has data"],
    ["SELECT 1;\n\nSELECT none;", 'line 3: column "none" does not exist'],
    ["SELECT 1;\n\nSELEC none;", 'line 3: syntax error at or near "SELEC"'],
  ])("a file that is refused: %j", async (text, message) => {
    const migrated = migrate({ address: { run: "sql", url: store.url }, folder: migration(text) });
    await expect(migrated).rejects.toMatchObject({
      message: expect.stringContaining(`1.sql was not applied: ${message}`),
    });
  });

  test("foreign keys stay on", async () => {
    const sidecar = await Sidecar.start({
      kind: "sql",
      url: store.url,
      listen: `unix://${join(directory, "pg.sock")}`,
      logLevel: "error",
    });
    try {
      const ask = askAt(sidecar.address);
      for (const [path, json] of [
        ["/sql/batch", { statements: [{ sql: "SELECT 1" }], foreign_keys: false }],
        ["/sql/transaction", { foreign_keys: false }],
      ] as const)
        expect((await ask("POST", path, { json })).status).toBe(400);
    } finally {
      await sidecar.close();
    }
  });
});
