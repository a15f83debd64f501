/** Tests of publishing to dishonest registries; `registries.test.ts` beside it has a real one. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { repositoryOf } from "../commands/publish.ts";
import { buildArtifact } from "./artifact.ts";
import { type FakeRegistry, fakeRegistry, guarded } from "./hostile.testing.ts";
import { parseTarget, publishComponent } from "./publish.ts";

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
