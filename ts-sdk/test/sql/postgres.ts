/**
 * A PostgreSQL cluster of the test's own: in a temporary directory, reached by a socket in it, and deleted at the end.
 * Its locale is C, so that text is ordered by code points, as in SQLite and in the tests' own evaluator.
 */
import { execFileSync } from "node:child_process";
import { chownSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { dirname, join } from "node:path";
import pg from "pg";
import { findProgram } from "../../../testing/programs.ts";
import type { Statement } from "../../src/sql/index.ts";
import type { Database } from "./database.ts";

/** The file of one of the server's programs, all of which are in one folder. */
export function postgresProgram(name: string): string {
  const initdb = findProgram("postgresql");
  if (initdb === undefined) throw new Error("PostgreSQL is not installed");
  return join(dirname(initdb), name);
}

/** Starts a server and connects to it. */
export async function startPostgres(): Promise<Database> {
  const directory = mkdtempSync(join(tmpdir(), "tenon-pg-"));
  const data = join(directory, "data");
  // The server refuses to run as root; as root (in a container) it runs as the package's own user.
  const asRoot = userInfo().uid === 0;
  if (asRoot) chownSync(directory, Number(execFileSync("id", ["-u", "postgres"], { encoding: "utf8" })), -1);
  const run = (program: string, ...args: string[]) => {
    const command = [postgresProgram(program), ...args];
    const [file = "", ...rest] = asRoot ? ["runuser", "-u", "postgres", "--", ...command] : command;
    execFileSync(file, rest, { cwd: directory, stdio: ["ignore", "ignore", "inherit"] });
  };
  run("initdb", "-D", data, "--username=tenon", "--auth=trust", "--no-locale", "--encoding=UTF8", "--no-sync");
  const settings = `-c listen_addresses='' -c fsync=off -c full_page_writes=off -c max_parallel_workers_per_gather=0 -k ${directory}`;
  run("pg_ctl", "-D", data, "-l", join(directory, "log"), "-w", "-o", settings, "start");
  const stop = () => {
    run("pg_ctl", "-D", data, "-m", "immediate", "-w", "stop");
    rmSync(directory, { recursive: true, force: true });
  };
  const client = new pg.Client({ host: directory, user: "tenon", database: "postgres" });
  try {
    await client.connect();
  } catch (error) {
    stop();
    throw error;
  }
  return {
    name: "postgres",
    query: async ([text, values]: Statement) => (await client.query({ text, values })).rows,
    close: async () => {
      await client.end();
      stop();
    },
  };
}
