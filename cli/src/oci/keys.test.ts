import { generateKeyPairSync, type KeyPairKeyObjectResult } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { cosignKey } from "./cosign-key.testing.ts";
import { isSigned, readSigningKey, readVerifyKey, signed } from "./keys.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tenon-keys-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function file(text: string | Buffer): Promise<string> {
  const path = join(folder, `${Math.random()}.pem`);
  await writeFile(path, text);
  return path;
}

/** Both keys in PEM. */
function inPem({ privateKey, publicKey }: KeyPairKeyObjectResult): { privateKey: string; publicKey: string } {
  return {
    privateKey: privateKey.export({ type: "pkcs8", format: "pem" }) as string,
    publicKey: publicKey.export({ type: "spki", format: "pem" }) as string,
  };
}
const text = Buffer.from("a text");

test("a key of cosign signs with its password, and its public key verifies", async () => {
  const path = await file(cosignKey.private);
  for (const name of ["COSIGN_PASSWORD", "TENON_SIGN_PASSWORD"]) {
    const signature = signed(text, await readSigningKey(path, { [name]: cosignKey.password }));
    const key = await readVerifyKey(await file(cosignKey.public));
    expect(isSigned(text, signature, key)).toBe(true);
    expect(isSigned(Buffer.from("another text"), signature, key)).toBe(false);
    const damaged = Buffer.from(signature);
    damaged[8] = (damaged[8] as number) ^ 1;
    expect(isSigned(text, damaged, key)).toBe(false);
    expect(isSigned(text, Buffer.alloc(0), key)).toBe(false);
  }
});

test.each([
  ["Ed25519", () => generateKeyPairSync("ed25519")],
  ["P-256", () => generateKeyPairSync("ec", { namedCurve: "P-256" })],
  ["P-384", () => generateKeyPairSync("ec", { namedCurve: "P-384" })],
  ["RSA", () => generateKeyPairSync("rsa", { modulusLength: 2048 })],
])("a key of %s signs, encrypted or not", async (_, generate) => {
  const { privateKey, publicKey } = inPem(generate());
  const key = await readVerifyKey(await file(publicKey));
  const plain = await readSigningKey(await file(privateKey), {});
  expect(isSigned(text, signed(text, plain), key)).toBe(true);
  const encrypted = plain.export({ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "p" });
  const same = await readSigningKey(await file(encrypted), { TENON_SIGN_PASSWORD: "p" });
  expect(isSigned(text, signed(text, same), key)).toBe(true);
});

test("errors of a signing key name the file and what to do, and not its content", async () => {
  const encrypted = await file(cosignKey.private);
  const refused = async (path: string, environment: NodeJS.ProcessEnv) =>
    (await readSigningKey(path, environment).catch((error) => error)) as Error & { code: string; hint?: string };
  expect(await refused(encrypted, {})).toMatchObject({
    code: "USAGE",
    message: `the signing key ${encrypted} is encrypted`,
    hint: "set TENON_SIGN_PASSWORD or COSIGN_PASSWORD",
  });
  expect((await refused(encrypted, { COSIGN_PASSWORD: "wrong" })).message).toContain(
    "cannot be decrypted with COSIGN_PASSWORD",
  );
  expect((await refused(await file("no key"), {})).message).toContain("is not a private key in PEM");
  expect((await refused(join(folder, "none"), {})).message).toMatch(
    /cannot read the signing key, .*none: there is no such file/,
  );
  expect((await refused(await file(Buffer.alloc(100_000)), {})).message).toContain("larger than 65536 bytes");
  const weak = inPem(generateKeyPairSync("rsa", { modulusLength: 1024 })).privateKey;
  expect((await refused(await file(weak), {})).message).toContain("is of a kind that does not sign artifacts");
});

test("an encrypted key that asks for too much work is refused", async () => {
  const kdf = { name: "scrypt", params: { N: 2 ** 30, r: 8, p: 1 }, salt: "" };
  const box = { kdf, cipher: { name: "nacl/secretbox", nonce: "" }, ciphertext: "" };
  const body = Buffer.from(JSON.stringify(box)).toString("base64");
  const path = await file(
    `-----BEGIN ENCRYPTED SIGSTORE PRIVATE KEY-----\n${body}\n-----END ENCRYPTED SIGSTORE PRIVATE KEY-----\n`,
  );
  const began = performance.now();
  await expect(readSigningKey(path, { COSIGN_PASSWORD: "x" })).rejects.toThrow("cannot be decrypted");
  expect(performance.now() - began).toBeLessThan(5000);
});

test("a private key is not taken for the public one", async () => {
  const { privateKey } = inPem(generateKeyPairSync("ed25519"));
  for (const wrong of [privateKey, "no key"]) {
    const path = await file(wrong);
    await expect(readVerifyKey(path)).rejects.toMatchObject({
      code: "CONFIG",
      message: `verify_key: ${path} is not a public key in PEM`,
    });
  }
});
