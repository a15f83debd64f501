/** A component's way through a registry: `tenon publish`, `tenon run oci://…`, and the registry gone. */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { describeWith, testWith } from "../../testing/needs.ts";
import { findProgram } from "../../testing/programs.ts";
import { Runtime } from "../src/index.ts";
import { send } from "./http.ts";
import { echoProject, freePort, helloProject, startTenon, startWasmtime, tenon } from "./servers.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tenon-publish-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describeWith("docker-registry", "a registry", () => {
  let host: string;
  let stop: () => Promise<void>;
  const cacheFolder = () => join(folder, "cache");
  const command = (args: readonly string[], cwd = helloProject) => {
    const env = { ...process.env, DOCKER_CONFIG: folder, TENON_CACHE_DIR: cacheFolder() };
    return spawnSync(process.execPath, [tenon, ...args], { cwd, env, encoding: "utf8" });
  };

  beforeAll(async () => {
    host = `127.0.0.1:${await freePort()}`;
    const config = join(folder, "registry.yml");
    await writeFile(
      config,
      `version: 0.1
log: {level: error, accesslog: {disabled: true}}
storage: {filesystem: {rootdirectory: ${join(folder, "registry")}}}
http: {addr: "${host}", secret: test}
`,
    );
    const child = spawn(findProgram("docker-registry") as string, ["serve", config], { stdio: "ignore" });
    const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    stop = async () => {
      child.kill();
      await ended;
    };
    await vi.waitFor(() => fetch(`http://${host}/v2/`), { timeout: 20_000 });
    await mkdir(cacheFolder(), { mode: 0o700 });
  });
  afterAll(() => stop?.());

  testWith(["oras", "wasmtime"], "another tool pulls it, and another server serves it", async () => {
    expect(command(["publish", `oci://${host}/team/hello:elsewhere`]).status).toBe(0);
    const args = ["pull", "--plain-http", "-o", folder, `${host}/team/hello:elsewhere`];
    execFileSync(findProgram("oras") as string, args, { stdio: "ignore" });
    const server = await startWasmtime(join(folder, "hello.wasm"));
    expect((await send(server.base, { path: "/hello/you" })).json()).toEqual({ greeting: "Hello, you!" });
    await server.stop();
  });

  test("a tag that leads to another component replaces the module, also inside a Node program", async () => {
    const reference = `oci://${host}/team/app:latest`;
    const publish = (file: string) => expect(command(["publish", reference, file])).toMatchObject({ status: 0 });
    publish(join(helloProject, "dist/hello-composed.wasm"));
    const at = await mkdtemp(join(folder, "refresh-"));
    const toml = `[project]\nname = "refresh"\n[modules.app]\nsource = "${reference}"\nrefresh_ms = 100\n`;
    await writeFile(join(at, "tenon.toml"), toml);
    const server = await startTenon([], "app", at, { TENON_CACHE_DIR: cacheFolder() });
    const status = async () => (await send(server.base, { path: "/run/app/hello/you" })).status;
    expect(await status()).toBe(200);
    publish(join(echoProject, "dist/echo-composed.wasm"));
    await vi.waitFor(async () => expect(await status()).not.toBe(200), { timeout: 60_000 });
    expect(server.errors().match(/Reload/g)).toHaveLength(1);
    await server.stop();

    publish(join(helloProject, "dist/hello-composed.wasm"));
    await using runtime = await Runtime.create({ modules: [reference], cacheFolder: cacheFolder() });
    expect((await runtime.fetch("http://localhost/run/app/hello/you")).status).toBe(200);
  });

  test("a project is published, and served by its digest while the registry is away", async () => {
    const { status, stdout, stderr } = command(["publish", `oci://${host}/team/hello:1.0`]);
    expect(status, stderr).toBe(0);
    const reference = stdout.trim();
    expect(reference).toMatch(new RegExp(`^oci://${host}/team/hello@sha256:[a-f0-9]{64}$`));
    const environment = { TENON_CACHE_DIR: cacheFolder() };
    const tagged = await startTenon([`oci://${host}/team/hello:1.0`], "hello", folder, environment);
    expect((await send(tagged.base, { path: "/run/hello/hello/you" })).json()).toEqual({ greeting: "Hello, you!" });
    await tagged.stop();
    await stop();
    const pinned = await startTenon([reference], "hello", folder, environment);
    expect((await send(pinned.base, { path: "/run/hello/hello/you" })).json()).toEqual({ greeting: "Hello, you!" });
    await pinned.stop();
    const away = command(["run", `oci://${host}/team/hello:1.0`], folder);
    expect(away.status).toBe(1);
    expect(away.stderr).toContain(`cannot reach ${host}: nothing listens there`);
  });
});

test("wrong usage ends with 2, and a file that is no component with 1", async () => {
  const run = (...args: string[]) => spawnSync(process.execPath, [tenon, ...args], { cwd: folder, encoding: "utf8" });
  expect(run("publish", "shop:1").status).toBe(2);
  expect(run("run", "oci://me:hidden@registry.example/shop:1").stderr).not.toContain("hidden");
  await writeFile(join(folder, "notes.wasm"), "notes");
  const { status, stderr } = run("publish", "localhost:1/shop:1", "notes.wasm");
  expect(status).toBe(1);
  expect(stderr).toContain("notes.wasm is not a WebAssembly component");
  expect(run("publish", "localhost:1/shop:1").stderr).toContain("there is no component to publish");
});
