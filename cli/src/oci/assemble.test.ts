/** Tests of components that are put together from an engine and a delta, most of them from dishonest registries. */
import { randomBytes } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { native } from "../native.ts";
import { type Descriptor, digestOf, mediaTypes } from "./artifact.ts";
import { artifact, endless, type FakeRegistry, fakeRegistry, type Route, serve } from "./hostile.testing.ts";
import { pullModule } from "./pull.ts";
import { slimTag, slimTypes } from "./slim.ts";

const nothing = Buffer.alloc(0);
/** 1.2 MB of text, of which half is information. */
const code = randomBytes(600_000).toString("hex");
const whole = artifact(`${code} and the state of a shop`);
const other = artifact(`${code} and the state of another`);
const compress = (bytes: string | Buffer, base: string | Buffer = nothing) =>
  native().compressDelta(Buffer.from(bytes), Buffer.from(base));

let engine: Buffer;
let delta: Buffer;
beforeAll(async () => {
  engine = await compress(code);
  delta = await compress(whole.component, code);
});

let registry: FakeRegistry;
let cacheFolder: string;
beforeEach(async () => {
  registry = await fakeRegistry();
  cacheFolder = await mkdtemp(join(tmpdir(), "tenon-slim-"));
});
afterEach(async () => {
  await registry.close();
  await rm(cacheFolder, { recursive: true, force: true });
});

const described = (mediaType: string, bytes: Buffer): Descriptor => ({
  mediaType,
  digest: digestOf(bytes),
  size: bytes.length,
});

/** The manifest of a slim artifact, with other fields. */
function slim(parts = whole, blobs = { engine, delta }, more: object = {}): string {
  const { layer, config, digest, manifest } = parts;
  return JSON.stringify({
    schemaVersion: 2,
    mediaType: mediaTypes.manifest,
    artifactType: slimTypes.artifact,
    config: described(mediaTypes.config, Buffer.from(config)),
    layers: [described(slimTypes.engine, blobs.engine), described(slimTypes.delta, blobs.delta)],
    subject: { mediaType: mediaTypes.manifest, digest, size: manifest.length },
    annotations: { "vnd.tenon.component.digest": layer.digest, "vnd.tenon.component.size": String(layer.size) },
    ...more,
  });
}

const put = (digest: string, route: Route) => registry.routes.set(`/v2/team/shop/blobs/${digest}`, route);

/** Serves a whole artifact with a slim one beside it. */
function serveBeside(parts = whole, blobs = { engine, delta }, manifest: Route = slim(parts, blobs)): void {
  serve(registry, parts);
  registry.routes.set(`/v2/team/shop/manifests/${slimTag(parts.digest)}`, manifest);
  for (const bytes of Object.values(blobs)) put(digestOf(bytes), bytes);
}

/** Serves the same, with another answer for one of the blobs, or none. */
function serveWith(blob: Buffer, route: Route | undefined): void {
  serveBeside();
  if (route === undefined) registry.routes.delete(`/v2/team/shop/blobs/${digestOf(blob)}`);
  else put(digestOf(blob), route);
}

/** Pulls, and returns the bytes, the warnings, and the requested blobs. */
async function pull() {
  registry.seen.length = 0;
  const warnings: string[] = [];
  const { path, digest } = await pullModule(`oci://${registry.host}/team/shop:1.0`, {
    cacheFolder,
    environment: { DOCKER_CONFIG: cacheFolder },
    warn: (message) => warnings.push(message),
  });
  const blobs = registry.seen.filter(({ url }) => url.includes("/blobs/")).map(({ url }) => url.replace(/.*\//, ""));
  return { bytes: await readFile(path, "utf8"), digest, warnings, blobs };
}

const kept = () => readdir(join(cacheFolder, "oci/blobs")).catch((): string[] => []);
const hex = (bytes: Buffer) => digestOf(bytes).slice("sha256:".length);

describe("a slim artifact beside a whole one", () => {
  test("is pulled instead, and the engine once for all components", async () => {
    serveBeside();
    const first = await pull();
    expect(first).toMatchObject({ bytes: whole.component, digest: whole.digest, warnings: [] });
    expect(first.blobs).toEqual([digestOf(Buffer.from(whole.config)), digestOf(engine), digestOf(delta)]);
    const second = await compress(other.component, code);
    serveBeside(other, { engine, delta: second });
    const { bytes, blobs } = await pull();
    expect(bytes).toBe(other.component);
    expect(blobs).toEqual([digestOf(Buffer.from(other.config)), digestOf(second)]);
  });

  test("that is missing costs one request", async () => {
    serve(registry, whole);
    expect(await pull()).toMatchObject({ bytes: whole.component, warnings: [] });
    expect(registry.seen.map(({ url }) => url.replace("/v2/team/shop/", ""))).toEqual([
      "manifests/1.0",
      `blobs/${digestOf(Buffer.from(whole.config))}`,
      `manifests/${slimTag(whole.digest)}`,
      `blobs/${whole.layer.digest}`,
    ]);
  });

  test("is not asked for when the component is small, or in the cache", async () => {
    serveBeside();
    await pull();
    await pull();
    expect(registry.seen.map(({ url }) => url)).toEqual(["/v2/team/shop/manifests/1.0"]);
    serve(registry, artifact("a small component"));
    await pull();
    expect(registry.seen.some(({ url }) => url.includes(".slim"))).toBe(false);
  });

  test("is left alone when it has more bytes than the component", async () => {
    const large = randomBytes(whole.component.length);
    serveBeside(whole, { engine: large, delta });
    expect(await pull()).toMatchObject({
      bytes: whole.component,
      blobs: [expect.any(String), whole.layer.digest],
      warnings: [],
    });
  });

  test("modules that are pulled at once share the engine's request", async () => {
    serveBeside();
    const pulls = ["a", "b", "c"].map(() =>
      pullModule(`oci://${registry.host}/team/shop:1.0`, { cacheFolder, environment: {} }),
    );
    for (const { path } of await Promise.all(pulls)) expect(await readFile(path, "utf8")).toBe(whole.component);
    expect(registry.seen.filter(({ url }) => url.endsWith(digestOf(engine)))).toHaveLength(1);
  });

  test("an engine in the cache that was changed is pulled again", async () => {
    serveBeside();
    await pull();
    await writeFile(join(cacheFolder, "oci/blobs", hex(engine)), await compress(`${code}!`));
    await rm(join(cacheFolder, "oci/components"), { recursive: true });
    const { bytes, blobs } = await pull();
    expect(bytes).toBe(whole.component);
    expect(blobs).toContain(digestOf(engine));
  });
});

/** Each attack replaces something of the slim artifact, and its error contains the text. */
const attacks: [string, () => void | Promise<void>, string][] = [
  [
    "the engine of others",
    async () => serveBeside(whole, { engine: await compress(randomBytes(600_000).toString("hex")), delta }),
    "cannot be expanded: it is damaged",
  ],
  [
    "a delta that is cut off",
    () => serveBeside(whole, { engine, delta: delta.subarray(0, -10) }),
    "cannot be expanded: it is damaged",
  ],
  [
    "a delta to another component",
    async () => serveBeside(whole, { engine, delta: await compress(`${whole.component.slice(0, -4)}SHOP`, code) }),
    "give another component",
  ],
  [
    "a delta to a shorter component",
    async () => serveBeside(whole, { engine, delta: await compress("short", code) }),
    "give another component",
  ],
  [
    "a delta that is a bomb",
    async () => serveBeside(whole, { engine, delta: await compress(Buffer.alloc(128 * 1024 * 1024)) }),
    "expands to 134217728 bytes; the limit is 12000",
  ],
  [
    "an engine that is a bomb",
    async () => serveBeside(whole, { engine: await compress(Buffer.alloc(128 * 1024 * 1024)), delta }),
    "expands to 134217728 bytes; the limit is 67108864",
  ],
  [
    "an engine that is not compressed",
    () => serveBeside(whole, { engine: Buffer.from(code.slice(0, 1000)), delta }),
    "cannot be expanded: it is not a delta",
  ],
  ["no engine", () => serveWith(engine, undefined), "404"],
  ["no delta", () => serveWith(delta, undefined), "404"],
  [
    "other bytes for the engine",
    () => serveWith(engine, Buffer.from(engine).fill(0, 1000, 1010)),
    "sends an engine whose digest",
  ],
  ["other bytes for the delta", () => serveWith(delta, delta.subarray(1)), "sends a delta whose digest"],
  ["an endless delta", () => serveWith(delta, endless), "bytes for a delta"],
  [
    "other layers",
    () => serveBeside(whole, undefined, slim(whole, undefined, { layers: [whole.layer] })),
    "other layers than an engine and a delta",
  ],
  [
    "a third layer",
    () => {
      const { layers } = JSON.parse(slim());
      serveBeside(whole, undefined, slim(whole, undefined, { layers: [...layers, whole.layer] }));
    },
    "other layers than an engine and a delta",
  ],
  [
    "an engine of 1 TB",
    () => {
      const [first, second] = JSON.parse(slim()).layers;
      serveBeside(whole, undefined, slim(whole, undefined, { layers: [{ ...first, size: 2 ** 40 }, second] }));
    },
    "an engine of 1099511627776 bytes; the limit is 16777216",
  ],
  [
    "a component without a digest",
    () => serveBeside(whole, undefined, slim(whole, undefined, { annotations: {} })),
    "descriptors lack",
  ],
  [
    "a component of 1 GB",
    () => {
      const { annotations } = JSON.parse(slim());
      const large = { ...annotations, "vnd.tenon.component.size": "1000000000" };
      serveBeside(whole, undefined, slim(whole, undefined, { annotations: large }));
    },
    "a component of 1000000000 bytes",
  ],
];

/** Attacks on the manifest beside a whole artifact. */
const besideAttacks: typeof attacks = [
  [
    "the subject of another",
    () => serveBeside(whole, undefined, slim(whole, undefined, { subject: JSON.parse(slim(other)).subject })),
    "belongs to another component",
  ],
  [
    "no subject",
    () => serveBeside(whole, undefined, slim(whole, undefined, { subject: undefined })),
    "belongs to another component",
  ],
  [
    "the slim artifact of another",
    async () => serveBeside(whole, undefined, slim(other, { engine, delta: await compress(other.component, code) })),
    "belongs to another component",
  ],
  [
    "the component of another",
    () => serveBeside(whole, undefined, slim(whole, undefined, { annotations: JSON.parse(slim(other)).annotations })),
    "belongs to another component",
  ],
  ["the whole manifest", () => serveBeside(whole, undefined, whole.manifest), "is no slim artifact"],
  ["no JSON", () => serveBeside(whole, undefined, "{"), "is not JSON"],
  ["an endless manifest", () => serveBeside(whole, undefined, endless), "more than 65536 bytes for a manifest"],
  ["an error", () => serveBeside(whole, undefined, (_, response) => response.writeHead(500).end()), "answers 500"],
];

test.each([...attacks, ...besideAttacks])("%s: the whole component is pulled", async (_, attack, message) => {
  await attack();
  const { bytes, warnings, blobs } = await pull();
  expect(bytes).toBe(whole.component);
  expect(blobs).toContain(whole.layer.digest);
  expect(warnings).toEqual([expect.stringContaining(message)]);
  expect(await kept()).not.toContain(hex(engine));
});

describe("a slim artifact alone", () => {
  /** Serves what is beside the whole one in its place. */
  const serveAlone = () => {
    const manifest = registry.routes.get(`/v2/team/shop/manifests/${slimTag(whole.digest)}`) as string;
    registry.routes.set("/v2/team/shop/manifests/1.0", manifest);
    registry.routes.delete(`/v2/team/shop/blobs/${whole.layer.digest}`);
  };

  test("is pulled", async () => {
    serveBeside();
    serveAlone();
    expect(await pull()).toMatchObject({ bytes: whole.component, digest: digestOf(Buffer.from(slim())), warnings: [] });
  });

  test.each(attacks)("with %s it is refused", async (_, attack, message) => {
    await attack();
    serveAlone();
    await expect(pull()).rejects.toMatchObject({ code: "REGISTRY", message: expect.stringContaining(message) });
    expect(await kept()).not.toContain(hex(engine));
  });

  test("a configuration of another component is refused", async () => {
    serveBeside();
    serveAlone();
    const config = described(mediaTypes.config, Buffer.from(other.config));
    put(config.digest, other.config);
    registry.routes.set("/v2/team/shop/manifests/1.0", slim(whole, undefined, { config }));
    await expect(pull()).rejects.toThrow("belongs to another component");
  });
});
