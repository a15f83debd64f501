/** `tenon dev` without what it needs later: secrets, and the tables of migrations. */
import { spawnSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { freePort } from "../../testing/free-port.ts";
import { develop, developing, project, served } from "./develop.ts";
import { send } from "./http.ts";
import { tenon } from "./servers.ts";

developing();

const handler = `import { db, get, ok, routes, secret } from "@tenon/sdk";
export default routes({
  plain: get("/plain", () => ok(1)),
  secret: get("/secret", () => ok(secret("KEY").length)),
  users: get("/users", async () => ok(await db.query(["SELECT * FROM users"]))),
});
`;

test("it starts without .env, says what is missing, and takes the file when it comes", {
  timeout: 300_000,
}, async () => {
  const at = await project(
    "missing",
    handler,
    `[server]\nport = ${await freePort()}\n[secrets]\nKEY = "env:MISSING_KEY"\n`,
  );
  await mkdir(join(at, "migrations"));
  await writeFile(join(at, "migrations/0001_users.sql"), "CREATE TABLE users (id INTEGER);\n");
  await writeFile(join(at, "migrations/0002_names.sql"), "ALTER TABLE users ADD name TEXT;\n");
  const terminal = develop(at);
  await terminal.sees(/error: tenon\.toml:6: secrets\.KEY: the environment variable MISSING_KEY is not set/);
  await terminal.sees(/hint: set MISSING_KEY in the environment, or for `tenon dev` in the file \.env/);
  await terminal.sees(/Migrations 0001_users\.sql and 1 more not applied yet; `tenon migrate`/);
  const { base } = await served(terminal, "missing");
  const status = async (path: string) => (await send(base, { path: `/run/missing${path}` })).status;
  await expect.poll(() => status("/plain")).toBe(200);
  expect(await status("/secret")).toBe(500);
  await writeFile(join(at, ".env"), "MISSING_KEY=twelve-bytes\n");
  await expect.poll(() => status("/secret"), { timeout: 60_000 }).toBe(200);
  expect(await status("/users")).toBe(500);
  // The engine has left the handler when the sidecar answers.
  await terminal.sees(
    /SidecarError: db: it answered 400: no such table: users .*\n +at async [^\n]*\(src\/handler\.ts:5:\d+\)/,
  );
  expect(spawnSync(process.execPath, [tenon, "migrate"], { cwd: at, encoding: "utf8" }).status).toBe(0);
  expect(await status("/users")).toBe(200);
});

test("tenon run says that .env is for tenon dev", async () => {
  const at = await project("run-env", handler, '[secrets]\nKEY = "env:MISSING_KEY"\n');
  await writeFile(join(at, ".env"), "MISSING_KEY=twelve-bytes\n");
  expect(spawnSync(process.execPath, [tenon, "build"], { cwd: at, encoding: "utf8" }).status).toBe(0);
  const { status, stderr } = spawnSync(process.execPath, [tenon, "run"], { cwd: at, encoding: "utf8" });
  expect([status, stderr]).toEqual([
    1,
    expect.stringContaining("hint: .env is for `tenon dev`: set MISSING_KEY in the environment"),
  ]);
});

test("a core module in modules/ is refused in plain words", async () => {
  const at = await project("core", handler);
  await mkdir(join(at, "modules"));
  await writeFile(join(at, "modules/raw.wasm"), Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]));
  expect(spawnSync(process.execPath, [tenon, "build"], { cwd: at, encoding: "utf8" }).status).toBe(0);
  const { status, stderr } = spawnSync(process.execPath, [tenon, "run"], { cwd: at, encoding: "utf8" });
  expect([status, stderr]).toEqual([
    1,
    expect.stringContaining("modules/raw.wasm is a core module of WebAssembly, not a component"),
  ]);
});
