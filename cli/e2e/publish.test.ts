/** A component's way through a registry: `tenon publish`, `tenon run oci://…`, and the registry gone. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { describeWith, testWith } from "../../testing/needs.ts";
import { findProgram } from "../../testing/programs.ts";
import { Runtime } from "../src/index.ts";
import { digestOf } from "../src/oci/artifact.ts";
import { cosignKey } from "../src/oci/cosign-key.testing.ts";
import { startRegistry } from "../src/oci/registry.testing.ts";
import { send } from "./http.ts";
import { callsProject, echoProject, helloProject, startTenon, startWasmtime, tenon } from "./servers.ts";

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
    const registry = await startRegistry(folder, "registry");
    host = registry.host;
    const ended = new Promise<void>((resolve) => registry.child.once("exit", () => resolve()));
    stop = async () => {
      registry.child.kill();
      await ended;
    };
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

  test("slim, a further module is less than 1 MB, and its engine is the same", async () => {
    const layers: { digest: string; size: number }[][] = [];
    for (const [name, project] of [
      ["hello", helloProject],
      ["calls", callsProject],
    ] as const) {
      const file = join(project, `dist/${name}-composed.wasm`);
      const args = [tenon, "publish", "--slim", `oci://${host}/slim/${name}:1.0`, file];
      execFileSync(process.execPath, args, { env: { ...process.env, DOCKER_CONFIG: folder }, stdio: "ignore" });
      const headers = { accept: "application/vnd.oci.image.manifest.v1+json" };
      const manifest = await fetch(`http://${host}/v2/slim/${name}/manifests/1.0`, { headers });
      layers.push(((await manifest.json()) as { layers: (typeof layers)[0] }).layers);
    }
    const [[engine, delta] = [], [sameEngine, otherDelta] = []] = layers;
    expect(sameEngine).toEqual(engine);
    for (const { size } of [delta, otherDelta] as { size: number }[]) expect(size).toBeLessThan(1_000_000);
    await using runtime = await Runtime.create({
      modules: [`oci://${host}/slim/hello:1.0`],
      cacheFolder: await mkdtemp(join(folder, "slim-")),
    });
    expect((await runtime.fetch("http://localhost/run/hello/hello/you")).status).toBe(200);
  });

  // WKG is the path of the program. CI does not have it: compiling it takes longer than all tests.
  test.skipIf(process.env["WKG"] === undefined)(
    "wkg pulls what Tenon has published, and the other way round",
    async () => {
      const wkg = (...args: string[]) =>
        execFileSync(process.env["WKG"] as string, args, {
          encoding: "utf8",
          stdio: "pipe",
          env: { ...process.env, HOME: folder, DOCKER_CONFIG: folder, WKG_CACHE_DIR: join(folder, "wkg-cache") },
        });
      const built = await readFile(join(helloProject, "dist/hello-composed.wasm"));
      const digest = digestOf(built);
      expect(command(["publish", `oci://${host}/team/hello:1.2.3`]).status).toBe(0);
      const pulled = join(folder, "wkg-pulled.wasm");
      wkg("oci", "pull", "--insecure", host, "-o", pulled, `${host}/team/hello:1.2.3`);
      expect(digestOf(await readFile(pulled))).toBe(digest);
      // The name of a package becomes the repository, and its version the tag.
      const config = join(folder, "wkg.toml");
      await writeFile(config, `[registry."${host}"]\ntype = "oci"\n[registry."${host}".oci]\nprotocol = "http"\n`);
      const got = join(folder, "wkg-got.wasm");
      wkg("get", "--config", config, "--registry", host, "-o", got, "--format", "wasm", "team:hello@1.2.3");
      expect(digestOf(await readFile(got))).toBe(digest);
      if (findProgram("wasmtime") !== undefined) {
        const server = await startWasmtime(got);
        expect((await send(server.base, { path: "/hello/you" })).json()).toEqual({ greeting: "Hello, you!" });
        await server.stop();
      }
      const said = wkg("oci", "push", "--insecure", host, `${host}/wkg/hello:1.0`, pulled);
      await using runtime = await Runtime.create({
        modules: [`oci://${host}/wkg/hello:1.0`],
        cacheFolder: await mkdtemp(join(folder, "wkg-")),
      });
      expect((await runtime.fetch("http://localhost/run/hello/hello/you")).status).toBe(200);
      expect(said).toContain("digest: sha256:");
    },
  );

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
    await expect.poll(server.errors).toContain("Reload");
    await server.stop();
    expect(server.errors().match(/Reload/g)).toHaveLength(1);

    publish(join(helloProject, "dist/hello-composed.wasm"));
    await using runtime = await Runtime.create({ modules: [reference], cacheFolder: cacheFolder() });
    expect((await runtime.fetch("http://localhost/run/app/hello/you")).status).toBe(200);
  });

  test("with verify_key a server takes over what is signed, and goes on without what is not", async () => {
    await writeFile(join(folder, "cosign.key"), cosignKey.private);
    await writeFile(join(folder, "cosign.pub"), cosignKey.public);
    const reference = `oci://${host}/team/signed:latest`;
    const publish = (file: string, ...options: string[]) => {
      const env = { ...process.env, DOCKER_CONFIG: folder, COSIGN_PASSWORD: cosignKey.password };
      const args = [tenon, "publish", reference, file, ...options];
      const { status, stderr } = spawnSync(process.execPath, args, { cwd: folder, env, encoding: "utf8" });
      expect(status, stderr).toBe(0);
    };
    const [hello, echo] = [
      join(helloProject, "dist/hello-composed.wasm"),
      join(echoProject, "dist/echo-composed.wasm"),
    ];
    publish(echo);
    const refused = command(["run", reference, "--verify-key", "cosign.pub"], folder);
    expect(refused.status).toBe(1);
    expect(refused.stderr).toMatch(/team\/signed@sha256:[a-f0-9]{64} is not signed, and verify_key requires it/);
    publish(hello, "--sign-key", "cosign.key");
    const at = await mkdtemp(join(folder, "signed-"));
    const toml = `[project]\nname = "x"\n[server]\nverify_key = "../cosign.pub"\n[modules.app]\nsource = "${reference}"\nrefresh_ms = 100\n`;
    await writeFile(join(at, "tenon.toml"), toml);
    const server = await startTenon([], "app", at, { TENON_CACHE_DIR: cacheFolder() });
    const status = async () => (await send(server.base, { path: "/run/app/hello/you" })).status;
    expect(await status()).toBe(200);
    publish(echo);
    await vi.waitFor(() => expect(server.errors()).toContain("is not signed"), { timeout: 60_000 });
    expect(await status()).toBe(200);
    publish(echo, "--sign-key", "cosign.key");
    await vi.waitFor(async () => expect(await status()).not.toBe(200), { timeout: 60_000 });
    await server.stop();
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
