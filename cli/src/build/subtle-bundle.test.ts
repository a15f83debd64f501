/** The modules for cryptography that a bundle brings. */
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { cryptoFolder, packageFolder } from "../package.ts";
import { requireProject } from "../project/project.ts";
import { bundle } from "./bundle.ts";

let folder: string;
let names: ReadonlyMap<string, string>;
beforeAll(async () => {
  // Inside the clone, where handlers find the SDK.
  await mkdir(join(packageFolder, ".tenon"), { recursive: true });
  folder = await mkdtemp(join(packageFolder, ".tenon", "subtle-"));
  const digestOf = async (name: string) => [digest(await readFile(join(cryptoFolder, `${name}.wasm`))), name] as const;
  names = new Map(await Promise.all(["symmetric", "curves", "rsa"].map(digestOf)));
});
afterAll(() => rm(folder, { recursive: true }));

const digest = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

/** Bundles a handler. */
async function bundled(name: string, code: string, engine?: "quickjs") {
  const at = join(folder, name);
  await mkdir(join(at, "src"), { recursive: true });
  await writeFile(join(at, "tenon.toml"), `[project]\nname = "${name}"\n`);
  await writeFile(join(at, "src/handler.ts"), code);
  return bundle(await requireProject(at), { minify: true, checkResponses: false, ...(engine && { engine }) });
}

/** The modules in the bundle of a handler. */
async function modulesOf(name: string, code: string): Promise<{ modules: string; warnings: unknown }> {
  const { linked, warnings } = await bundled(name, code);
  const modules = linked.map(({ bytes }) => names.get(digest(bytes)) ?? "unknown").sort();
  return { modules: modules.join(" "), warnings };
}

const sdk = 'import { etag, get, jwt, ok, routes, use } from "@tenon/sdk";';
const verifies = 'use(jwt({ key: "k", algorithms: ["HS256", "ES256"] }), etag()).get("/j", () => ok({}))';
const route = (code: string) => `it: get("/", async () => ok({ it: String(await (${code})) }))`;
const aes = 'crypto.subtle.encrypt({ name: "AES-GCM", iv }, {}, iv)';

test.each([
  ["plain", `${sdk} export default routes({ ${route("1")}, a: ${verifies} });`, ""],
  [
    "sealing",
    `${sdk} const iv = new Uint8Array(12); export default routes({ ${route(aes)}, a: ${verifies} });`,
    "symmetric",
  ],
  [
    "signing",
    `${sdk} export default routes({ ${route('crypto.subtle.generateKey("Ed25519", true, ["sign"])')} });`,
    "curves",
  ],
  [
    "hashing",
    `import crypto from "node:crypto"; ${sdk} export default routes({ ${route('crypto.createHash("sha256")')} });`,
    "",
  ],
  [
    "ciphers",
    `import crypto from "node:crypto"; ${sdk} export default routes({ ${route('crypto.createCipheriv("aes-128-cbc", "k", "i")')} });`,
    "symmetric",
  ],
  ["whole", `${sdk} export default routes({ ${route("Object.keys(crypto.subtle)")} });`, "curves rsa symmetric"],
])("%s", async (name, code, expected) => {
  const { modules, warnings } = await modulesOf(name, code);
  expect(modules).toBe(expected);
  expect(warnings).toEqual([]);
});

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
])("in QuickJS, %s", async (name, code, expected) => {
  const { engineFunctions, linked, warnings } = await bundled(`quickjs-${name}`, code, "quickjs");
  const parts = new Set(engineFunctions.map((each) => functions[each]).filter((each) => each !== undefined));
  expect([...parts].sort().join(" ")).toBe(expected);
  expect(linked).toEqual([]);
  expect(warnings).toEqual([]);
});
