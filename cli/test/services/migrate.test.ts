/** `tenon migrate`: whose tables it makes, in which order, and once. */
import { spawn, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, expect, it } from "vitest";
import { describeEach } from "../../../testing/needs.ts";
import { RunningSign } from "../../src/dev/running.ts";
import { migrate } from "../../src/embed/migrate.ts";
import { Services } from "../../src/embed/services.ts";
import { Sidecar } from "../../src/embed/sidecar.ts";
import { askAt } from "./ask.ts";
import { folder, startPostgres } from "./stores.ts";

const tenon = fileURLToPath(new URL("../../bin/tenon.js", import.meta.url));
const example = fileURLToPath(new URL("../../../examples/users-sql", import.meta.url));
const directory = folder();
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const end: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const each of end.splice(0)) await each();
});

/** A project with the template's migrations. */
function project(name: string): string {
  const at = join(directory, name);
  cpSync(join(example, "migrations"), join(at, "migrations"), { recursive: true });
  writeFileSync(join(at, "tenon.toml"), '[project]\nname = "own"\n');
  return at;
}

/** Its development services, under the sign of a `tenon dev`, which this process stands for. */
async function develop(at: string): Promise<Services> {
  const services = await Services.start({ folder: join(at, ".tenon/services") });
  const sign = await RunningSign.up(at);
  await sign.name(services.url);
  end.push(
    () => services.close(),
    () => sign.close(),
  );
  return services;
}

async function run(cwd: string, ...args: string[]): Promise<{ code: number | null; said: string }> {
  const child = spawn(process.execPath, [tenon, "migrate", ...args], { cwd });
  const exited = new Promise<number | null>((resolve) => child.once("close", resolve));
  return { said: await text(child.stderr), code: await exited };
}

const hasUsers = async ({ url }: Services) =>
  (await askAt(url)("POST", "/sql/query", { json: { sql: "SELECT * FROM users" } })).status === 200;

it.each(["plain", "a space", "größe & 100%"])("makes the tables in a folder called %j", async (name) => {
  const at = project(name);
  const services = await develop(at);
  expect(await hasUsers(services)).toBe(false);
  expect(await run(at)).toEqual({ code: 0, said: expect.stringContaining("0001_tables.sql") });
  expect(await hasUsers(services)).toBe(true);
  expect(await run(at)).toEqual({ code: 0, said: expect.stringContaining("nothing to do") });
});

it("makes them through a symbolic link", async () => {
  const at = project("real");
  const services = await develop(at);
  const link = join(directory, "link");
  symlinkSync(at, link);
  expect(await run(link)).toMatchObject({ code: 0 });
  expect(await hasUsers(services)).toBe(true);
});

it("makes none in another project's database, and says what to start", async () => {
  const other = await develop(project("other"));
  const at = project("own");
  const none = { code: 2, said: expect.stringContaining("start `tenon dev`, or give the address") };
  expect(await run(at)).toEqual(none);
  // Nor by the sign of a `tenon dev` that was killed: its address may be another's by now.
  mkdirSync(join(at, ".tenon/running"), { recursive: true });
  const { pid } = spawnSync(process.execPath, ["-e", ""]);
  writeFileSync(join(at, ".tenon/running", String(pid)), other.url);
  expect(await run(at)).toEqual(none);
  expect(await hasUsers(other)).toBe(false);
});

const databases = [{ dialect: "sqlite" }, { dialect: "postgres", needs: "postgresql" as const }];
describeEach("a sidecar of $dialect at a Unix socket", databases, ({ dialect }) => {
  it("applies each file once, as one transaction, in the order of the names", async () => {
    const postgres = dialect === "postgres" ? await startPostgres() : undefined;
    if (postgres !== undefined) end.push(() => postgres.stop());
    const at = join(directory, dialect);
    mkdirSync(join(at, "migrations"), { recursive: true });
    const write = (name: string, sql: string) => writeFileSync(join(at, "migrations", name), sql);
    const listen = `unix://${join(at, "db.sock")}`;
    const url = postgres?.url ?? `sqlite:${join(at, "a.db")}`;
    const sidecar = await Sidecar.start({ kind: "sql", url, listen, token: "a token", logLevel: "error" });
    end.unshift(() => sidecar.close());
    writeFileSync(join(at, "token"), "a token");
    const migrate = () => run(at, listen, "--folder", "migrations", "--token-file", "token", "--json");
    const rows = async () =>
      (
        await askAt(listen, { authorization: "Bearer a token" })("POST", "/sql/query", {
          json: { sql: "SELECT b FROM a ORDER BY b" },
        })
      ).json.rows;

    write("2.sql", "INSERT INTO a VALUES ('x;y'); -- a comment;\nINSERT INTO a VALUES ('z');");
    write("1.sql", "CREATE TABLE a (b TEXT)");
    expect((await migrate()).code).toBe(0);
    write("3.sql", "INSERT INTO a VALUES ('of a file that fails'); INSERT INTO none VALUES (1)");
    const refused = await migrate();
    expect(refused).toMatchObject({ code: 1, said: expect.stringContaining("error: 3.sql was not applied: ") });
    expect(refused.said).toContain("\nhint: correct the file, and migrate again\n");
    expect(await rows()).toEqual([{ b: "x;y" }, { b: "z" }]);

    write("3.sql", "INSERT INTO a VALUES ('3')");
    // Several at once, as the pods of a deployment are.
    const both = await Promise.all([migrate(), migrate(), migrate()]);
    expect(both.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(await rows()).toEqual([{ b: "3" }, { b: "x;y" }, { b: "z" }]);
    write("1.sql", "CREATE TABLE a (b TEXT, c TEXT)");
    const changed = await migrate();
    expect(changed).toMatchObject({ code: 1, said: expect.stringContaining("error: 1.sql has changed since it was") });
    expect(changed.said).toContain("\nhint: restore it, and write the change into a new file\n");
  });
});

it("says what is wrong with an address, a folder and a sidecar", async () => {
  const at = project("refused");
  const address = await run(at, "redis://127.0.0.1:6379");
  expect(address).toEqual({ code: 2, said: expect.stringContaining("write http://host:port or unix:///path/to.sock") });
  const nobody = await run(at, `unix://${join(at, "no.sock")}`);
  expect(nobody).toMatchObject({ code: 1, said: expect.stringContaining(`nothing answers at unix://${at}/no.sock: `) });
  expect(nobody.said).toContain("\nhint: start `tenon dev` or the sidecar first\n");
  const { url } = await develop(at);
  const empty = await run(at, url, "--folder", "none");
  expect(empty.code).toBe(1);
  expect(empty.said).toContain(`there is no migration: neither ${at}/none/sqlite/*.sql nor ${at}/none/*.sql\n`);
  expect(empty.said).toContain(`hint: write ${at}/none/sqlite/0001_tables.sql\n`);
});

it("migrates through a sidecar in the process, in the folder of its dialect", async () => {
  const at = project("inside");
  const address = { run: "sql", url: `sqlite:${join(at, "inside.db")}` } as const;
  const folderOf = join(at, "migrations");
  expect(await migrate({ address, folder: folderOf })).toEqual({
    dialect: "sqlite",
    applied: ["0001_tables.sql"],
    before: [],
  });
  expect(await migrate({ address, folder: folderOf })).toMatchObject({ applied: [], before: ["0001_tables.sql"] });
  const elsewhere = { ...address, url: `sqlite:${join(at, "none", "inside.db")}` };
  await expect(migrate({ address: elsewhere, folder: folderOf })).rejects.toMatchObject({
    code: "FOLDER",
    message: expect.stringContaining("sidecars.db: "),
  });
});
