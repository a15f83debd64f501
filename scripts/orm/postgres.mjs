import { execFileSync } from "node:child_process";
import { chownSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";

/** Starts a PostgreSQL in a temporary folder; its programs must be on the path. */
export function startPostgres() {
  const folder = mkdtempSync(join(tmpdir(), "tenon-orm-pg-"));
  // The server refuses to run as root.
  const asRoot = userInfo().uid === 0;
  if (asRoot) chownSync(folder, Number(execFileSync("id", ["-u", "postgres"], { encoding: "utf8" })), -1);
  const run = (...command) => {
    const [file, ...rest] = asRoot ? ["runuser", "-u", "postgres", "--", ...command] : command;
    execFileSync(file, rest, { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
  };
  const data = join(folder, "data");
  run("initdb", "-D", data, "--username=tenon", "--auth=trust", "--no-locale", "--encoding=UTF8", "--no-sync");
  const settings = `-c listen_addresses='' -c fsync=off -k ${folder}`;
  run("pg_ctl", "-D", data, "-l", join(folder, "log"), "-w", "-o", settings, "start");
  return {
    url: `postgres://tenon@localhost/postgres?host=${folder}`,
    stop() {
      run("pg_ctl", "-D", data, "-m", "immediate", "-w", "stop");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
