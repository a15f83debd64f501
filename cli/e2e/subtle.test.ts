/** `crypto.subtle` and `node:crypto` in a component, by modules that the build adds. The other half is done by Node's. */
import { spawnSync } from "node:child_process";
import * as nodeCrypto from "node:crypto";
import { cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findProgram } from "../../testing/programs.ts";
import { Runtime } from "../src/embed/runtime.ts";
import { root, startWasmtime, tenon } from "./servers.ts";

const { subtle } = nodeCrypto.webcrypto;
const unhex = (text: unknown) => Buffer.from(text as string, "hex");

let folder: string;
beforeAll(async () => {
  // Inside the clone, where handlers find the SDK.
  await mkdir(join(root, "cli/e2e/.tenon"), { recursive: true });
  folder = await mkdtemp(join(root, "cli/e2e/.tenon/subtle-"));
  await cp(join(root, "cli/e2e/fixtures/subtle"), folder, { recursive: true });
  const { status, stderr } = spawnSync(process.execPath, [tenon, "build", "-rc"], { cwd: folder, encoding: "utf8" });
  expect(status, stderr).toBe(0);
  expect(stderr).not.toContain("warning");
});
afterAll(() => rm(folder, { recursive: true }));

type Ask = (path: string, body?: string) => Promise<Record<string, unknown>>;

const asking =
  (fetch: (url: string, init?: RequestInit) => Promise<Response>, base: string): Ask =>
  async (path, body) => {
    const response = await fetch(base + path, body === undefined ? {} : { method: "POST", body });
    expect(response.status).toBe(200);
    return (await response.json()) as Record<string, unknown>;
  };

async function agreesWithNode(ask: Ask): Promise<void> {
  const text = "hello from a component";
  const { salt, iv, sealed } = await ask("/seal", text);
  const secret = nodeCrypto.pbkdf2Sync("password", unhex(salt), 1000, 32, "sha256");
  const key = await subtle.importKey("raw", secret, "AES-GCM", false, ["decrypt"]);
  const opened = await subtle.decrypt({ name: "AES-GCM", iv: unhex(iv) }, key, unhex(sealed));
  expect(Buffer.from(opened).toString()).toBe(text);

  const signed = await ask("/sign", text);
  expect(signed["verified"]).toBe(true);
  const publicKey = await subtle.importKey("spki", unhex(signed["key"]), "Ed25519", false, ["verify"]);
  expect(await subtle.verify("Ed25519", publicKey, unhex(signed["signature"]), Buffer.from(text))).toBe(true);
  const [x, y] = ["f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"];
  const jwk = { kty: "EC", crv: "P-256", x, y };
  const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
  const early = await subtle.importKey("jwk", jwk, algorithm, false, ["verify"]);
  expect(await subtle.verify(algorithm, early, unhex(signed["early"]), Buffer.from(text))).toBe(true);

  const rsa = nodeCrypto.generateKeyPairSync("rsa", { modulusLength: 2048 });
  const encrypted = nodeCrypto.publicEncrypt({ key: rsa.publicKey, oaepHash: "sha256" }, Buffer.from(text));
  const pkcs8 = rsa.privateKey.export({ format: "der", type: "pkcs8" }).toString("hex");
  const outcome = await ask("/open", JSON.stringify({ pkcs8, sealed: encrypted.toString("hex") }));
  expect(outcome).toEqual({ text, refused: "OperationError" });

  const cipher = nodeCrypto.createCipheriv(
    "aes-256-gcm",
    nodeCrypto.scryptSync("password", "salt", 32),
    new Uint8Array(12),
  );
  const output = cipher.update("hello", "utf8", "hex") + cipher.final("hex");
  expect(await ask("/node")).toEqual({
    sealed: output,
    tag: cipher.getAuthTag().toString("hex"),
    generatedEarly: expect.stringMatching(
      /^crypto\.subtle\.generateKey\(\) (?:of AES-GCM )?works in a handler, not at top level$/,
    ),
    derivedEarly: nodeCrypto.pbkdf2Sync("password", "salt", 2, 20, "sha1").toString("hex"),
  });
}

describe("a component computes what Node computes", () => {
  test.each(["request", "shared"] as const)("on Tenon, isolation %s", async (isolation) => {
    const modules = { subtle: join(folder, "dist/subtle-composed.wasm") };
    const runtime = await Runtime.create({ modules, isolation, requestTimeoutMs: 20_000 });
    const ask = asking((url, init) => runtime.fetch(url, init), "http://tenon.test/run/subtle");
    await agreesWithNode(ask);
    const signatures = [await ask("/sign", "x"), await ask("/sign", "x")].map(({ key }) => key);
    expect(signatures[0]).not.toBe(signatures[1]);
    await runtime.close();
  });

  test.runIf(findProgram("wasmtime"))("on wasmtime", async () => {
    const server = await startWasmtime(join(folder, "dist/subtle-composed.wasm"));
    await agreesWithNode(asking(fetch, server.base));
    await server.stop();
  });
});
