/** `npm run migrate` of the template `sql`: whose tables it makes, and under which names of its file. */
import { spawn, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, expect, it } from "vitest";
import { RunningSign } from "../../src/dev/running.ts";
import { Services } from "../../src/services.ts";
import { askAt } from "./ask.ts";
import { folder } from "./stores.ts";

const example = fileURLToPath(new URL("../../../examples/users-sql", import.meta.url));
const directory = folder();
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const end: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const each of end.splice(0)) await each();
});

/** A project with the template's migration. */
function project(name: string): string {
  const at = join(directory, name);
  for (const part of ["migrate.mjs", "migrations"]) cpSync(join(example, part), join(at, part), { recursive: true });
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

async function run(file: string, cwd: string): Promise<{ code: number | null; said: string }> {
  const child = spawn(process.execPath, [file], { cwd });
  const exited = new Promise<number | null>((resolve) => child.once("close", resolve));
  return { said: await text(child.stderr), code: await exited };
}

const hasUsers = async ({ url }: Services) =>
  (await askAt(url)("POST", "/sql/query", { json: { sql: "SELECT * FROM users" } })).status === 200;

it.each(["plain", "a space", "größe & 100%"])("makes the tables in a folder called %j", async (name) => {
  const at = project(name);
  const services = await develop(at);
  expect(await hasUsers(services)).toBe(false);
  expect(await run("migrate.mjs", at)).toEqual({ code: 0, said: expect.stringContaining(services.url) });
  expect(await hasUsers(services)).toBe(true);
});

it("makes them through a symbolic link", async () => {
  const at = project("real");
  const services = await develop(at);
  const link = join(directory, "link");
  symlinkSync(at, link);
  expect(await run(join(link, "migrate.mjs"), link)).toMatchObject({ code: 0 });
  expect(await hasUsers(services)).toBe(true);
});

it("makes none in another project's database, and says what to start", async () => {
  const other = await develop(project("other"));
  const at = project("own");
  const none = { code: 1, said: expect.stringContaining("start it first") };
  expect(await run("migrate.mjs", at)).toEqual(none);
  // Nor by the sign of a `tenon dev` that was killed: its address may be another's by now.
  mkdirSync(join(at, ".tenon/running"), { recursive: true });
  const { pid } = spawnSync(process.execPath, ["-e", ""]);
  writeFileSync(join(at, ".tenon/running", String(pid)), other.url);
  expect(await run("migrate.mjs", at)).toEqual(none);
  expect(await hasUsers(other)).toBe(false);
});
