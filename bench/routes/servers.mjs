// Programs for bench/routes: the stores and services that the routes use, and the compared servers.
import { execFileSync, spawn } from "node:child_process";
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { examples, firstLine } from "../programs.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const root = join(here, "../..");
const cli = join(root, "cli/bin/tenon.js");
const echo = join(examples, "sidecar");

/** Builds the component as a release. */
export function build() {
  execFileSync(process.execPath, [cli, "build", "-r"], { cwd: here, stdio: ["ignore", "ignore", "inherit"] });
}

/** Starts the stores and services. `env` is for the servers' environment; `stop` ends everything. */
export async function startServices() {
  const folder = mkdtempSync(join(tmpdir(), "tenon-routes-"));
  const children = [];
  const start = async (command, args, env = {}) => {
    const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "inherit"] });
    children.push(child);
    return (await firstLine(child)).trim();
  };
  const sidecar = (kind, name, env, ...args) =>
    start(
      process.execPath,
      [cli, "sidecar", kind, "-q", "--json", "--listen", `unix://${join(folder, `${name}.sock`)}`, ...args],
      env,
    );
  const postgres = startPostgres();
  const stop = () => {
    for (const child of children) child.kill("SIGTERM");
    postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await sidecar("sql", "db", { DATABASE_URL: postgres.url });
    await sidecar("kv", "cache", {}, "--url", `sqlite:${join(folder, "cache.db")}`);
    const url = await start(echo, []);
    const sidecars = { db: `unix://${folder}/db.sock`, cache: `unix://${folder}/cache.sock`, echo: url };
    execFileSync("curl", [
      ...["-sf", "--unix-socket", join(folder, "cache.sock")],
      ...["-X", "PUT", "--data", "hello from the cache", "http://cache/kv/greeting"],
    ]);
    writeProject(folder, sidecars);
    const inProcess = join(folder, "in-process");
    mkdirSync(inProcess);
    writeProject(inProcess, { ...sidecars, db: { run: "sql", url: "env:DATABASE_URL" } });
    const onSqlite = join(folder, "on-sqlite");
    mkdirSync(onSqlite);
    const file = `sqlite:${join(onSqlite, "users.db")}`;
    await sidecar("sql", "lite", {}, "--url", file);
    const made = `CREATE TABLE users AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
      SELECT i AS id, 'user ' || i AS name, 'user' || i || '@example.com' AS email, i % 90 AS age FROM n`;
    for (const sql of [made, "CREATE UNIQUE INDEX users_id ON users (id)"]) {
      execFileSync("curl", [
        ...["-sf", "-o", "/dev/null", "--unix-socket", join(folder, "lite.sock"), "http://db/sql/execute"],
        ...["-d", JSON.stringify({ sql }), "-H", "content-type: application/json"],
      ]);
    }
    writeProject(onSqlite, { ...sidecars, db: { run: "sql", url: file } });
    const env = { PGHOST: postgres.directory, ECHO: url, DATABASE_URL: postgres.url };
    return { folder, inProcess, onSqlite, env, stop };
  } catch (error) {
    stop();
    throw error;
  }
}

function writeProject(folder, sidecars) {
  const value = (place) =>
    typeof place === "string" ? JSON.stringify(place) : `{ run = "${place.run}", url = "${place.url}" }`;
  const lines = Object.entries(sidecars).map(([name, place]) => `${name} = ${value(place)}`);
  writeFileSync(
    join(folder, "tenon.toml"),
    `[project]\nname = "routes"\n\n[server]\nport = 0\n\n[sidecars]\n${lines.join("\n")}\n`,
  );
}

/** Starts PostgreSQL with a table of 10,000 users, on a socket in a temporary folder. */
function startPostgres() {
  const directory = mkdtempSync(join(tmpdir(), "tenon-routes-pg-"));
  const versions = existsSync("/usr/lib/postgresql") ? readdirSync("/usr/lib/postgresql") : [];
  const newest = versions.sort((a, b) => Number(b) - Number(a))[0];
  const program = (name) => (newest === undefined ? name : `/usr/lib/postgresql/${newest}/bin/${name}`);
  // The server refuses to run as root, so it then runs as the package's own user (in a container).
  const asRoot = userInfo().uid === 0;
  if (asRoot) chownSync(directory, Number(execFileSync("id", ["-u", "postgres"], { encoding: "utf8" })), -1);
  const run = (name, ...args) => {
    const [file, ...rest] = [...(asRoot ? ["runuser", "-u", "postgres", "--"] : []), program(name), ...args];
    execFileSync(file, rest, { cwd: directory, stdio: ["ignore", "ignore", "inherit"] });
  };
  const data = join(directory, "data");
  run("initdb", "-D", data, "--username=tenon", "--auth=trust", "--no-locale", "--encoding=UTF8", "--no-sync");
  const settings = `-c listen_addresses='' -c fsync=off -k ${directory}`;
  run("pg_ctl", "-D", data, "-l", join(directory, "log"), "-w", "-o", settings, "start");
  const stop = () => {
    run("pg_ctl", "-D", data, "-m", "immediate", "-w", "stop");
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    const sql = `CREATE TABLE users (id int PRIMARY KEY, name text NOT NULL, email text NOT NULL, age int NOT NULL);
      INSERT INTO users SELECT n, 'user ' || n, 'user' || n || '@example.com', n % 90 FROM generate_series(1, 10000) n;
      ANALYZE users`;
    run("psql", "-q", "-h", directory, "-U", "tenon", "-d", "postgres", "-c", sql);
    return { directory, url: `postgres://tenon@localhost/postgres?host=${directory}`, stop };
  } catch (error) {
    stop();
    throw error;
  }
}

const tenon = (isolation, folder) => async (services) => {
  const env = { ...process.env, ...services.env, TENON_SERVER_ISOLATION: isolation };
  const args = [cli, "run", "--json", join(here, "dist/routes.wasm")];
  // Log lines are made and written, but discarded.
  const child = spawn(process.execPath, args, { cwd: services[folder], env, stdio: ["ignore", "pipe", "ignore"] });
  return { child, base: `${JSON.parse(await firstLine(child)).url}/run/routes` };
};

const peer = async (services) => {
  const env = { ...process.env, ...services.env, NODE_ENV: "production" };
  const child = spawn(process.execPath, [join(here, "peer.mjs")], { env, stdio: ["ignore", "pipe", "ignore"] });
  return { child, base: (await firstLine(child)).trim() };
};

/** The compared servers. Each is started with the services, and has a process and the URL of its routes. */
export const servers = {
  request: tenon("request", "folder"),
  shared: tenon("shared", "folder"),
  "request, in process": tenon("request", "inProcess"),
  "shared, in process": tenon("shared", "inProcess"),
  "request, on SQLite": tenon("request", "onSqlite"),
  "shared, on SQLite": tenon("shared", "onSqlite"),
  peer,
};
