/** Docker configurations and credential helpers, sound and broken. */
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findCredential } from "./credentials.ts";

let folder: string;
let environment: NodeJS.ProcessEnv;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "tenon-docker-"));
  environment = { DOCKER_CONFIG: folder, PATH: `${folder}:${process.env["PATH"]}`, FOLDER: folder };
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const configure = (config: unknown) =>
  writeFile(join(folder, "config.json"), typeof config === "string" ? config : JSON.stringify(config));
const helper = async (name: string, script: string) => {
  const file = join(folder, `docker-credential-${name}`);
  await writeFile(file, `#!/bin/sh\n${script}\n`);
  await chmod(file, 0o755);
};
const find = async (registry = "registry.example", helperMs?: number) =>
  (await findCredential(registry, environment, helperMs)).credential;
const entry = (text: string) => ({ auth: Buffer.from(text).toString("base64") });
const me = { kind: "basic", username: "me", password: "hidden" };
const answering = `cat > "$FOLDER/asked"; echo '{"ServerURL":"x","Username":"me","Secret":"hidden"}'`;

test("without a configuration there are none", async () => {
  expect(await find()).toBeUndefined();
  await configure({});
  expect(await find()).toBeUndefined();
});

test.each([
  ["registry.example", "registry.example"],
  ["https://registry.example", "registry.example"],
  ["https://registry.example/v1/", "registry.example"],
  ["Registry.Example", "registry.example"],
  ["registry.example:5000", "registry.example:5000"],
  ["https://index.docker.io/v1/", "docker.io"],
])("an entry for %s is found for %s", async (key, registry) => {
  await configure({ auths: { "other.example": entry("no:no"), [key]: entry("me:hidden") } });
  expect(await find(registry)).toEqual(me);
});

test("an entry for another port or host is not found", async () => {
  await configure({ auths: { "registry.example:5000": entry("me:hidden"), example: entry("me:hidden") } });
  expect(await find()).toBeUndefined();
});

test("a helper of the registry comes before the one for all, and that before the file", async () => {
  await helper("one", answering);
  await helper("all", `echo 'credentials not found in native keychain'; exit 1`);
  const auths = { "registry.example": entry("file:hidden"), "third.example": entry("file:hidden") };
  await configure({ credHelpers: { "registry.example": "one" }, credsStore: "all", auths });
  expect(await find()).toEqual(me);
  expect(await find("third.example")).toMatchObject({ username: "file" });
  expect(await find("fourth.example")).toBeUndefined();
});

test("a helper may give an identity token", async () => {
  await helper("one", `echo '{"Username":"<token>","Secret":"hidden"}'`);
  await configure({ credsStore: "one" });
  expect(await find()).toEqual({ kind: "identity", token: "hidden" });
});

test.each<[string, unknown]>([
  ["no JSON", '{"auths":{"registry.example":{"auth":"hidden"'],
  ["no object", "[]"],
  ["too large", `{"a":"${"x".repeat(1024 * 1024)}"}`],
  ["auths that are a list", { auths: [] }],
  ["an entry that is a text", { auths: { "registry.example": "hidden" } }],
  ["an auth that is no Base64", { auths: { "registry.example": { auth: "hidden!" } } }],
  ["an auth without a colon", { auths: { "registry.example": entry("hidden") } }],
  ["a token with a line break", { auths: { "registry.example": { registrytoken: "hidden\nx" } } }],
  ["a password that is a number", { auths: { "registry.example": { username: "hidden", password: 1 } } }],
  ["a helper with a path", { credsStore: "../../bin/hidden" }],
  ["a helper that is a number", { credHelpers: { "registry.example": 7 } }],
])("a configuration with %s is an error that names the file and nothing in it", async (_, config) => {
  await configure(config);
  const error = (await find().catch((reason) => reason)) as Error & { code: string; hint?: string };
  expect(error.code).toBe("REGISTRY");
  expect(error.message).toContain(join(folder, "config.json"));
  expect(`${error.message}${error.hint}`).not.toContain("hidden");
});

test.each([
  ["fails", "echo hidden; echo hidden >&2; exit 3", "failed with code 3"],
  ["prints nonsense", "echo hidden", "not JSON"],
  ["prints another object", `echo '{"Secret":"hidden"}'`, "no `Username`"],
  ["prints without an end", "while :; do echo hidden; done", "more than credentials take"],
  ["hangs, and its child holds the output", "sleep 20 & wait", "did not answer within 0.3 s"],
  ["ends by a signal", "kill -9 $$", "ended by a signal"],
])("a helper that %s is an error that names it", async (_, script, message) => {
  await helper("bad", script);
  await configure({ credsStore: "bad" });
  const error = (await find("registry.example", script.startsWith("sleep") ? 300 : 20_000).catch(
    (reason) => reason,
  )) as Error & { code: string };
  expect(error.code).toBe("REGISTRY");
  expect(error.message).toContain("docker-credential-bad");
  expect(error.message).toContain(message);
  expect(error.message).not.toContain("hidden");
});

test("a helper that is not installed is an error", async () => {
  await configure({ credsStore: "missing" });
  await expect(find()).rejects.toThrow("docker-credential-missing cannot be run: there is no such file");
});
