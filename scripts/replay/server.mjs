// A `tenon run` that records everything, with SQLite, keys, objects, a queue and a job, for the programs that replay its recordings.
import { spawn, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fail, root } from "../setup.mjs";

export const tenon = join(root, "cli/bin/tenon.js");

/** Values of the modules' secrets. */
export const secrets = {
  JWT: "canary+of/the-key.that~signs-tokens-of-the-shop=",
  STRIPE: "whsec_canary-of-the-webhooks-of-the-shop",
  SERVICE: "canary of a service: 0123456789 &?%",
};

/** Copies a project to a folder, changes its sources, builds it, and returns its component. */
export function build(project, folder, change = () => {}) {
  rmSync(folder, { recursive: true, force: true });
  const isSource = (path) => !/[/\\](dist|node_modules|\.tenon|modules|test)$/.test(path);
  cpSync(join(root, project), folder, { recursive: true, filter: isSource });
  change(folder);
  const { status, stderr } = spawnSync(process.execPath, [tenon, "build"], { cwd: folder, encoding: "utf8" });
  if (status !== 0) fail(`${folder} cannot be built:\n${stderr}`);
  return join(
    folder,
    "dist",
    readdirSync(join(folder, "dist")).find((name) => name.endsWith(".wasm")),
  );
}

/** Replaces a text that occurs once in a file. */
export function replace(file, from, to) {
  const text = readFileSync(file, "utf8");
  if (text.split(from).length !== 2) fail(`${file} must have this once: ${from}`);
  writeFileSync(
    file,
    text.replace(from, () => to),
  );
}

/** Writes the project of a server for components by their names, and its database. */
export function prepare(folder, components) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, "modules"), { recursive: true });
  mkdirSync(join(folder, "dist"));
  for (const [name, file] of Object.entries(components)) {
    cpSync(file, join(folder, name === "shop" ? "dist" : "modules", `${name}.wasm`));
  }
  const isWhole = "jobs" in components;
  writeFileSync(
    join(folder, "tenon.toml"),
    `[project]
name = "shop"
[server]
log_format = "json"
request_timeout_ms = 2000
[record]
folder = "recordings"
share = 1
max_bytes = 4000000000
mask = ["x-api-key", "#/card/number", "#/password"]
[secrets]
${Object.keys(secrets)
  .map((name) => `${name} = "env:TRAFFIC_${name}"`)
  .join("\n")}
[env]
DIALECT = "sqlite"
GREETING = "Hello"
REGION = "north"
[sidecars]
db = { run = "sql", url = "sqlite:shop.db" }
storage = { run = "storage", url = "file:objects" }
cache = { run = "kv", url = "sqlite:cache.db" }
queue = { run = "queue", url = "sqlite:queue.db" }
cron = { run = "cron", url = "sqlite:cron.db" }
${isWhole ? `[queues.mail]\nmodule = "jobs"\npath = "/jobs/mail"\n[cron.tick]\nschedule = "* * * * * *"\nmodule = "jobs"\npath = "/jobs/tick"\nbody = { full = true }\n` : ""}`,
  );
  cpSync(join(root, "examples/shop/migrations"), join(folder, "migrations"), { recursive: true });
  writeFileSync(
    join(folder, "migrations/sqlite/0002_traffic.sql"),
    `CREATE TABLE visits (id INTEGER NOT NULL, at INTEGER NOT NULL, mark TEXT NOT NULL);
CREATE TABLE payments (holder TEXT NOT NULL, last TEXT NOT NULL, amount REAL NOT NULL);
`,
  );
  const { status, stderr } = spawnSync(process.execPath, [tenon, "migrate"], { cwd: folder, encoding: "utf8" });
  if (status !== 0) fail(`the database cannot be made:\n${stderr}`);
}

/** A server that records. */
export class Server {
  #child;
  #errors = "";
  /** The reasons why requests were not recorded, by their ids. */
  leftOut = new Map();

  constructor(folder) {
    this.folder = folder;
    this.recordings = join(folder, "recordings");
  }

  async start() {
    const variables = Object.entries(secrets).map(([name, value]) => [`TRAFFIC_${name}`, value]);
    const env = { ...process.env, ...Object.fromEntries(variables) };
    // All lines: without -v, the log has only some of the requests that are not recorded.
    this.#child = spawn(process.execPath, [tenon, "run", "-v", "--port", "0", "--json"], { cwd: this.folder, env });
    let rest = "";
    this.#child.stderr.setEncoding("utf8").on("data", (text) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop();
      for (const line of lines) this.#read(line);
    });
    this.url = await new Promise((resolve) => {
      let output = "";
      this.#child.stdout.setEncoding("utf8").on("data", (text) => {
        output += text;
        if (output.includes("\n")) resolve(JSON.parse(output.split("\n")[0]).url);
      });
      this.#child.once("exit", () => fail(`the server has ended:\n${this.#errors.slice(-4_000)}`));
    });
  }

  #read(line) {
    const found = /not recorded: ([^"]*)/.exec(line);
    const id = /"request_id":"([^"]+)"/.exec(line);
    if (found !== null) this.leftOut.set(id?.[1] ?? line, found[1]);
    else if (/recording stops|recordings are lost/.test(line))
      this.leftOut.set(line, "the server could not write as fast");
    this.#errors = `${this.#errors}${line}\n`.slice(-100_000);
  }

  /** The last of the server's log. */
  get errors() {
    return this.#errors;
  }

  files() {
    return readdirSync(this.recordings).filter((name) => name.endsWith(".tape"));
  }

  /** Waits until all but a number of requests are recorded or left out. */
  async catchUp(requests, slack = 0) {
    const until = Date.now() + 60_000;
    const have = () => this.files().length + this.leftOut.size;
    while (have() < requests - slack) {
      if (Date.now() > until)
        fail(`${have()} of ${requests} requests are recorded after a minute:\n${this.#errors.slice(-2_000)}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async stop() {
    this.#child.removeAllListeners("exit");
    const ended = new Promise((resolve) => this.#child.once("exit", resolve));
    this.#child.kill("SIGTERM");
    await ended;
  }
}
