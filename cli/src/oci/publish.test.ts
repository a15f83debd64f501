/** Tests of publishing to dishonest registries; `registries.test.ts` beside it has a real one. */
import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { repositoryOf } from "../commands/publish.ts";
import { native } from "../native.ts";
import { buildArtifact } from "./artifact.ts";
import { type FakeRegistry, fakeRegistry, guarded, withModule } from "./hostile.testing.ts";
import { pack } from "./pack.ts";
import { parseTarget, publishComponent } from "./publish.ts";
import { Store } from "./store.ts";

const component = Buffer.from("a component");
const description = { title: "shop", created: new Date(0), imports: [], exports: [] };
const { layer } = buildArtifact(component, description);

let registry: FakeRegistry;
let folder: string;
beforeEach(async () => {
  registry = await fakeRegistry();
  folder = await mkdtemp(join(tmpdir(), "tenon-publish-"));
});
afterEach(async () => {
  await registry.close();
  await rm(folder, { recursive: true, force: true });
});

const publish = () =>
  publishComponent(component, description, parseTarget(`${registry.host}/team/shop:1.0`), {
    environment: { DOCKER_CONFIG: folder },
  });
const basic = `Basic ${Buffer.from("me:hidden").toString("base64")}`;
const login = () =>
  writeFile(join(folder, "config.json"), JSON.stringify({ auths: { [registry.host]: { auth: basic.slice(6) } } }));

test("an upload at another host gets the bytes and no credentials", async () => {
  const other = await fakeRegistry();
  await login();
  registry.routes.set(`HEAD /v2/team/shop/blobs/${layer.digest}`, guarded("Basic realm=x", basic, ""));
  registry.routes.set("POST /v2/team/shop/blobs/uploads/", (_, response) =>
    response.writeHead(202, { location: `http://localhost:${other.port}/upload?state=a%2Fb` }).end(),
  );
  other.routes.set("PUT /upload", (_, response) => response.writeHead(201).end());
  registry.routes.set("PUT /v2/team/shop/manifests/1.0", (_, response) => response.writeHead(201).end());
  // The layer exists for those with credentials; the configuration is uploaded.
  const { digest } = await publish();
  expect(digest).toMatch(/^sha256:/);
  expect(registry.seen.find(({ method }) => method === "POST")?.authorization).toBe(basic);
  expect(other.seen).toMatchObject([{ method: "PUT", authorization: undefined }]);
  expect(other.seen[0]?.url).toMatch(/^\/upload\?state=a%2Fb&digest=sha256%3A/);
  await other.close();
});

test.each([
  ["http://registry.example/upload", /leads to http:\/\/registry\.example/],
  ["http://", /names an invalid address/],
])("an upload at %s is refused", async (location, message) => {
  registry.routes.set("POST /v2/team/shop/blobs/uploads/", (_, response) =>
    response.writeHead(202, { location }).end(),
  );
  await expect(publish()).rejects.toThrow(message);
});

describe("an engine that another repository has", () => {
  const engine = withModule(native().bridge(), randomBytes(2_000_000), "data");
  const scopes = ["repository:team/shop:pull,push", "repository:team/site:pull"];
  let asked: string[][];
  /** Publishes it after another repository of the registry got it, as this machine remembers. */
  const publishEngine = async () => {
    const cacheFolder = await mkdtemp(join(folder, "cache-"));
    const packed = await pack(engine);
    await new Store(cacheFolder).writeRepository(packed?.engine.digest ?? "", registry.host, "team/site");
    const target = parseTarget(`${registry.host}/team/shop:1.0`);
    return publishComponent(engine, description, target, {
      environment: { DOCKER_CONFIG: folder },
      cacheFolder,
      slim: true,
    });
  };
  const mounts = () => registry.seen.filter(({ url }) => url.includes("mount="));
  beforeEach(async () => {
    await login();
    asked = [];
    registry.routes.set("/token", (request, response) => {
      const scope = new URL(request.url ?? "", "http://x").searchParams.getAll("scope");
      asked.push(scope);
      response.end(JSON.stringify({ token: `for-${scope.length}` }));
    });
    registry.routes.set("PUT /v2/team/shop/manifests/1.0", (_, response) => response.writeHead(201).end());
    registry.routes.set("PUT /upload", (_, response) => response.writeHead(201).end());
  });
  /** Answers requests for uploads. Without a token it asks for one with rights to everything. */
  const uploads = (answer: (isMount: boolean, response: ServerResponse) => void) =>
    registry.routes.set("POST /v2/team/shop/blobs/uploads/", (request, response) => {
      const realm = `realm="http://${registry.host}/token",service="x",scope="repository:*:*"`;
      const isMount = request.url?.includes("mount=") === true;
      const accepted = isMount ? ["Bearer for-2"] : ["Bearer for-1", "Bearer for-2"];
      if (accepted.includes(request.headers.authorization ?? "")) answer(isMount, response);
      else response.writeHead(401, { "www-authenticate": `Bearer ${realm}` }).end();
    });
  const started = (response: ServerResponse, host = registry.host) =>
    response.writeHead(202, { location: `http://${host}/upload` }).end();

  test("is copied from there, with rights to both repositories and no others", async () => {
    uploads((isMount, response) => (isMount ? response.writeHead(201).end() : started(response)));
    const { sent } = await publishEngine();
    expect(sent).toBeLessThan(20_000);
    expect(mounts().at(-1)?.url).toMatch(/mount=sha256%3A[0-9a-f]{64}&from=team%2Fsite$/);
    expect(asked).toEqual([scopes.slice(0, 1), scopes]);
  });

  test("is sent without credentials when the registry begins an upload elsewhere", async () => {
    const other = await fakeRegistry();
    other.routes.set("PUT /upload", (_, response) => response.writeHead(201).end());
    uploads((isMount, response) => started(response, isMount ? `localhost:${other.port}` : registry.host));
    expect((await publishEngine()).sent).toBeGreaterThan(2_000_000);
    expect(other.seen).toMatchObject([{ method: "PUT", authorization: undefined }]);
    await other.close();
  });

  test.each([201, 301, 403, 404, 500])("is sent, or copied, when the registry answers %i", async (status) => {
    const location = "http://localhost:1/elsewhere";
    uploads((isMount, response) => (isMount ? response.writeHead(status, { location }).end() : started(response)));
    const { sent } = await publishEngine();
    expect(sent > 2_000_000).toBe(status !== 201);
  });

  test("is sent when no token for both is given", async () => {
    registry.routes.set("/token", (request, response) => {
      const isForBoth = request.url?.includes("site") === true;
      response.writeHead(isForBoth ? 403 : 200).end('{"token":"for-1"}');
    });
    uploads((_, response) => started(response));
    expect((await publishEngine()).sent).toBeGreaterThan(2_000_000);
  });
});

test("a registry that stores another manifest is an error", async () => {
  for (const method of ["HEAD /v2/team/shop/blobs/"]) {
    for (const { digest } of Object.values(buildArtifact(component, description)))
      registry.routes.set(method + digest, "");
  }
  registry.routes.set("PUT /v2/team/shop/manifests/1.0", (_, response) =>
    response.writeHead(201, { "docker-content-digest": `sha256:${"0".repeat(64)}` }).end(),
  );
  await expect(publish()).rejects.toThrow("has stored another manifest");
});

test("a registry that allows no upload is an error", async () => {
  registry.routes.set("POST /v2/team/shop/blobs/uploads/", (_, response) =>
    response.writeHead(403).end('{"errors":[{"code":"DENIED"}]}'),
  );
  await expect(publish()).rejects.toMatchObject({
    message: expect.stringContaining("403 (DENIED)"),
    hint: expect.stringContaining("docker login"),
  });
});

test("a digest is no place to publish at", () => {
  expect(() => parseTarget(`a.b/shop@sha256:${"0".repeat(64)}`)).toThrow(expect.objectContaining({ code: "USAGE" }));
});

test.each([
  ['"github:team/shop"', "https://github.com/team/shop"],
  ['"team/shop"', "https://github.com/team/shop"],
  ['{"url":"git+https://me:hidden@git.example/shop.git"}', "https://git.example/shop.git"],
  ['"git+ssh://git@git.example/shop.git"', "ssh://git.example/shop.git"],
  ['"file:///srv/shop"', undefined],
  ['{"url":7}', undefined],
  ["null", undefined],
])("the source of the repository %s is %s", async (repository, source) => {
  await writeFile(join(folder, "package.json"), `{"repository":${repository}}`);
  expect(repositoryOf(join(folder, "package.json"))).toBe(source);
});
