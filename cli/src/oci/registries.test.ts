/** Tests of publishing to a real registry, and of other tools with the result. */
import { type ChildProcess, execFileSync } from "node:child_process";
import { createHash, createSign, randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeWith, testWith } from "../../../testing/needs.ts";
import { findProgram } from "../../../testing/programs.ts";
import { native } from "../native.ts";
import { buildArtifact, mediaTypes } from "./artifact.ts";
import { cosignKey } from "./cosign-key.testing.ts";
import { withModule } from "./hostile.testing.ts";
import { interfacesOf } from "./interfaces.ts";
import { readSigningKey } from "./keys.ts";
import { type PublishOptions, parseTarget, publishComponent } from "./publish.ts";
import { pullModule } from "./pull.ts";
import { startRegistry } from "./registry.testing.ts";

let folder: string;
/** The test component, which every build of Tenon has. */
let component: Buffer;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tenon-registry-"));
  component = native().bridge();
  await writeFile(join(folder, "bridge.wasm"), component);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const program = (name: "docker-registry" | "openssl" | "oras" | "skopeo") => findProgram(name) as string;
const run = (name: "openssl" | "oras" | "skopeo", ...args: string[]) =>
  execFileSync(program(name), args, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
const sha256 = (bytes: Uint8Array | string) => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;

async function describeBridge() {
  const created = new Date("2026-01-02T03:04:05Z");
  const interfaces = await interfacesOf(component, "bridge.wasm");
  return { title: "bridge", version: "1.2.3", source: "https://git.example/bridge", created, ...interfaces };
}

async function publish(host: string, tag = "1.0", environment: NodeJS.ProcessEnv = { DOCKER_CONFIG: folder }) {
  const target = parseTarget(`${host}/team/bridge:${tag}`);
  return publishComponent(component, await describeBridge(), target, { environment });
}

describeWith("docker-registry", "a registry", () => {
  let host: string;
  let child: ChildProcess;
  beforeAll(async () => {
    ({ host, child } = await startRegistry(folder, "open"));
  });
  afterAll(() => child?.kill());

  test("what is published is pulled again, and a second time nothing but the manifest is sent", async () => {
    const { digest, reference, sent } = await publish(host);
    expect(reference).toBe(`oci://${host}/team/bridge@${digest}`);
    expect(sent).toBeGreaterThan(component.length);
    expect((await publish(host)).sent).toBeLessThan(2000);
    const cacheFolder = join(folder, "cache");
    for (const named of [reference, `oci://${host}/team/bridge:1.0`]) {
      const pulled = await pullModule(named, { cacheFolder });
      expect(pulled.digest).toBe(digest);
      expect(await readFile(pulled.path)).toEqual(component);
    }
  });

  test("it is the CNCF layout", async () => {
    const { digest } = await publish(host);
    const headers = { accept: mediaTypes.manifest };
    const get = async (path: string) => (await fetch(`http://${host}/v2/team/bridge/${path}`, { headers })).text();
    const manifest = await get(`manifests/${digest}`);
    expect(sha256(manifest)).toBe(digest);
    const { config, layers, annotations } = JSON.parse(manifest);
    expect(config.mediaType).toBe("application/vnd.wasm.config.v0+json");
    expect(layers).toMatchObject([
      { mediaType: "application/wasm", digest: sha256(component), size: component.length },
    ]);
    expect(annotations).toEqual({
      "org.opencontainers.image.created": "2026-01-02T03:04:05Z",
      "org.opencontainers.image.source": "https://git.example/bridge",
      "org.opencontainers.image.title": "bridge",
      "org.opencontainers.image.version": "1.2.3",
    });
    expect(JSON.parse(await get(`blobs/${config.digest}`))).toEqual({
      created: "2026-01-02T03:04:05Z",
      architecture: "wasm",
      os: "wasip2",
      layerDigests: [sha256(component)],
      component: {
        exports: [expect.stringMatching(/^wasi:http\/incoming-handler@0\.2/)],
        imports: expect.arrayContaining([expect.stringMatching(/^sdk:core\/handler@/)]),
      },
    });
  });

  testWith("oras", "oras pulls what Tenon has published, and the other way round", async () => {
    const { digest } = await publish(host);
    run("oras", "pull", "--plain-http", "-o", "oras", `${host}/team/bridge:1.0`);
    expect(await readFile(join(folder, "oras/bridge.wasm"))).toEqual(component);
    expect(run("oras", "resolve", "--plain-http", `${host}/team/bridge:1.0`).trim()).toBe(digest);
    await writeFile(join(folder, "config.wasm.json"), JSON.stringify({ architecture: "wasm", os: "wasip2" }));
    const parts = [`--config=config.wasm.json:${mediaTypes.config}`, `bridge.wasm:${mediaTypes.component}`];
    run("oras", "push", "--plain-http", `${host}/team/foreign:1.0`, ...parts);
    const pulled = await pullModule(`oci://${host}/team/foreign:1.0`, { cacheFolder: join(folder, "from-oras") });
    expect(await readFile(pulled.path)).toEqual(component);
    expect(run("oras", "resolve", "--plain-http", `${host}/team/foreign:1.0`).trim()).toBe(pulled.digest);
  });

  testWith("skopeo", "skopeo copies what Tenon has published, and Tenon pulls the copy", async () => {
    const { digest } = await publish(host);
    run("skopeo", "copy", "--src-tls-verify=false", `docker://${host}/team/bridge:1.0`, "dir:skopeo");
    expect(sha256(await readFile(join(folder, "skopeo/manifest.json")))).toBe(digest);
    expect(await readFile(join(folder, "skopeo", sha256(component).slice(7)))).toEqual(component);
    run("skopeo", "copy", "--dest-tls-verify=false", "dir:skopeo", `docker://${host}/copies/bridge:1.0`);
    const pulled = await pullModule(`oci://${host}/copies/bridge:1.0`, { cacheFolder: join(folder, "from-skopeo") });
    expect(pulled.digest).toBe(digest);
  });
});

describeWith("docker-registry", "a registry with slim artifacts", () => {
  let host: string;
  let child: ChildProcess;
  let cacheFolder: string;
  beforeAll(async () => {
    ({ host, child } = await startRegistry(folder, "slim"));
    cacheFolder = await mkdtemp(join(folder, "slim-"));
  });
  afterAll(() => child?.kill());

  const code = randomBytes(2_000_000);
  const large = (data: string) => withModule(component, code, data);
  const send = async (data: string, repository: string, more: PublishOptions = {}) => {
    const target = parseTarget(`${host}/${repository}:1.0`);
    const options = { environment: { DOCKER_CONFIG: folder }, cacheFolder, ...more };
    return publishComponent(large(data), await describeBridge(), target, options);
  };
  const get = async (repository: string, path: string) =>
    await fetch(`http://${host}/v2/${repository}/${path}`, { headers: { accept: mediaTypes.manifest } });

  test("the engine is sent once, and copied into other repositories", async () => {
    const first = await send("one", "team/one");
    expect(first.sent).toBeGreaterThan(4_000_000);
    const second = await send("two", "team/two");
    expect(second.sent).toBeGreaterThan(2_000_000);
    expect(second.sent).toBeLessThan(2_100_000);
    const slim = await send("three", "team/three", { slim: true });
    expect(slim.sent).toBeLessThan(20_000);
    for (const name of ["one", "two", "three"]) {
      const pulled = await pullModule(`oci://${host}/team/${name}:1.0`, { cacheFolder, warn: expect.unreachable });
      expect(sha256(await readFile(pulled.path))).toBe(sha256(large(name)));
    }
  });

  test("the component stands beside it for other tools, and its digest does not depend on it", async () => {
    const { digest } = await send("four", "team/four");
    const { manifest } = buildArtifact(large("four"), await describeBridge());
    expect(digest).toBe(manifest.digest);
    const answer = await get("team/four", `manifests/${digest.replace(":", "-")}.slim`);
    const slim = (await answer.json()) as { readonly layers: readonly [object, { readonly size: number }] };
    expect(slim).toMatchObject({
      artifactType: "application/vnd.tenon.slim.v1",
      subject: { mediaType: mediaTypes.manifest, digest, size: manifest.size },
      layers: [
        { mediaType: "application/vnd.tenon.engine.v1+zstd" },
        { mediaType: "application/vnd.tenon.component.delta.v1+zstd" },
      ],
    });
    expect(slim.layers[1].size).toBeLessThan(18_000);
    expect((await get("team/four", `blobs/${sha256(large("four"))}`)).status).toBe(200);
  });

  test("without the slim artifact the component is pulled", async () => {
    const { digest } = await send("five", "team/five");
    const slim = await get("team/five", `manifests/${digest.replace(":", "-")}.slim`);
    const named = slim.headers.get("docker-content-digest");
    await fetch(`http://${host}/v2/team/five/manifests/${named}`, { method: "DELETE" });
    const pulled = await pullModule(`oci://${host}/team/five:1.0`, { cacheFolder, warn: expect.unreachable });
    expect(sha256(await readFile(pulled.path))).toBe(sha256(large("five")));
  });

  test("a slim artifact is signed like a whole one", async () => {
    await writeFile(join(folder, "slim.pub"), cosignKey.public);
    await writeFile(join(folder, "slim.key"), cosignKey.private);
    const signKey = await readSigningKey(join(folder, "slim.key"), { COSIGN_PASSWORD: cosignKey.password });
    const verifyKey = join(folder, "slim.pub");
    await send("six", "team/six", { slim: true, signKey });
    const pulled = await pullModule(`oci://${host}/team/six:1.0`, { cacheFolder, verifyKey });
    expect(sha256(await readFile(pulled.path))).toBe(sha256(large("six")));
    await send("seven", "team/seven", { slim: true });
    await expect(pullModule(`oci://${host}/team/seven:1.0`, { cacheFolder, verifyKey })).rejects.toThrow(
      "is not signed",
    );
  });

  test("a small component has none, and cannot be slim", async () => {
    const { digest } = await publish(host);
    expect((await get("team/bridge", `manifests/${digest.replace(":", "-")}.slim`)).status).toBe(404);
    const target = parseTarget(`${host}/team/bridge:2.0`);
    const alone = publishComponent(component, await describeBridge(), target, { slim: true });
    await expect(alone).rejects.toMatchObject({ code: "USAGE" });
  });
});

describeWith("docker-registry", "a registry with names and passwords", () => {
  let host: string;
  let child: ChildProcess;
  beforeAll(async () => {
    // The bcrypt hash of "open:sesame" for the registry.
    const users = "me:$2b$04$MT4Ylx3Qg8RCV5GjULDyruSkBzBcm0yYVlJU3KdGekeJ2ydqqOryy\n";
    await writeFile(join(folder, "users"), users);
    ({ host, child } = await startRegistry(
      folder,
      "basic",
      `auth: {htpasswd: {realm: test, path: ${join(folder, "users")}}}`,
    ));
  });
  afterAll(() => child?.kill());

  const environment = async (password: string) => {
    const config = await mkdtemp(join(folder, "docker-"));
    const auth = Buffer.from(`me:${password}`).toString("base64");
    await writeFile(join(config, "config.json"), JSON.stringify({ auths: { [host]: { auth } } }));
    return { DOCKER_CONFIG: config };
  };

  test("takes those of the Docker configuration", async () => {
    const allowed = await environment("open:sesame");
    const { reference } = await publish(host, "1.0", allowed);
    const { path } = await pullModule(reference, { cacheFolder: join(folder, "basic-cache"), environment: allowed });
    expect(await readFile(path)).toEqual(component);
  });

  test("refuses others, and the error says where they came from", async () => {
    const wrong = await environment("hidden");
    await expect(publish(host, "1.0", wrong)).rejects.toThrow(`refuses the credentials from ${wrong.DOCKER_CONFIG}`);
    await expect(publish(host)).rejects.toThrow("requires credentials");
  });
});

describeWith(["docker-registry", "openssl"], "a registry with tokens", () => {
  let host: string;
  let child: ChildProcess;
  let tokens: Server;
  const scopes: string[] = [];

  beforeAll(async () => {
    const subject = ["-subj", "/CN=tokens", "-days", "2", "-nodes"];
    run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-keyout", "key.pem", "-out", "ca.pem", ...subject);
    const key = await readFile(join(folder, "key.pem"));
    const certificate = (await readFile(join(folder, "ca.pem"), "utf8")).replace(/-----.*?-----|\s/g, "");
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    tokens = createServer((request, response) => {
      const { searchParams } = new URL(request.url ?? "", "http://tokens");
      const scope = searchParams.get("scope") ?? "";
      scopes.push(scope);
      const [type, name, actions = ""] = scope.split(":");
      const allowed = request.headers.authorization === `Basic ${Buffer.from("me:sesame").toString("base64")}`;
      const granted = actions.split(",").filter((action) => allowed || action === "pull");
      const now = Math.floor(Date.now() / 1000);
      const head = part({ typ: "JWT", alg: "RS256", x5c: [certificate] });
      const times = { iat: now, nbf: now - 60, exp: now + 300 };
      const claims = { iss: "tokens", aud: "registry", sub: "me", jti: "1", ...times };
      const body = part({ ...claims, access: [{ type, name, actions: granted }] });
      const signature = createSign("RSA-SHA256").update(`${head}.${body}`).sign(key, "base64url");
      response.end(JSON.stringify({ token: `${head}.${body}.${signature}` }));
    });
    await new Promise<void>((resolve) => tokens.listen(0, "127.0.0.1", resolve));
    const realm = `http://127.0.0.1:${(tokens.address() as AddressInfo).port}/token`;
    const auth = `{realm: "${realm}", service: registry, issuer: tokens, rootcertbundle: ${join(folder, "ca.pem")}}`;
    ({ host, child } = await startRegistry(folder, "tokens", `auth: {token: ${auth}}`));
  });
  afterAll(async () => {
    child?.kill();
    tokens?.closeAllConnections();
    tokens?.close();
  });

  test("gets one for this repository and these actions", async () => {
    const config = await mkdtemp(join(folder, "docker-"));
    const auths = { [host]: { auth: Buffer.from("me:sesame").toString("base64") } };
    await writeFile(join(config, "config.json"), JSON.stringify({ auths }));
    const { reference } = await publish(host, "1.0", { DOCKER_CONFIG: config });
    expect(scopes.splice(0)).toEqual(["repository:team/bridge:pull,push"]);
    // Anyone may pull.
    const options = { cacheFolder: join(folder, "token-cache"), environment: { DOCKER_CONFIG: folder } };
    expect(await readFile((await pullModule(reference, options)).path)).toEqual(component);
    expect(scopes).toEqual(["repository:team/bridge:pull"]);
  });

  test("refuses to publish without credentials", async () => {
    await expect(publish(host, "2.0")).rejects.toThrow(/requires credentials/);
  });
});
