/** Tests of pulling from dishonest registries. */
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { digestOf, mediaTypes } from "./artifact.ts";
import {
  artifact,
  endless,
  type FakeRegistry,
  fakeRegistry,
  guarded,
  type Route,
  redirect,
  serve,
} from "./hostile.testing.ts";
import { pullModule } from "./pull.ts";

const good = artifact("a component");
let registry: FakeRegistry;
let cacheFolder: string;
let environment: NodeJS.ProcessEnv;

beforeEach(async () => {
  registry = await fakeRegistry();
  cacheFolder = await mkdtemp(join(tmpdir(), "tenon-oci-"));
  environment = { DOCKER_CONFIG: cacheFolder, PATH: process.env["PATH"] };
});
afterEach(async () => {
  await registry.close();
  await rm(cacheFolder, { recursive: true, force: true });
});

const tag = () => `oci://${registry.host}/team/shop:1.0`;
const pinned = (parts = good) => `oci://${registry.host}/team/shop@${parts.digest}`;
const pull = (reference = tag(), more = {}) => pullModule(reference, { cacheFolder, environment, ...more });
const refused = async (reference?: string) => {
  const error = await pull(reference).then(
    () => undefined,
    (reason: Error & { code: string; hint?: string }) => reason,
  );
  expect(error?.code).toBe("REGISTRY");
  return `${error?.message} ${error?.hint ?? ""}`;
};
const login = (auths: object) => writeFile(join(cacheFolder, "config.json"), JSON.stringify({ auths }));
const auth = (text: string) => ({ auth: Buffer.from(text).toString("base64") });
const basic = (text: string) => `Basic ${Buffer.from(text).toString("base64")}`;
/** Lists the component files in the cache. */
const components = async () =>
  (await readdir(join(cacheFolder, "oci"), { recursive: true }).catch(() => [])).filter((file) =>
    /wasm|partial/.test(file),
  );

describe("what is sound", () => {
  test("a tag is resolved, and the component is called after the repository", async () => {
    serve(registry, good);
    const { path, digest } = await pull();
    expect(digest).toBe(good.digest);
    expect(path).toMatch(/\/shop\.wasm$/);
    expect(await readFile(path, "utf8")).toBe(good.component);
  });

  test("a digest in the cache needs no registry", async () => {
    serve(registry, good);
    const { path } = await pull(pinned());
    await registry.close();
    expect((await pull(pinned())).path).toBe(path);
    expect(await refused(tag())).toContain("nothing listens there");
  });

  test("a file of the cache that was changed is pulled again", async () => {
    serve(registry, good);
    const { path } = await pull(pinned());
    await writeFile(path, "b component");
    await pull(pinned());
    expect(await readFile(path, "utf8")).toBe(good.component);
    const blobs = join(cacheFolder, "oci/blobs");
    for (const file of await readdir(blobs)) await writeFile(join(blobs, file), "{}");
    expect((await pull(pinned())).digest).toBe(good.digest);
  });

  test("a cache that others may write to is refused", async () => {
    serve(registry, good);
    await mkdir(join(cacheFolder, "oci"));
    await chmod(join(cacheFolder, "oci"), 0o777);
    await expect(pull()).rejects.toMatchObject({ code: "WRITE", message: expect.stringContaining("other users") });
    // Only root can change a folder's owner.
    if (process.getuid?.() !== 0) return;
    await chmod(join(cacheFolder, "oci"), 0o755);
    await chown(join(cacheFolder, "oci"), 12_345, 12_345);
    await expect(pull()).rejects.toMatchObject({ code: "WRITE", message: expect.stringContaining("another user") });
  });
});

describe("a proxy", () => {
  test("leads to registries, and not to this machine", async () => {
    serve(registry, good);
    const asked: string[] = [];
    const proxy = createServer().on("connect", (request, client) => {
      asked.push(request.url ?? "");
      const upstream = connect(registry.port, "127.0.0.1", () => client.write("HTTP/1.1 200 OK\r\n\r\n"));
      for (const [from, to] of [
        [upstream, client],
        [client, upstream],
      ] as const)
        from.on("error", () => to.destroy()).pipe(to);
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    environment["HTTP_PROXY"] = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    expect((await pull()).digest).toBe(good.digest);
    expect(asked).toEqual([]);
    const far = "oci://registry.example/team/shop:1.0";
    expect((await pull(far, { plainHttp: true })).digest).toBe(good.digest);
    expect(new Set(asked)).toEqual(new Set(["registry.example:80"]));
    environment["NO_PROXY"] = "registry.example";
    await expect(pull(far, { plainHttp: true })).rejects.toThrow("cannot reach registry.example");
    environment["HTTP_PROXY"] = "no proxy";
    await expect(pull(far, { plainHttp: true })).rejects.toThrow("is not the address of a proxy");
    proxy.close();
  });

  test("nothing but TLS is spoken without the option", async () => {
    const [, port] = registry.host.split(":");
    environment["HTTPS_PROXY"] = "http://127.0.0.1:1";
    await expect(pull(`oci://registry.example:${port}/team/shop:1.0`)).rejects.toThrow("cannot reach registry.example");
    expect(registry.seen).toEqual([]);
  });
});

describe("bytes that are not the ones that were named", () => {
  test("a manifest", async () => {
    serve(registry, good);
    registry.routes.set(`/v2/team/shop/manifests/${good.digest}`, artifact("another").manifest);
    expect(await refused(pinned())).toContain("a manifest whose digest");
    registry.routes.set("/v2/team/shop/manifests/1.0", (_, response) =>
      response.writeHead(200, { "docker-content-digest": good.digest }).end(artifact("another").manifest),
    );
    expect(await refused()).toContain("a manifest whose digest");
  });

  test.each(["another one", "a", ""])("a component %j", async (component) => {
    serve(registry, good);
    registry.routes.set(`/v2/team/shop/blobs/${good.layer.digest}`, component);
    expect(await refused()).toContain("a component whose digest or size");
    expect(await components()).toEqual([]);
  });

  test("a configuration, and one that belongs to another component", async () => {
    serve(registry, good);
    const path = `/v2/team/shop/blobs/${digestOf(Buffer.from(good.config))}`;
    registry.routes.set(path, "x".repeat(good.config.length));
    expect(await refused()).toContain("a configuration whose digest");
    const config = JSON.stringify({ layerDigests: [`sha256:${"0".repeat(64)}`] });
    const other = artifact("a component", {
      config: { mediaType: mediaTypes.config, digest: digestOf(Buffer.from(config)), size: config.length },
    });
    serve(registry, other);
    registry.routes.set(`/v2/team/shop/blobs/${digestOf(Buffer.from(config))}`, config);
    expect(await refused()).toContain("belongs to another component");
  });
});

describe("too much", () => {
  test("an endless manifest ends at the limit", async () => {
    registry.routes.set("/v2/team/shop/manifests/1.0", endless);
    expect(await refused()).toContain("more than 4194304 bytes for a manifest");
  });

  test("an endless component ends at the size that was named", async () => {
    serve(registry, good);
    registry.routes.set(`/v2/team/shop/blobs/${good.layer.digest}`, endless);
    expect(await refused()).toContain(`more than ${good.component.length} bytes for the component`);
    expect(await components()).toEqual([]);
  });

  test("a length that is announced is believed before the body is read", async () => {
    registry.routes.set("/v2/team/shop/manifests/1.0", (_, response) => {
      response.writeHead(200, { "content-length": "99999999999" }).flushHeaders();
    });
    expect(await refused()).toContain("more than 4194304 bytes");
  });

  test("a body that breaks off", async () => {
    registry.routes.set("/v2/team/shop/manifests/1.0", (_, response) => {
      response.writeHead(200, { "content-length": "100" });
      response.write("{", () => response.destroy());
    });
    expect(await refused()).toContain("broke off");
  });

  test("an endless error", async () => {
    registry.routes.set("/v2/team/shop/manifests/1.0", (request, response) => {
      response.writeHead(500);
      (endless as (...args: unknown[]) => void)(request, response);
    });
    expect(await refused()).toContain("answers 500");
  });
});

const layer = good.layer;
const unfit: [string, string | object, string][] = [
  ["no JSON", "{", "not JSON"],
  ["no UTF-8", Buffer.from([0x22, 0xff, 0x22]).toString("latin1"), "JSON"],
  ["no object", "[]", "not a JSON object"],
  ["an index", { mediaType: "application/vnd.oci.image.index.v1+json", manifests: [] }, "index of several images"],
  ["an index without a type", { mediaType: undefined, layers: undefined, manifests: [] }, "index of several images"],
  ["a Docker image", { mediaType: "application/vnd.docker.distribution.manifest.v2+json" }, "no OCI manifest"],
  ["another version", { schemaVersion: 1 }, "no OCI manifest"],
  ["no layers", { layers: [] }, "0 layers"],
  ["layers that are no list", { layers: {} }, "without layers"],
  ["several layers", { layers: [layer, layer] }, "2 layers"],
  [
    "the older layout",
    { layers: [{ ...layer, mediaType: "application/vnd.wasm.content.layer.v1+wasm" }] },
    "older type application/vnd.wasm.content.layer.v1+wasm",
  ],
  ["another layer", { layers: [{ ...layer, mediaType: "text/\u001b[31mplain" }] }, "text/??31mplain"],
  [
    "another configuration",
    { config: { ...layer, mediaType: "application/vnd.oci.image.config.v1+json" } },
    "configuration of",
  ],
  ["a layer that is none", { layers: [null] }, "descriptors lack"],
  ["a negative size", { layers: [{ ...layer, size: -1 }] }, "descriptors lack"],
  ["a size that is no number", { layers: [{ ...layer, size: "1" }] }, "descriptors lack"],
  ["a huge size", { layers: [{ ...layer, size: 2 ** 40 }] }, "the limit is 268435456"],
  ["another hash", { layers: [{ ...layer, digest: `sha512:${"a".repeat(128)}` }] }, "not sha256"],
  ["a digest that is a path", { layers: [{ ...layer, digest: `sha256:../../../${"a".repeat(56)}` }] }, "not sha256"],
];

test.each(unfit)("a manifest with %s is refused", async (_, manifest, message) => {
  const bytes = typeof manifest === "string" ? manifest : artifact("a component", manifest).manifest;
  registry.routes.set("/v2/team/shop/manifests/1.0", bytes);
  expect(await refused()).toContain(message);
});

describe("redirects", () => {
  let other: FakeRegistry;
  beforeEach(async () => {
    other = await fakeRegistry();
  });
  afterEach(() => other.close());

  test("to another host carry no credentials", async () => {
    await login({ [registry.host]: auth("me:hidden") });
    serve(registry, good);
    const path = `/v2/team/shop/blobs/${good.layer.digest}`;
    registry.routes.set("/v2/team/shop/manifests/1.0", guarded("Basic realm=x", basic("me:hidden"), good.manifest));
    registry.routes.set(path, redirect(`http://localhost:${other.port}/store`));
    other.routes.set("/store", good.component);
    await pull();
    expect(registry.seen.some(({ authorization }) => authorization === basic("me:hidden"))).toBe(true);
    expect(other.seen).toMatchObject([{ url: "/store", authorization: undefined }]);
  });

  test("a challenge of another host is not answered", async () => {
    await login({ [registry.host]: auth("me:hidden") });
    registry.routes.set("/v2/team/shop/manifests/1.0", redirect(`http://${other.host}/x`));
    other.routes.set("/x", guarded("Basic realm=x", "never", ""));
    expect(await refused()).toContain("answers 401");
    expect(other.seen).toMatchObject([{ authorization: undefined }]);
  });

  test("in a circle end", async () => {
    registry.routes.set(
      "/v2/team/shop/manifests/1.0",
      redirect(tag().replace("oci:", "http:").replace("/team", "/v2/team").replace(":1.0", "/manifests/1.0")),
    );
    expect(await refused()).toContain("redirects more than 5 times");
  });

  test.each(["http://registry.example/x", "file:///etc/passwd", "ftp://127.0.0.1/", "http://"])(
    "to %s are refused",
    async (to) => {
      registry.routes.set("/v2/team/shop/manifests/1.0", redirect(to));
      expect(await refused()).toMatch(/leads to|names an invalid address/);
    },
  );
});

describe("a remote registry", () => {
  /** A proxy, behind which `registry.example` is the registry of the test. */
  async function proxied() {
    const proxy = createServer().on("connect", (_, client) => {
      const upstream = connect(registry.port, "127.0.0.1", () => client.write("HTTP/1.1 200 OK\r\n\r\n"));
      upstream.on("error", () => client.destroy()).pipe(client);
      client.on("error", () => upstream.destroy()).pipe(upstream);
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    environment["HTTP_PROXY"] = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    return proxy;
  }

  test.each([
    ...["127.0.0.1", "localhost", "a.localhost", "[::1]", "[::]", "0.0.0.0", "[::ffff:127.0.0.1]", "2130706433"],
    ...["0x7f.1", "127.1", "localhost.", "169.254.169.254", "[fe80::1]", "[64:ff9b::127.0.0.1]", "[::127.0.0.1]"],
  ])("does not lead to %s, with and without TLS", async (host) => {
    const proxy = await proxied();
    for (const scheme of ["http", "https"]) {
      registry.routes.set("/v2/team/shop/manifests/1.0", redirect(`${scheme}://${host}:1/x`));
      await expect(pull("oci://registry.example/team/shop:1.0", { plainHttp: true })).rejects.toThrow(
        /leads to .*, which is this machine/,
      );
    }
    proxy.close();
  });
});

describe("credentials", () => {
  const challenge = (realm: string, more = "") =>
    `Bearer realm="${realm}",service="the \\"service\\"",scope="repository:all:*"${more}`;
  const realm = () => `http://${registry.host}/token`;

  test("are sent only when they are asked for", async () => {
    await login({ [registry.host]: auth("me:hidden") });
    serve(registry, good);
    await pull();
    expect(registry.seen.filter(({ authorization }) => authorization !== undefined)).toEqual([]);
  });

  test("get a token of our own scope", async () => {
    await login({ [`https://${registry.host}/v1/`]: auth("me:hid:den") });
    serve(registry, good);
    registry.routes.set("/v2/team/shop/manifests/1.0", guarded(challenge(realm()), "Bearer abc", good.manifest));
    registry.routes.set("/token", JSON.stringify({ access_token: "abc" }));
    await pull();
    const asked = registry.seen.find(({ url }) => url.startsWith("/token"));
    expect(asked?.authorization).toBe(basic("me:hid:den"));
    const { searchParams } = new URL(asked?.url ?? "", "http://x");
    expect(Object.fromEntries(searchParams)).toEqual({ service: 'the "service"', scope: "repository:team/shop:pull" });
  });

  test("are exchanged when they are an identity token", async () => {
    await login({ [registry.host]: { identitytoken: "hidden" } });
    serve(registry, good);
    registry.routes.set("/v2/team/shop/manifests/1.0", guarded(challenge(realm()), "Bearer abc", good.manifest));
    registry.routes.set("POST /token", JSON.stringify({ token: "abc" }));
    await pull();
    const form = new URLSearchParams(registry.seen.find(({ method }) => method === "POST")?.body);
    expect(Object.fromEntries(form)).toMatchObject({ grant_type: "refresh_token", refresh_token: "hidden" });
  });

  test("that are refused are named by their place only", async () => {
    registry.routes.set("/v2/team/shop/manifests/1.0", guarded("Basic realm=x", "never", ""));
    expect(await refused()).toContain("has none for it run `docker login");
    await login({ [registry.host]: auth("me:hidden") });
    const message = await refused();
    expect(message).toContain(`refuses the credentials from ${join(cacheFolder, "config.json")}`);
    expect(message).not.toContain("hidden");
  });

  test.each<[string, string | ((url: string) => string), Route, RegExp]>([
    [
      "by HTTP elsewhere",
      () => challenge("http://tokens.example/"),
      "",
      /leads to http:\/\/tokens\.example, which is not HTTPS/,
    ],
    ["at no address", () => challenge("http://"), "", /invalid address/],
    ["with a line break", challenge, JSON.stringify({ token: "a\nb" }), /did not return one/],
    ["without JSON", challenge, "token", /did not return one/],
    ["null", challenge, "null", /did not return one/],
    ["without an end", challenge, endless, /more than 65536 bytes for a token/],
    ["elsewhere", challenge, redirect("http://localhost:1/"), /answers 307/],
  ])("a token %s is refused", async (_, make, route, message) => {
    await login({ [registry.host]: auth("me:hidden") });
    const text = typeof make === "string" ? make : make(realm());
    registry.routes.set("/v2/team/shop/manifests/1.0", guarded(text, "never", ""));
    registry.routes.set("/token", route);
    const said = await refused();
    expect(said).toMatch(message);
    expect(said).not.toContain("hidden");
  });

  test("of an unknown kind", async () => {
    registry.routes.set("/v2/team/shop/manifests/1.0", guarded("Negotiate", "never", ""));
    expect(await refused()).toContain("of an unsupported kind");
  });
});

test("a registry's own words are not repeated, but its code", async () => {
  const message = await refused();
  expect(message).toContain("answers 404 (UNKNOWN)");
  expect(message).not.toContain("secret words");
});
