/** Node's modules, and the parts that the engine lacks, in one component. Node's own answers are the measure. */
import { spawnSync } from "node:child_process";
import { createHash, createHmac } from "node:crypto";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Runtime } from "../src/embed/runtime.ts";
import { root, tenon } from "./servers.ts";

let folder: string;
let runtime: Runtime;
beforeAll(async () => {
  // Inside the clone, where handlers find the SDK.
  const scratch = join(root, "cli/e2e/.tenon");
  await mkdir(scratch, { recursive: true });
  folder = await mkdtemp(join(scratch, "node-modules-"));
  await cp(join(root, "cli/e2e/fixtures/packages"), folder, { recursive: true });
  const { status, stderr } = build(folder);
  expect(stderr).not.toMatch(/warning|error/);
  expect(status).toBe(0);
  // One instance for all, where something could be left over.
  const modules = { packages: join(folder, "dist/packages.wasm") };
  runtime = await Runtime.create({ modules, env: { GREETING: "Hello" }, isolation: "shared" });
});
afterAll(async () => {
  await runtime?.close();
  await rm(folder, { recursive: true });
});

const build = (cwd: string) => spawnSync(process.execPath, [tenon, "build", "-r"], { cwd, encoding: "utf8" });

const get = async (path: string) => (await runtime.fetch(`http://tenon.test/run/packages${path}`)).json();

test("Buffer", async () => {
  const bytes = Buffer.from("é€𝌆");
  expect(await get("/buffer")).toEqual({
    base64: bytes.toString("base64"),
    url: "-_8",
    back: true,
    hex: `${bytes.toString("hex")}0101`,
    text: "é€𝌆",
    isBytes: true,
  });
});

test("hashes, keyed hashes and random values", async () => {
  expect(await get("/crypto")).toEqual({
    md5: createHash("md5").update("a").digest("hex"),
    sha512: createHash("sha512").update("ab").digest("base64"),
    hmac: createHmac("sha256", "key").update("a").digest("hex"),
    uuid: 36,
    differ: true,
    equal: true,
  });
});

test("process.env is the environment that env() reads", async () => {
  const found = (await get("/process")) as { names: string[] };
  expect(found).toMatchObject({ greeting: "Hello", missing: true, mode: "production", isGlobal: true });
  expect(found.names).toContain("GREETING");
});

test("streams", async () => {
  expect(await get("/stream")).toEqual({ parts: ["A", "É"], first: "x" });
});

test("events, paths, URLs, util and assert", async () => {
  expect(await get("/rest")).toEqual({
    seven: 7,
    path: "/b/c.txt",
    hostname: "a.example",
    c: "1",
    file: "/a b",
    inspected: "{ a: Map(1) { 'k' => [ 1 ] } }",
    promised: 2,
    asserted: "ERR_ASSERTION",
  });
});

test("stores follow asynchronous calls, and nothing of them is left for the next request", async () => {
  for (let i = 0; i < 2; i++) {
    expect(await get("/stores")).toEqual({
      both: ["a", "b", null],
      generated: ["g0", "g1"],
      bound: "c",
      isFound: true,
    });
    expect(await get("/fresh")).toEqual({ store: null });
  }
});

test("classes of characters by their Unicode properties", async () => {
  expect(await get("/words")).toEqual({
    words: ["Ünïcödé", "wörds", "и", "русский", "漢字"],
    rest: "tty",
    vowel: false,
    emoji: true,
    cased: true,
  });
});

test("streams of text, normalization, patterns of URLs, and the name of the runtime", async () => {
  expect(await get("/polyfills")).toEqual({
    text: "é🎉x",
    normalized: ["e\u0301", "ﬁ ①", "각"].map((each) => [each.normalize(), each.normalize("NFKD")]),
    agent: "Tenon",
    event: ["message", [1], true],
    id: "7",
  });
});

test("MessageChannel", async () => {
  expect(await get("/channel")).toEqual({ got: { a: [1] } });
});

describe("what a component cannot have fails the build, and says what to do", () => {
  const answering = (code: string) => `import { get, ok, routes } from "@tenon/sdk";
${code}
export default routes({ it: get("/", () => ok({ value: String(value) })) });
`;
  test.each([
    [
      "a module",
      'import { createServer } from "node:http";\nconst value = createServer;',
      /src\/handler\.ts:2:30: "node:http" is a module of Node that a component cannot have[\s\S]*make requests with fetch\(\)/,
    ],
    [
      "a function of a module",
      'import { createECDH } from "crypto";\nconst value = createECDH;',
      /src\/handler\.ts:2:10: "createECDH" of node:crypto does not exist in a component/,
    ],
    [
      "a property of a module",
      'import crypto from "node:crypto";\nconst value = crypto.createSign;',
      /src\/handler\.ts:3:22: "createSign" of node:crypto does not exist in a component/,
    ],
    [
      "random bytes at top level",
      'import { randomBytes } from "node:crypto";\nconst value = randomBytes(4);',
      /src\/handler\.ts:3:15: the module's top level failed: Error: crypto\.randomBytes\(\) works in a handler/,
    ],
    [
      "random values of the engine at top level",
      "const value = crypto.getRandomValues(new Uint8Array(4));",
      /src\/handler\.ts:2:22: the module's top level failed: random values work in a handler, not at top level/,
    ],
  ])("%s", async (_what, code, message) => {
    const at = await mkdtemp(join(folder, "refused-"));
    await mkdir(join(at, "src"));
    await writeFile(join(at, "tenon.toml"), '[project]\nname = "refused"\n');
    await writeFile(join(at, "src/handler.ts"), answering(code));
    const { status, stderr } = build(at);
    expect(stderr).toMatch(message);
    expect(status).toBe(1);
  });
});

test("a package may ask for random values at top level, and the build says which does", async () => {
  const at = await mkdtemp(join(folder, "random-"));
  await mkdir(join(at, "src"));
  await mkdir(join(at, "node_modules/asks"), { recursive: true });
  await writeFile(join(at, "tenon.toml"), '[project]\nname = "random"\n');
  await writeFile(join(at, "node_modules/asks/package.json"), '{"name":"asks","type":"module"}');
  await writeFile(
    join(at, "node_modules/asks/index.js"),
    "Math.random();\nexport const early = crypto.getRandomValues(new Uint8Array(8)).join();\nexport const late = () => crypto.randomUUID();\n",
  );
  const handler = `import { get, ok, routes } from "@tenon/sdk";
import { early, late } from "asks";
export default routes({ it: get("/", () => ok({ early, late: late() })) });
`;
  await writeFile(join(at, "src/handler.ts"), handler);
  const { status, stderr } = build(at);
  expect(stderr).toMatch(/warning: .*asks\/index\.js:2: random values at top level are the same in every instance/);
  expect(status).toBe(0);
  const made = await Runtime.create({ modules: { random: join(at, "dist/random.wasm") }, isolation: "request" });
  const answer = async () =>
    (await made.fetch("http://tenon.test/run/random/")).json() as Promise<Record<string, string>>;
  const [one, other] = [await answer(), await answer()];
  await made.close();
  expect(one["early"]).toBe(other["early"]);
  expect(new Set(one["early"]?.split(",")).size).toBeGreaterThan(2);
  expect(one["late"]).not.toBe(other["late"]);
});
