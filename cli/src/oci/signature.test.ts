/** Tests of signatures in a real registry, with skopeo as the other tool, and with attackers who can write to the registry. */
import { execFileSync } from "node:child_process";
import { createHash, generateKeyPairSync, type KeyObject } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeWith, testWith } from "../../../testing/needs.ts";
import { findProgram } from "../../../testing/programs.ts";
import { Runtime } from "../index.ts";
import { cosignKey } from "./cosign-key.testing.ts";
import { readSigningKey, signed } from "./keys.ts";
import { parseTarget, publishComponent } from "./publish.ts";
import { pullModule } from "./pull.ts";
import { startRegistry } from "./registry.testing.ts";

const description = { title: "shop", created: new Date(0), imports: [], exports: [] };

describeWith("docker-registry", "signatures in a registry", () => {
  let folder: string;
  let registry: Awaited<ReturnType<typeof startRegistry>>;
  /** Files of public keys. */
  let ours: string;
  let theirs: string;
  let signKey: KeyObject;
  let theirKey: KeyObject;
  let number = 0;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "tenon-signature-"));
    registry = await startRegistry(folder, "store");
    ours = join(folder, "cosign.pub");
    theirs = join(folder, "theirs.pub");
    await writeFile(ours, cosignKey.public);
    await writeFile(join(folder, "cosign.key"), cosignKey.private);
    signKey = await readSigningKey(join(folder, "cosign.key"), { COSIGN_PASSWORD: cosignKey.password });
    const other = generateKeyPairSync("ed25519");
    await writeFile(theirs, other.publicKey.export({ type: "spki", format: "pem" }));
    theirKey = other.privateKey;
  });
  afterAll(async () => {
    registry.child.kill();
    await rm(folder, { recursive: true, force: true });
  });

  const environment = () => ({ DOCKER_CONFIG: folder });
  const publish = (text: string, tag: string, key?: KeyObject) =>
    publishComponent(Buffer.from(text), description, parseTarget(`${registry.host}/team/shop:${tag}`), {
      environment: environment(),
      signKey: key,
    });
  /** Pulls into a cache of its own, unless one is given. */
  const pull = (tag: string, verifyKey: string, cacheFolder = join(folder, `cache-${number++}`)) =>
    pullModule(`oci://${registry.host}/team/shop:${tag}`, { environment: environment(), cacheFolder, verifyKey });
  const address = (path: string) => `http://${registry.host}/v2/team/shop/${path}`;
  const signatureTag = (digest: string) => `${digest.replace(":", "-")}.sig`;
  async function put(tag: string, manifest: object | string) {
    const body = typeof manifest === "string" ? manifest : JSON.stringify(manifest);
    const headers = { "content-type": "application/vnd.oci.image.manifest.v1+json" };
    const answer = await fetch(address(`manifests/${tag}`), { method: "PUT", headers, body });
    expect(answer.status).toBe(201);
  }
  async function get(tag: string) {
    const headers = { accept: "application/vnd.oci.image.manifest.v1+json" };
    return (await fetch(address(`manifests/${tag}`), { headers })).text();
  }
  async function putBlob(bytes: string | Buffer) {
    const digest = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
    const started = await fetch(address("blobs/uploads/"), { method: "POST" });
    const upload = new URL(started.headers.get("location") as string, address(""));
    upload.searchParams.append("digest", digest);
    const answer = await fetch(upload, {
      method: "PUT",
      headers: { "content-type": "application/octet-stream" },
      body: new Uint8Array(Buffer.from(bytes)),
    });
    expect(answer.status).toBe(201);
    return { digest, size: Buffer.byteLength(bytes) };
  }

  /** Copies manifests with their blobs from one repository to another, as `skopeo copy` does. */
  async function copyAll(from: string, to: string, tags: readonly string[]) {
    const at = (repository: string, path: string) => `http://${registry.host}/v2/${repository}/${path}`;
    const headers = { accept: "application/vnd.oci.image.manifest.v1+json" };
    for (const tag of tags) {
      const manifest = await (await fetch(at(from, `manifests/${tag}`), { headers })).text();
      const { config, layers } = JSON.parse(manifest);
      for (const { digest } of [config, ...layers]) {
        const mount = await fetch(at(to, `blobs/uploads/?mount=${digest}&from=${from}`), { method: "POST" });
        expect(mount.status).toBe(201);
      }
      const type = { "content-type": headers.accept };
      const put = await fetch(at(to, `manifests/${tag}`), { method: "PUT", headers: type, body: manifest });
      expect(put.status).toBe(201);
    }
  }

  test("what is signed is pulled, and afterwards without the registry", async () => {
    const { digest } = await publish("one", "one", signKey);
    const cache = join(folder, "kept");
    const pulled = await pull("one", ours, cache);
    expect(await readFile(pulled.path, "utf8")).toBe("one");
    const away = { environment: environment(), cacheFolder: cache, verifyKey: ours };
    const gone = await fetch(address(`manifests/${signatureTag(digest)}`), { method: "HEAD" });
    await fetch(address(`manifests/${gone.headers.get("docker-content-digest")}`), { method: "DELETE" });
    expect((await pullModule(`oci://${registry.host}/team/shop@${digest}`, away)).digest).toBe(digest);
    // Another key does not take the kept signature.
    await expect(
      pullModule(`oci://${registry.host}/team/shop@${digest}`, { ...away, verifyKey: theirs }),
    ).rejects.toThrow("is by the key");
  });

  test("what is not signed, or by another key alone, is refused, and its component is not pulled", async () => {
    const { digest } = await publish("two", "two");
    await expect(pull("two", ours)).rejects.toMatchObject({
      code: "REGISTRY",
      message: `oci://${registry.host}/team/shop@${digest} is not signed, and verify_key requires it`,
    });
    await publish("two", "two", theirKey);
    const cache = join(folder, "nothing");
    await expect(pull("two", ours, cache)).rejects.toThrow(
      /none of the 1 signatures of .* is by the key .*cosign\.pub/,
    );
    await expect(readFile(join(cache, "oci/components"))).rejects.toThrow("ENOENT");
    expect((await pull("two", theirs)).digest).toBe(digest);
  });

  test("signatures of several keys stand side by side, and one that is there is not added again", async () => {
    const { digest } = await publish("three", "three", theirKey);
    await publish("three", "three", signKey);
    for (const key of [ours, theirs]) expect((await pull("three", key)).digest).toBe(digest);
    const before = await get(signatureTag(digest));
    await publish("three", "three", signKey);
    expect(await get(signatureTag(digest))).toBe(before);
    expect(JSON.parse(before).layers).toHaveLength(2);
  });

  test("attackers who write to the registry do not get another component served", async () => {
    const good = await publish("good", "good", signKey);
    const bad = await publish("bad", "bad");
    const signature = JSON.parse(await get(signatureTag(good.digest)));
    const [layer] = signature.layers;
    const payload = await (await fetch(address(`blobs/${layer.digest}`))).text();
    const forged = payload.replace(good.digest, bad.digest);
    expect(forged).not.toBe(payload);
    const forgedBlob = await putBlob(forged);
    const attacks: Record<string, object> = {
      "the signature of another component": signature,
      "a text that names the bad one, with the old signature": {
        ...signature,
        layers: [{ ...layer, ...forgedBlob }],
      },
      "the digest of the signed text, and other bytes": { ...signature, layers: [{ ...layer, size: layer.size - 1 }] },
      "no signature": { ...signature, layers: [{ ...layer, annotations: {} }] },
      "a signature that is not text": {
        ...signature,
        layers: [{ ...layer, annotations: { "dev.cosignproject.cosign/signature": "%" } }],
      },
      "no layers": { ...signature, layers: [] },
    };
    for (const [name, manifest] of Object.entries(attacks)) {
      await put(signatureTag(bad.digest), manifest);
      await expect(pull("bad", ours), name).rejects.toMatchObject({ code: "REGISTRY" });
    }
    // The tag of the good one leads to the bad one.
    await put("good", await get("bad"));
    await expect(pull("good", ours)).rejects.toMatchObject({ code: "REGISTRY" });
    // The check can fail: without a key the bad one is served.
    const cacheFolder = join(folder, "unchecked");
    const open = await pullModule(`oci://${registry.host}/team/shop:good`, { environment: environment(), cacheFolder });
    expect(await readFile(open.path, "utf8")).toBe("bad");
    // A signature that somebody wrote into the cache is verified as well.
    const fake = {
      payload: Buffer.from(forged).toString("base64"),
      signature: layer.annotations["dev.cosignproject.cosign/signature"],
    };
    await mkdir(join(cacheFolder, "oci/signatures"), { recursive: true, mode: 0o700 });
    await writeFile(join(cacheFolder, `oci/signatures/${bad.digest.slice(7)}.json`), JSON.stringify(fake));
    await expect(pull("good", ours, cacheFolder)).rejects.toMatchObject({ code: "REGISTRY" });
  });

  test("a signature is for its repository and its tag", async () => {
    const old = await publish("old", "1.0", signKey);
    const current = await publish("current", "2.0", signKey);
    // Whoever writes to the registry moves a tag to a former version, which is signed as well.
    await put("2.0", await get(old.digest));
    await expect(pull("2.0", ours)).rejects.toThrow(
      /shop@.* is signed by the key .*cosign\.pub, but not as .*\/team\/shop:2\.0/,
    );
    // The cache has the signature of 1.0 then, which is not one of 2.0.
    const cache = join(folder, "moved");
    expect((await pull("1.0", ours, cache)).digest).toBe(old.digest);
    await expect(pull("2.0", ours, cache)).rejects.toThrow("but not as");
    // A digest names the version itself.
    const byDigest = (path: string, digest: string) =>
      pullModule(`oci://${registry.host}/${path}@${digest}`, {
        environment: environment(),
        cacheFolder: join(folder, `digest-${number++}`),
        verifyKey: ours,
      });
    for (const { digest } of [old, current]) expect((await byDigest("team/shop", digest)).digest).toBe(digest);
    // The same version under another tag has a signature for each.
    await publish("current", "latest", signKey);
    for (const tag of ["latest"]) expect((await pull(tag, ours)).digest).toBe(current.digest);
    expect(JSON.parse(await get(signatureTag(current.digest))).layers).toHaveLength(2);
    // Copied to another repository with its signatures.
    await copyAll("team/shop", "team/bank", ["1.0", old.digest, signatureTag(old.digest)]);
    for (const name of ["team/bank:1.0", `team/bank@${old.digest}`]) {
      const copied = pullModule(`oci://${registry.host}/${name}`, {
        environment: environment(),
        cacheFolder: join(folder, `copy-${number++}`),
        verifyKey: ours,
      });
      await expect(copied, name).rejects.toThrow(/but not as .*\/team\/bank/);
    }
  });

  test("cosign's signatures name the tag in an annotation", async () => {
    const { digest } = await publish("seventh", "annotated");
    const sign = async (reference: string, optional: object | null) => {
      const text = JSON.stringify({
        critical: {
          identity: { "docker-reference": reference },
          image: { "docker-manifest-digest": digest },
          type: "cosign container image signature",
        },
        optional,
      });
      const [config, layer] = [await putBlob("{}"), await putBlob(text)];
      const signature = signed(Buffer.from(text), signKey).toString("base64");
      await put(signatureTag(digest), {
        schemaVersion: 2,
        mediaType: "application/vnd.oci.image.manifest.v1+json",
        config: { mediaType: "application/vnd.oci.image.config.v1+json", ...config },
        layers: [
          {
            mediaType: "application/vnd.dev.cosign.simplesigning.v1+json",
            ...layer,
            annotations: { "dev.cosignproject.cosign/signature": signature },
          },
        ],
      });
    };
    const here = `${registry.host}/team/shop`;
    for (const [reference, optional] of [
      [here, null],
      [here, {}],
      [here, { tag: "other" }],
      [here, { tag: ["annotated", "other"] }],
      [`${here}:other`, { tag: "annotated" }],
      [`${registry.host}/team/bank`, { tag: "annotated" }],
      [`${registry.host}/team/bank:annotated`, null],
      ["team/shop:annotated", null],
      [`other.example/team/shop:annotated`, null],
      ["", { tag: "annotated" }],
    ] as const) {
      await sign(reference, optional);
      await expect(pull("annotated", ours), reference).rejects.toThrow("but not as");
    }
    for (const [reference, optional] of [
      [here, { tag: "annotated" }],
      [`${here}:annotated`, null],
    ] as const) {
      await sign(reference, optional);
      expect((await pull("annotated", ours)).digest).toBe(digest);
    }
  });

  test("a Node program names a key for the runtime or for a module", async () => {
    const cacheFolder = join(folder, "runtime");
    await publish("seven", "unsigned");
    await publish("eight", "eight", signKey);
    const create = (tag: string, keys: { verifyKey?: string }, own: { verifyKey?: string | URL } = {}) =>
      Runtime.create({
        modules: { shop: { source: `oci://${registry.host}/team/shop:${tag}`, ...own } },
        cacheFolder,
        ...keys,
      });
    await expect(create("unsigned", { verifyKey: ours })).rejects.toThrow("is not signed");
    await expect(create("unsigned", {}, { verifyKey: pathToFileURL(ours) })).rejects.toThrow("is not signed");
    await expect(create("eight", { verifyKey: ours }, { verifyKey: theirs })).rejects.toThrow("is by the key");
    // A signed file is loaded, and only then found to be no component.
    await expect(create("eight", { verifyKey: theirs }, { verifyKey: ours })).rejects.toThrow("it is not WebAssembly");
    await expect(create("eight", { verifyKey: 1 as never })).rejects.toThrow(
      "`verifyKey` must be a path or a file: URL",
    );
  });

  testWith("openssl", "openssl verifies the signature of the text that cosign reads", async () => {
    const { digest } = await publish("four", "four", signKey);
    const { config, layers } = JSON.parse(await get(signatureTag(digest)));
    expect(config.mediaType).toBe("application/vnd.oci.image.config.v1+json");
    expect(layers).toMatchObject([{ mediaType: "application/vnd.dev.cosign.simplesigning.v1+json" }]);
    const payload = await (await fetch(address(`blobs/${layers[0].digest}`))).text();
    expect(JSON.parse(payload)).toEqual({
      critical: {
        identity: { "docker-reference": `${registry.host}/team/shop:four` },
        image: { "docker-manifest-digest": digest },
        type: "cosign container image signature",
      },
      optional: null,
    });
    await writeFile(join(folder, "payload"), payload);
    const signature = layers[0].annotations["dev.cosignproject.cosign/signature"];
    await writeFile(join(folder, "payload.sig"), Buffer.from(signature, "base64"));
    const verify = [
      "dgst",
      "-sha256",
      "-verify",
      ours,
      "-signature",
      join(folder, "payload.sig"),
      join(folder, "payload"),
    ];
    expect(execFileSync(findProgram("openssl") as string, verify, { encoding: "utf8" })).toBe("Verified OK\n");
  });

  // COSIGN is the path of the program. CI does not have it: compiling it takes longer than all tests.
  test.skipIf(process.env["COSIGN"] === undefined)(
    "cosign verifies what Tenon has signed, and the other way round",
    async () => {
      const cosign = (...args: string[]) =>
        execFileSync(process.env["COSIGN"] as string, args, {
          encoding: "utf8",
          stdio: "pipe",
          env: { ...process.env, HOME: folder, COSIGN_PASSWORD: cosignKey.password },
        });
      const local = ["--allow-insecure-registry", "--allow-http-registry"];
      await publish("five", "signed", signKey);
      const plain = await publish("six", "plain");
      const image = `${registry.host}/team/shop`;
      const verify = (tag: string) =>
        cosign("verify", "--key", ours, ...local, "--insecure-ignore-tlog=true", `${image}:${tag}`);
      expect(verify("signed")).toContain("docker-manifest-digest");
      expect(() => verify("plain")).toThrow(/no signatures/);
      const sign = ["sign", "--key", join(folder, "cosign.key"), ...local, "--tlog-upload=false", "--yes"];
      cosign(...sign, `${image}@${plain.digest}`);
      await expect(pull("plain", ours)).rejects.toThrow("but not as");
      cosign(...sign, "-a", "tag=plain", `${image}@${plain.digest}`);
      expect((await pull("plain", ours)).digest).toBe(plain.digest);
    },
  );
});
