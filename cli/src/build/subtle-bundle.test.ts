/** The engine's functions for cryptography that a bundle uses. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { packageFolder } from "../package.ts";
import { requireProject } from "../project/project.ts";
import { bundle } from "./bundle.ts";

let folder: string;
beforeAll(async () => {
  // Inside the clone, where handlers find the SDK.
  await mkdir(join(packageFolder, ".tenon"), { recursive: true });
  folder = await mkdtemp(join(packageFolder, ".tenon", "subtle-"));
});
afterAll(() => rm(folder, { recursive: true }));

const sdk = 'import { etag, get, jwt, ok, routes, use } from "@tenon/sdk";';
const verifies = 'use(jwt({ key: "k", algorithms: ["HS256", "ES256"] }), etag()).get("/j", () => ok({}))';
const route = (code: string) => `it: get("/", async () => ok({ it: String(await (${code})) }))`;
const aes = 'crypto.subtle.encrypt({ name: "AES-GCM", iv }, {}, iv)';

/** Some of the functions that the engine has for each part of cryptography. */
const functions: Readonly<Record<string, string>> = {
  digest: "digest",
  newDigest: "hashes",
  ecVerify: "curves",
  pkcs1Verify: "rsa",
  gcmEncrypt: "symmetric",
  cbcEncrypt: "symmetric",
};

test.each([
  ["plain", `${sdk} export default routes({ ${route("1")} });`, ""],
  [
    "digests",
    `${sdk} export default routes({ ${route('crypto.subtle.digest("SHA-1", new Uint8Array())')} });`,
    "digest",
  ],
  ["etag", `${sdk} export default routes({ a: use(etag()).get("/a", () => ok({})) });`, "digest"],
  [
    "secrets",
    `${sdk} export default routes({ a: use(jwt({ key: "k", algorithms: ["HS256"] })).get("/a", () => ok({})) });`,
    "digest",
  ],
  ["tokens", `${sdk} export default routes({ a: ${verifies} });`, "curves digest"],
  ["seals", `${sdk} const iv = new Uint8Array(12); export default routes({ ${route(aes)} });`, "digest symmetric"],
  [
    "nodes",
    `import { createHash } from "node:crypto"; ${sdk} export default routes({ ${route('createHash("sha256")')} });`,
    "digest hashes",
  ],
  [
    "node-ciphers",
    `import crypto from "node:crypto"; ${sdk} export default routes({ ${route('crypto.createCipheriv("aes-128-cbc", "k", "i")')} });`,
    "digest hashes symmetric",
  ],
  [
    "keys",
    `${sdk} export default routes({ ${route('crypto.subtle.generateKey("Ed25519", true, ["sign"])')} });`,
    "curves digest",
  ],
  ["whole", `${sdk} export default routes({ ${route("Object.keys(crypto.subtle)")} });`, "curves digest rsa symmetric"],
])("%s", async (name, code, expected) => {
  const at = join(folder, name);
  await mkdir(join(at, "src"), { recursive: true });
  await writeFile(join(at, "tenon.toml"), `[project]\nname = "${name}"\n`);
  await writeFile(join(at, "src/handler.ts"), code);
  const { engineFunctions, linked, warnings } = await bundle(await requireProject(at), {
    minify: true,
    checkResponses: false,
  });
  const parts = new Set(engineFunctions.map((each) => functions[each]).filter((each) => each !== undefined));
  expect([...parts].sort().join(" ")).toBe(expected);
  expect(linked).toEqual([]);
  expect(warnings).toEqual([]);
});
