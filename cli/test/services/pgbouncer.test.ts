/**
 * A real PgBouncer in transaction mode, between a sidecar and PostgreSQL. Its sessions change from one transaction to the next, so a
 * sidecar refuses it at the start: prepared statements would be those of others.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chownSync, existsSync, rmSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { describeWith } from "../../../testing/needs.ts";
import { findProgram } from "../../../testing/programs.ts";
import { Sidecar } from "../../src/embed/sidecar.ts";
import { askAt } from "./ask.ts";
import { folder, type PostgresStore, startPostgres } from "./stores.ts";

describeWith(["postgresql", "pgbouncer"], "PgBouncer in transaction mode", () => {
  let store: PostgresStore;
  let bouncer: ChildProcess;
  let url: string;
  const directory = folder();

  /** Starts PgBouncer, which hands on or drops the settings of connections. */
  const start = async (settings: string) => {
    const server = new URL(store.url).searchParams.get("host");
    const config = join(directory, "pgbouncer.ini");
    const lines = [
      "[databases]",
      `postgres = host=${server} user=tenon`,
      "[pgbouncer]",
      "listen_port = 6432",
      "listen_addr =",
      `unix_socket_dir = ${directory}`,
      "auth_type = any",
      "pool_mode = transaction",
      settings,
    ];
    writeFileSync(config, `${lines.join("\n")}\n`);
    // It refuses to run as root.
    const uid = userInfo().uid === 0 ? Number(execFileSync("id", ["-u", "postgres"], { encoding: "utf8" })) : undefined;
    if (uid !== undefined) chownSync(directory, uid, -1);
    const as = uid === undefined ? {} : { uid };
    bouncer = spawn(findProgram("pgbouncer") as string, ["-q", config], { stdio: "ignore", ...as });
    await expect.poll(() => existsSync(join(directory, ".s.PGSQL.6432"))).toBe(true);
    url = `postgres://tenon@localhost:6432/postgres?host=${directory}`;
  };
  afterEach(async () => {
    const exited = new Promise((resolve) => bouncer.once("exit", resolve));
    bouncer.kill("SIGKILL");
    await exited;
    rmSync(join(directory, ".s.PGSQL.6432"), { force: true });
  });

  beforeAll(async () => {
    store = await startPostgres();
    // The database's own defaults are those of a sidecar: they say nothing of whether its settings arrive.
    const sidecar = await Sidecar.start({ kind: "sql", url: store.url, listen: "127.0.0.1:0", logLevel: "off" });
    const json = { sql: "ALTER ROLE tenon SET statement_timeout = 10000" };
    expect((await askAt(sidecar.address)("POST", "/sql/execute", { json })).status).toBe(200);
    await sidecar.close();
  });
  afterAll(async () => {
    await store.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  it.each([
    ["that drops the settings of connections", "ignore_startup_parameters = options,extra_float_digits"],
    ["that refuses them", "ignore_startup_parameters = extra_float_digits"],
  ])("is refused at the start: one %s", async (_, settings) => {
    await start(settings);
    for (const kind of ["sql", "queue", "cron"] as const) {
      const started = Sidecar.start({ kind, url, listen: "127.0.0.1:0", logLevel: "off" });
      await expect(started, kind).rejects.toMatchObject({
        code: "BACKEND",
        message: expect.stringMatching(/PgBouncer|unsupported startup parameter/),
      });
    }
  });
});
