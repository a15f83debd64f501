/** Two modules with policies of their own in one `tenon run`: one tries to access the other's resources. */
import { spawnSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { developing, project } from "./develop.ts";
import { type Answer, send } from "./http.ts";
import { type Running, startTenon, tenon } from "./servers.ts";

developing();

/** In all that belongs to `vault`, and in nothing that anybody else sees. */
const CANARY = "canary-7c3e";

/** One component for both modules, which reads, calls and answers on request. */
const handler = `
import { env, get, httpClient, ok, routes, secret } from "@tenon/sdk";

const raw = () => JSON.stringify([...(globalThis[Symbol.for("tenon.environment")]?.() ?? [])]);

export default routes({
  base: get("/base", (_, req) => ok(req.base)),
  env: get("/env", (_, req) => ok(env(new URL(req.url).searchParams.get("name")) ?? null)),
  secret: get("/secret", () => ok(secret("KEY"))),
  all: get("/all", () => ok(raw())),
  say: get("/say", () => {
    console.log("the key is " + secret("KEY"));
    return ok({});
  }),
  call: get("/call", async (_, req) => {
    try {
      const answer = await httpClient.request().get(new URL(req.url).searchParams.get("url")).send();
      return ok([answer.status, answer.text()]);
    } catch (error) {
      return ok([0, String(error)]);
    }
  }),
});
`;

let at: string;
let running: Running;
let sidecar: Server;
let outside: Server;
let hang: Promise<void>;
let release: () => void;
const calls: string[] = [];
const origin = () => new URL(running.base).origin;
const port = (server: Server) => (server.address() as AddressInfo).port;

beforeAll(async () => {
  at = await project("spy", handler);
  const built = spawnSync(process.execPath, [tenon, "build"], { cwd: at, encoding: "utf8" });
  expect(built.status, built.stderr).toBe(0);
  hang = new Promise((resolve) => {
    release = resolve;
  });
  const socket = join(at, `${CANARY}.sock`);
  sidecar = createServer(async (request, response) => {
    calls.push(`sidecar ${request.url}`);
    if (request.url === "/hang") await hang;
    response.end(`${CANARY}-answer`);
  });
  outside = createServer((request, response) => {
    calls.push(`outside ${request.url}`);
    response.end(`${CANARY}-outside`);
  });
  await new Promise<void>((resolve) => sidecar.listen(socket, resolve));
  await new Promise<void>((resolve) => outside.listen(0, "127.0.0.1", resolve));
  await writeFile(
    join(at, "tenon.toml"),
    `[project]
name = "spy"
[server]
queue_timeout_ms = 300
[env]
SHARED = "of the server"
[modules.spy]
mount = "/"
env = { MODE = "spy" }
secrets = {}
sidecars = {}
[modules.vault]
source = "dist/spy.wasm"
mount = "/vault"
host = "vault.example"
max_concurrent = 1
[modules.vault.env]
MODE = "${CANARY}-mode"
[modules.vault.secrets]
KEY = "env:VAULT_KEY"
[modules.vault.sidecars]
store = "unix://${socket}"
[modules.vault.outbound]
allow = ["127.0.0.1:${port(outside)}"]
`,
  );
  running = await startTenon(["-v"], "spy", at, { VAULT_KEY: `${CANARY}-secret` });
}, 300_000);

afterAll(async () => {
  release();
  await running?.stop();
  sidecar?.close();
  outside?.close();
});

const ask = (module: string, path: string): Promise<Answer> => send(origin(), { path: `/run/${module}${path}` });
const call = async (module: string, url: string) =>
  (await ask(module, `/call?url=${encodeURIComponent(url)}`)).json() as [number, string];

test("each module has its own environment, secrets, sidecars and hosts", async () => {
  expect((await ask("vault", "/env?name=MODE")).json()).toBe(`${CANARY}-mode`);
  expect((await ask("vault", "/secret")).json()).toBe(`${CANARY}-secret`);
  expect((await ask("vault", "/env?name=SIDECAR_STORE_URL")).json()).toBe("http://store.sidecar.internal");
  // Its own variables take the place of the server's.
  expect((await ask("vault", "/env?name=SHARED")).json()).toBeNull();
  expect(await call("vault", "http://store.sidecar.internal/a")).toEqual([200, `${CANARY}-answer`]);
  expect(await call("vault", `http://127.0.0.1:${port(outside)}/b`)).toEqual([200, `${CANARY}-outside`]);
  expect(calls).toEqual(["sidecar /a", "outside /b"]);
});

test("a module finds nothing of another's", async () => {
  const before = calls.length;
  const said: string[] = [];
  for (const name of ["MODE", "KEY", "TENON_SECRET_KEY", "SIDECAR_STORE_URL", "VAULT_KEY", "SHARED"]) {
    const answer = await ask("spy", `/env?name=${name}`);
    expect(answer.json(), name).toBe(name === "MODE" ? "spy" : null);
  }
  const all = JSON.parse((await ask("spy", "/all")).json() as string) as [string, string][];
  expect(all.map(([name]) => name).filter((name) => !name.startsWith("TENON_REQUEST_"))).toEqual(["MODE"]);
  said.push((await ask("spy", "/secret")).body.toString());
  for (const url of [
    "http://store.sidecar.internal/",
    "http://STORE.sidecar.internal:80/",
    "http://vault.store.sidecar.internal/",
    `unix://${join(at, `${CANARY}.sock`)}`,
    `http://127.0.0.1:${port(outside)}/`,
    `http://localhost:${port(outside)}/`,
    `${origin()}/metrics`,
    `${origin()}/run/vault/secret`,
  ]) {
    const [status, why] = await call("spy", url);
    expect(status, url).toBe(0);
    // It knows its own URL.
    if (!url.includes(CANARY)) said.push(why);
  }
  expect(calls).toHaveLength(before);
  expect(said.join("\n")).not.toContain(CANARY);
});

test("secrets are masked in the lines of the module that has them", async () => {
  await ask("vault", "/say");
  await expect.poll(() => running.errors()).toContain("the key is [secret KEY]");
  expect(running.errors()).not.toContain(`${CANARY}-secret`);
});

test("calls are counted by module", async () => {
  const metrics = (await send(origin(), { path: "/metrics" })).body.toString();
  expect(metrics).toMatch(/tenon_sidecar_calls_total\{module="vault",sidecar="store",outcome="ok"\} \d/);
  expect(metrics).not.toMatch(/module="spy",sidecar=/);
  expect(metrics).toMatch(/tenon_outbound_refused_total\{module="spy"\} [1-9]/);
  expect(metrics).not.toContain(CANARY);
  const health = (await send(origin(), { path: "/health" })).json();
  expect(health).toMatchObject({ status: "ok", sidecars: { "vault/store": "up" } });
});

test("mounts and hosts lead to their modules, which see them as the base", async () => {
  const base = async (path: string, host?: string) =>
    (await send(origin(), { path, ...(host === undefined ? {} : { host }) })).json();
  expect(await base("/base")).toBe("");
  expect(await base("/run/spy/base")).toBe("/run/spy");
  expect(await base("/vault/base", "Vault.Example:1")).toBe("/vault");
  expect((await send(origin(), { path: "/vault/base" })).status).toBe(404);
});

test("a module at its limit answers 503, and another one has its places", { timeout: 60_000 }, async () => {
  const slow = call("vault", "http://store.sidecar.internal/hang");
  await expect.poll(() => calls).toContain("sidecar /hang");
  const waits = ask("vault", "/env?name=MODE");
  for (let i = 0; i < 10; i++) expect((await ask("spy", "/env?name=MODE")).json()).toBe("spy");
  expect((await waits).status).toBe(503);
  release();
  expect(await slow).toEqual([200, `${CANARY}-answer`]);
  expect((await ask("vault", "/env?name=MODE")).status).toBe(200);
});

test("a change of tenon.toml takes effect without a dropped request", { timeout: 60_000 }, async () => {
  const file = join(at, "tenon.toml");
  const text = await readFile(file, "utf8");
  const health = async () => (await send(origin(), { path: "/health" })).json() as { status: string; reload?: string };
  let asking = true;
  const statuses = new Map<number, number>();
  const asked = (async () => {
    while (asking) {
      const { status } = await ask("spy", "/env?name=MODE");
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  })();
  // A request that runs while the module is replaced ends where it began.
  hang = new Promise((resolve) => {
    release = resolve;
  });
  const hangs = calls.filter((each) => each === "sidecar /hang").length;
  const slow = call("vault", "http://store.sidecar.internal/hang");
  await expect.poll(() => calls.filter((each) => each === "sidecar /hang")).toHaveLength(hangs + 1);
  const changed = text.replace('MODE = "spy"', 'MODE = "changed"').replace('mount = "/vault"', 'mount = "/moved"');
  await writeFile(file, changed.replace("queue_timeout_ms = 300", "queue_timeout_ms = 400"));
  await expect.poll(async () => (await ask("spy", "/env?name=MODE")).json(), { timeout: 20_000 }).toBe("changed");
  expect((await send(origin(), { path: "/moved/base", host: "vault.example" })).status).toBe(503);
  release();
  expect(await slow).toEqual([200, `${CANARY}-answer`]);
  await expect
    .poll(async () => (await send(origin(), { path: "/moved/base", host: "vault.example" })).json())
    .toBe("/moved");
  await expect.poll(() => running.errors()).toContain("is needed for server.queue_timeout_ms");

  // A file that cannot be served leaves the old one serving.
  await writeFile(file, `${changed}\n[modules.broken]\nsource = "tenon.toml"\n`);
  await expect.poll(health, { timeout: 20_000 }).toMatchObject({ status: "degraded", reload: "failed" });
  await expect.poll(() => running.errors()).toContain("still serving the previous configuration");
  await writeFile(file, `${changed}\nnonsense\n`);
  await expect.poll(() => running.errors(), { timeout: 20_000 }).toContain("nonsense");
  expect((await ask("spy", "/env?name=MODE")).json()).toBe("changed");

  await writeFile(file, text);
  running.process.kill("SIGHUP");
  await expect.poll(async () => (await ask("spy", "/env?name=MODE")).json(), { timeout: 20_000 }).toBe("spy");
  // That is noted when the modules have been replaced.
  await expect.poll(health).toMatchObject({ status: "ok" });
  expect(await health()).not.toHaveProperty("reload");
  asking = false;
  await asked;
  expect([...statuses.keys()]).toEqual([200]);
});
