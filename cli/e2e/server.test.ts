/** `tenon build --server`, and the program `tenon-server`, which serves the folder without Node. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { freePort } from "../../testing/free-port.ts";
import { developing, project } from "./develop.ts";
import { send } from "./http.ts";
import { root, startTenon, tenon } from "./servers.ts";

developing();

/** `npm run build` builds it with the addon, whose target has a folder of its own. */
const { CARGO_TARGET_DIR: built = join(root, "target") } = process.env;
const program = ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"]
  .map((target) => join(built, target, "debug/tenon-server"))
  .find((file) => existsSync(file)) as string;

const handler = `
import { cache, env, get, ok, post, routes, secret } from "@tenon/sdk";

export default routes({
  who: get("/who", () => ok([env("MODE") ?? null, secret("KEY").length])),
  count: get("/count", async () => ok(await cache.incr("n"))),
  mail: post("/mail", async () => ok(await cache.incr("mail"))),
  mails: get("/mails", async () => ok((await cache.get("mail"))?.text() ?? null)),
  night: get("/night", async () => ok(await cache.incr("night"))),
  nights: get("/nights", async () => ok((await cache.get("night"))?.text() ?? null)),
});
`;

let folder: string;
let at: string;
const running: ChildProcess[] = [];

beforeAll(async () => {
  expect(program, "npm run build -w @tenon/native builds tenon-server").toBeDefined();
  folder = await mkdtemp(join(tmpdir(), "tenon-server-"));
  at = await project(
    "app",
    handler,
    `[server]
log_format = "json"
drain_ms = 1500
[env]
MODE = "server"
[secrets]
KEY = "env:APP_KEY"
[sidecars]
cache = { run = "kv", url = "env:CACHE_URL" }
queue = { run = "queue", url = "env:QUEUE_URL" }
cron = { run = "cron", url = "env:QUEUE_URL" }
db = { run = "sql", url = "env:DATABASE_URL" }
[modules.other]
source = "dist/app.wasm"
mount = "/other"
env = { MODE = "other" }
[queues.mail]
module = "app"
path = "/mail"
[cron.night]
schedule = "* * * * * *"
module = "app"
path = "/night"
`,
  );
  await mkdir(join(at, "migrations"));
  await writeFile(join(at, "migrations/0001_tables.sql"), "CREATE TABLE a (b TEXT);\n");
});
afterEach(() => {
  for (const child of running.splice(0)) child.kill("SIGKILL");
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Starts the program, and resolves with its line of JSON. */
async function start(args: readonly string[], environment: NodeJS.ProcessEnv = {}) {
  const env = { PATH: process.env["PATH"], TENON_CACHE_DIR: join(folder, "code"), ...environment };
  const child = spawn(program, args, { cwd: folder, env });
  running.push(child);
  let errors = "";
  child.stderr.on("data", (data) => {
    errors += data;
  });
  const exited = new Promise<number | null>((resolve) => child.once("close", resolve));
  const line = await new Promise<string>((resolve, reject) => {
    child.stdout.once("data", (data) => resolve(String(data)));
    void exited.then((code) => reject(new Error(`tenon-server ended with ${code}:\n${errors}`)));
  });
  return { child, exited, errors: () => errors, told: JSON.parse(line) as { url: string; address: string } };
}

const configuration = () => join(at, "dist/server/server.json");
const secrets = { APP_KEY: "canary-app-key" };
/** The URLs of stores. Servers that are killed have others, because a job waits for the run that died with its server. */
const stores = (name = "app") => ({
  CACHE_URL: `sqlite:${join(folder, `${name}-cache.db`)}`,
  QUEUE_URL: `sqlite:${join(folder, `${name}-queue.db`)}`,
  DATABASE_URL: `sqlite:${join(folder, `${name}.db`)}`,
});

test("the folder has the components and the configuration, and no secret", async () => {
  const built = spawnSync(process.execPath, [tenon, "build", "--server"], {
    cwd: at,
    encoding: "utf8",
    env: { ...process.env, ...secrets },
  });
  expect(built.status, built.stderr).toBe(0);
  expect(built.stderr).not.toContain("warning");
  const text = await readFile(configuration(), "utf8");
  expect(text).not.toContain("canary");
  const { modules, limits } = JSON.parse(text) as { modules: object; limits: { drain_ms: number } };
  expect(modules).toMatchObject({ app: { source: "app.wasm" }, other: { source: "other.wasm", mount: "/other" } });
  expect(limits.drain_ms).toBe(1500);
});

test("code in place of the components is served without a cache", async () => {
  const served = join(folder, "in-place");
  await cp(join(at, "dist/server"), served, { recursive: true });
  const compile = (...args: string[]) => {
    const { status, stderr } = spawnSync(program, ["compile", ...args, join(served, "server.json")], {
      encoding: "utf8",
      env: {},
    });
    return { status, stderr };
  };
  expect(compile("--in-place", "--target-cpu", "i386")).toEqual({
    status: 1,
    stderr: expect.stringContaining("`i386` is not a known processor; known are native"),
  });
  expect(await readdir(served)).toContain("app.wasm");
  expect(compile("--in-place").status).toBe(0);
  // Both modules have the same component.
  expect((await readdir(served)).filter((name) => /wasm$/.test(name))).toEqual(["app.cwasm"]);
  const server = await start(["run", join(served, "server.json"), "--port", "0", "--json"], {
    ...secrets,
    ...stores("killed"),
    TENON_CACHE_DIR: join(folder, "unused"),
  });
  expect(await (await send(server.told.url, { path: "/other/who" })).json()).toEqual(["other", secrets.APP_KEY.length]);
  expect(existsSync(join(folder, "unused"))).toBe(false);
  server.child.kill("SIGKILL");
  await server.exited;
  // The folder is as it was: there is nothing left to replace.
  expect(compile("--in-place").status).toBe(0);
});

test("the addon and the program serve each other's code, because they have one language and one compiler", async () => {
  const exchanged = join(folder, "exchanged");
  await cp(join(folder, "in-place"), exchanged, { recursive: true });
  const code = join(exchanged, "app.cwasm");
  const run = await startTenon(["--trust-compiled", code], "app", folder);
  expect((await send(run.base, { path: "/run/app/no-route" })).status).toBe(404);
  await run.stop();
  const component = join(at, "dist/server/app.wasm");
  const compiled = spawnSync(process.execPath, [tenon, "compile", component, "-o", code], { encoding: "utf8" });
  expect(compiled.status, compiled.stderr).toBe(0);
  const server = await start(["run", join(exchanged, "server.json"), "--port", "0", "--json"], {
    ...secrets,
    ...stores("killed"),
  });
  expect(await (await send(server.told.url, { path: "/other/who" })).json()).toEqual(["other", secrets.APP_KEY.length]);
});

test("it compiles, serves modules with a sidecar in its process, drains, and logs JSON", async () => {
  // Neither secrets nor stores are needed for it.
  const compiled = spawnSync(program, ["compile", configuration()], {
    encoding: "utf8",
    env: { TENON_CACHE_DIR: join(folder, "code") },
  });
  expect(compiled.status, compiled.stderr).toBe(0);
  const port = await freePort();
  const server = await start(["run", configuration(), "--port", "0", "--json"], {
    ...secrets,
    ...stores(),
    // As the Helm chart sets it.
    TENON_SERVER_METRICS_ADDRESS: `127.0.0.1:${port}`,
  });
  const { url } = server.told;
  const ask = async (base: string, path: string) => (await send(base, { path })).json();
  expect(await ask(url, "/run/app/who")).toEqual(["server", secrets.APP_KEY.length]);
  expect(await ask(url, "/other/who")).toEqual(["other", secrets.APP_KEY.length]);
  expect([await ask(url, "/run/app/count"), await ask(url, "/run/app/count")]).toEqual([1, 2]);
  // A start does not wait for long to learn which sidecars are up.
  await expect.poll(() => ask(url, "/health")).toMatchObject({ status: "ok", sidecars: { cache: "up", queue: "up" } });
  expect((await send(url, { path: "/ready" })).status).toBe(200);
  expect((await send(url, { path: "/metrics" })).status).toBe(404);
  expect((await send(`http://127.0.0.1:${port}`, { path: "/metrics" })).status).toBe(200);

  server.child.kill("SIGTERM");
  await vi.waitFor(async () => expect((await send(url, { path: "/ready" })).status).toBe(503), { timeout: 10_000 });
  expect(await ask(url, "/run/app/count")).toBe(3);
  expect(await server.exited).toBe(0);
  const lines = server.errors().trim().split("\n");
  const steps = lines.flatMap((line) => (JSON.parse(line) as { step?: string }).step ?? []);
  expect(steps).toEqual(["Metrics", "Serve", "Serve", "Stop"]);
  expect(server.errors()).not.toContain("canary");
});

test("it handles messages, runs jobs, and takes another configuration over without a lost request", async () => {
  const server = await start(["run", configuration(), "--port", "0", "--json"], { ...secrets, ...stores() });
  const { url } = server.told;
  const ask = async (path: string) => (await send(url, { path })).json();
  // A sidecar of its own process on the same store takes the message.
  const options = ["--listen", "127.0.0.1:0", "--url", stores().QUEUE_URL, "--pool-size", "2", "--json"];
  const queue = await start(["sidecar", "queue", ...options, "--prefix", "app:"]);
  const sent = await send(queue.told.address, {
    method: "POST",
    path: "/queue/mail",
    headers: [["content-type", "application/json"]],
    body: '{ "messages": [{ "body": 1 }] }',
  });
  expect(sent.status).toBe(200);
  await vi.waitFor(async () => expect(await ask("/run/app/mails")).toBe("1"), { timeout: 30_000 });
  await vi.waitFor(async () => expect(Number(await ask("/run/app/nights"))).toBeGreaterThan(0), { timeout: 30_000 });

  const text = await readFile(configuration(), "utf8");
  const statuses: number[] = [];
  let isOver = false;
  const asking = (async () => {
    while (!isOver) statuses.push((await send(url, { path: "/run/app/who" })).status);
  })();
  const reload = async (next: string, said: string) => {
    await writeFile(configuration(), next);
    server.child.kill("SIGHUP");
    await vi.waitFor(() => expect(server.errors()).toContain(said), { timeout: 20_000 });
  };
  const next = JSON.parse(text) as { env: object; limits: object };
  await reload(
    JSON.stringify({ ...next, env: { MODE: "next" }, limits: { ...next.limits, max_queued: 7 } }),
    "Restart",
  );
  expect(server.errors()).toContain("is needed for limits.max_queued");
  expect(await ask("/run/app/who")).toEqual(["next", secrets.APP_KEY.length]);
  await reload(JSON.stringify({ ...next, isolation: "none" }), "still serving the previous configuration");
  expect(await ask("/run/app/who")).toEqual(["next", secrets.APP_KEY.length]);
  isOver = true;
  await asking;
  expect(statuses.length).toBeGreaterThan(10);
  expect(statuses.filter((status) => status !== 200)).toEqual([]);
  await writeFile(configuration(), text);
  server.child.kill("SIGTERM");
  expect(await server.exited).toBe(0);
});

test("it migrates the database of its configuration", () => {
  const migrate = () =>
    spawnSync(program, ["migrate", "--configuration", configuration(), "--json"], {
      encoding: "utf8",
      env: { ...secrets, ...stores() },
    });
  expect(JSON.parse(migrate().stdout)).toEqual({ dialect: "sqlite", applied: ["0001_tables.sql"], before: [] });
  const again = migrate();
  expect(JSON.parse(again.stdout)).toEqual({ dialect: "sqlite", applied: [], before: ["0001_tables.sql"] });
  expect(again.stderr).toContain("nothing to do: 1 files are applied");
});

test("it does not start without its secrets, or with a file that is not its own", async () => {
  const run = (file: string) => spawnSync(program, ["run", file], { encoding: "utf8", env: {} });
  const without = run(configuration());
  expect(without.status).toBe(1);
  expect(without.stderr).toContain("secrets.KEY: the environment variable APP_KEY is not set");
  await writeFile(join(folder, "wrong.json"), '{ "version": 1, "hots": "x" }');
  const wrong = run(join(folder, "wrong.json"));
  expect(wrong.status).toBe(1);
  expect(wrong.stderr).toContain("unknown field `hots`");
  expect(wrong.stderr).toContain("`tenon build --server` writes this file");
});

test("its sidecars listen, ask for a token, and are probed", async () => {
  const address = `unix://${join(folder, "kv.sock")}`;
  const args = ["sidecar", "kv", "--listen", address, "--url", `sqlite:${join(folder, "kv.db")}`, "--json"];
  const sidecar = await start(args, { TENON_SIDECAR_TOKEN: "t0ken" });
  expect(sidecar.told).toEqual({ kind: "kv", address });
  const probe = () => spawnSync(program, ["sidecar", "health", address], { encoding: "utf8" });
  expect(probe()).toMatchObject({ status: 0, stdout: `${address} is up\n` });
  sidecar.child.kill("SIGTERM");
  expect(await sidecar.exited).toBe(0);
  expect(probe().status).toBe(1);
  const password = spawnSync(program, ["sidecar", "sql", "--listen", address, "--url", "postgres://a:pw@b/c"], {
    encoding: "utf8",
  });
  expect(password.status).toBe(1);
  expect(password.stderr).toContain("--url has a password");
});
