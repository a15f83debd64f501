/** Builds of handlers that ask more of the engine than most do, or too much. */
import { spawn, spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { send } from "./http.ts";
import { root, startTenon, tenon } from "./servers.ts";

let folder: string;
beforeAll(async () => {
  // Inside the clone, where handlers find the SDK.
  const scratch = join(root, "cli/e2e/.tenon");
  await mkdir(scratch, { recursive: true });
  folder = await mkdtemp(join(scratch, "build-"));
});
afterAll(() => rm(folder, { recursive: true }));

async function project(name: string, files: Readonly<Record<string, string>>): Promise<string> {
  const at = join(folder, name);
  await mkdir(join(at, "src"), { recursive: true });
  await writeFile(join(at, "tenon.toml"), `[project]\nname = "${name}"\n`);
  for (const [file, content] of Object.entries(files)) await writeFile(join(at, "src", file), content);
  return at;
}

const build = (cwd: string, way = "", env = process.env) =>
  spawnSync(process.execPath, [tenon, "build", ...(way === "" ? [] : [way])], { cwd, env, encoding: "utf8" });

/** The public key of RFC 7515, appendix A.3. */
const publicKey = {
  kty: "EC",
  crv: "P-256",
  x: "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
  y: "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
};

const importOfKey = `const jwk = ${JSON.stringify(publicKey)};
const key = await crypto.subtle.importKey("jwk", jwk, { name: "ECDSA", namedCurve: "P-256" }, false, ["verify"]);
export const declared = key;`;

const unicodeClass = "const letters = new RegExp(['\\\\p{L}'].join(''), 'u');";

const answering = (value: string, before = "") =>
  `import { get, ok, routes } from "@tenon/sdk";\n${before}\nexport default routes({ it: get("/", () => ok({ value: ${value} })) });\n`;

async function answer(at: string, name: string): Promise<unknown> {
  const running = await startTenon([join(at, "dist", `${name}.wasm`)], name);
  try {
    return (await send(running.base, { path: `/run/${name}/` })).json();
  } finally {
    await running.stop();
  }
}

describe("an app with the option mcp, whose top level runs once more for its tools", () => {
  const app = (before: string) =>
    `import { get, ok, routes } from "@tenon/sdk";\n${before}\nexport default routes({ it: get("/", () => ok({})) }, { mcp: {} });\n`;

  test("reads the variables of [env] there", async () => {
    const at = await project("mcp-env", { "handler.ts": app('if (!process.env.NAME) throw new Error("no NAME");') });
    await writeFile(join(at, "tenon.toml"), '[project]\nname = "mcp-env"\n[env]\nNAME = "Ada"\n');
    const { status, stderr } = build(at);
    expect(status, stderr).toBe(0);
  });

  test("is refused for what it leaves undone, with its place", async () => {
    const at = await project("mcp-fetch", { "handler.ts": app('fetch("http://127.0.0.1:1/");') });
    const { status, stderr } = build(at);
    expect(status).toBe(1);
    expect(stderr).toMatch(/src\/handler\.ts:\d+:\d+: .*it rejects a promise that nobody handles/);
    expect(stderr).not.toContain("node:internal");
  });
});

describe("what builds", () => {
  test.each(["", "--reference"])("two megabytes of dependencies %s", async (way) => {
    const entries = Array.from(
      { length: 20_000 },
      (_, index) => `  f${index}: (x) => "${"y".repeat(60)}" + x + ${index},`,
    );
    const name = way === "" ? "large" : "large-reference";
    const at = await project(name, {
      "dependency.js": `export const table = {\n${entries.join("\n")}\n};\n`,
      "handler.ts": answering("Object.keys(table).length", 'import { table } from "./dependency.js";'),
    });
    const { status, stderr } = build(at, way);
    expect(status, stderr).toBe(0);
    expect(stderr).toMatch(/Bundle src\/handler\.ts \([12]\.\d MiB of JavaScript\)/);
    expect(await answer(at, name)).toEqual({ value: 20_000 });
  });

  test("top-level await", async () => {
    const at = await project("awaits", {
      "handler.ts": answering("later", "const later = await new Promise((done) => Promise.resolve(5).then(done));"),
    });
    const { status, stderr } = build(at);
    expect(status, stderr).toBe(0);
    expect(await answer(at, "awaits")).toEqual({ value: 5 });
  });

  test.each([
    ["unicode-class", unicodeClass, "letters.test('é') && !letters.test('1')", true],
    ["ec-key", importOfKey, "key.type", "public"],
  ])("top levels that need more of the engine: %s", async (name, before, value, expected) => {
    const at = await project(name, { "handler.ts": answering(value, before) });
    const { status, stderr } = build(at);
    expect(status, stderr).toBe(0);
    expect(await answer(at, name)).toEqual({ value: expected });
  });

  test("another library's schema without JSON Schema, and the build says which route has it", async () => {
    const schema = (jsonSchema: string) =>
      `{ "~standard": { version: 1, vendor: "demo", validate: (value: unknown) => ({ value })${jsonSchema} } } as const`;
    const at = await project("undocumented", {
      "handler.ts": `import { get, ok, post, routes } from "@tenon/sdk";
export default routes({
  it: get("/", () => ok({ value: 1 })),
  known: post("/known", { body: ${schema(", jsonSchema: { input: () => ({}), output: () => ({}) }")} }, () => ok({})),
  lacking: post("/lacking", { body: ${schema("")} }, () => ok({})),
});
`,
    });
    const { status, stderr } = build(at);
    expect(status, stderr).toBe(0);
    expect(stderr.match(/warning: .*/g)).toEqual([
      "warning: lacking: the schema of its body (demo) has no Standard JSON Schema, so there is no OpenAPI document",
    ]);
    expect(await answer(at, "undocumented")).toEqual({ value: 1 });
  });

  test.each([
    [
      "middleware",
      `import { env, get, middleware, ok, routes } from "@tenon/sdk";
let value = 0;
const counted = middleware((_, next) => {
  value += env("MISSING") === undefined ? 1 : 2;
  return next();
});
export default routes({ it: get("/", () => ok({ value })) }, { use: [counted] });`,
    ],
    ["fetch", "let value = 0;\nexport default { fetch: () => Response.json({ value: ++value }) };"],
  ])("nothing of the user's answers while it is built: %s", async (name, source) => {
    const at = await project(name, { "handler.ts": source });
    const { status, stderr } = build(at, "-r");
    expect(status, stderr).toBe(0);
    expect(await answer(at, name)).toEqual({ value: 1 });
  });

  test("the same sources make the same component", async () => {
    const files = { "handler.ts": answering("made", "const made = Date.now();") };
    const [one, other] = [await project("same", files), await project("same-again", files)];
    const env = { ...process.env, SOURCE_DATE_EPOCH: "1700000000" };
    for (const at of [one, other]) {
      await writeFile(join(at, "tenon.toml"), '[project]\nname = "same"\n');
      expect(build(at, "-r", env).status).toBe(0);
    }
    const component = (at: string) => readFile(join(at, "dist/same.wasm"));
    expect((await component(one)).equals(await component(other))).toBe(true);
    expect(await answer(one, "same")).toEqual({ value: 1_700_000_000_000 });
  });
});

describe("what fails says where, and what to do", () => {
  test.each([
    [
      "the time",
      answering("started", "const started = performance.now();"),
      /error: src\/handler\.ts:2:\d+: the module's top level failed: Error: performance\.now\(\) works in a handler, not at top level/,
      /hint: the top level runs while building/,
    ],
    [
      "the environment",
      answering("name", "const name = env('NAME');").replace("{ ", "{ env, "),
      /error: src\/handler\.ts:2:14: the module's top level failed: Error: env\(\) works in a handler, not at top level/,
      /hint: the top level runs while building/,
    ],
    [
      "the time as a text",
      answering("now", "const now = time.nowIso();").replace("{ ", "{ time, "),
      /error: src\/handler\.ts:2:18: the module's top level failed: Error: time.nowIso\(\) works in a handler/,
      /hint: the top level runs while building/,
    ],
    [
      "a timer",
      answering("timer", "const timer = setTimeout(() => {}, 5);"),
      /error: src\/handler\.ts:2:\d+: the module's top level failed: Error: setTimeout\(\) works in a handler, not at top level/,
      /hint: the top level runs while building/,
    ],
    [
      "a request to a database",
      answering("rows", "const rows = await db.query(['SELECT 1', []]);").replace("{ ", "{ db, "),
      /src\/handler\.ts:2:\d+: the module's top level failed: Error: a call to the outside works in a handler, not at top level/,
      /hint: the top level runs while building/,
    ],
    [
      "a request to somebody else",
      answering("x.status", 'const x = await fetch("http://localhost/");'),
      /src\/handler\.ts:2:\d+: the module's top level failed: .*Error: fetch\(\) works in a handler, not at top level/,
      /hint: the top level runs while building/,
    ],
    [
      "more memory than there is",
      answering("1", "const all = [];\nfor (;;) all.push(new Array(1_000_000).fill(7));"),
      /error: src\/handler\.ts: the top level needs more than 384 MiB of memory/,
      /hint: the top level runs while building/,
    ],
    [
      "more memory for texts than there is",
      answering("1", "const all: string[] = [];\nfor (;;) all.push('x'.repeat(1e6) + all.length);"),
      /error: src\/handler\.ts: the top level needs more than 384 MiB of memory/,
      /hint: the top level runs while building/,
    ],
    [
      "the module of engine functions",
      answering("1", 'import { print } from "tenon:engine";\nprint("");'),
      /"tenon:engine" must not be imported: its functions change with each version/,
      /^(?!.*hint:)/s,
    ],
    [
      "a promise that is rejected",
      answering("1", "await Promise.reject(new Error('refused'));"),
      /error: src\/handler\.ts:2:22: the module's top level failed: Error: refused\n/,
      /hint:/,
    ],
    [
      "a promise that is rejected and that nobody waits for",
      answering("1", "console.log('said'); Promise.reject(new Error('refused'));"),
      /error: src\/handler\.ts:2:37: the module's top level failed: it rejects a promise that nobody handles: (?:Error: )?refused\n {2}2 \|/,
      /hint: the top level runs while building/,
    ],
    [
      "a promise that stays open",
      answering("1", "await new Promise(() => {});"),
      /error: src\/handler\.ts: the module's top level failed: it waits for something that never comes\n/,
      /hint: the top level runs while building/,
    ],
    [
      "a text that is thrown",
      answering("1", "throw 'a string';"),
      /error: src\/handler\.ts: the module's top level failed: uncaught exception: a string\n/,
      /hint: throw an Error instead/,
    ],
    [
      "a route twice",
      'import { get, ok, routes } from "@tenon/sdk";\nexport default routes({\n  a: get("/a/{x}", () => ok({})),\n  b: get("/a/{y}", () => ok({})),\n});\n',
      /error: src\/handler\.ts:2:16: the module's top level failed: TypeError: two routes answer the same requests: a \(GET "\/a\/\{x\}"\) and b .*\n {2}2 \| export default routes/,
      /^(?!.*hint:)/s,
    ],
    [
      "an attribute that is unknown",
      'import { field, get, ok, routes } from "@tenon/sdk";\nconst unknown = () => field.u32({ mx: 3 } as any);\nexport default routes({ it: get("/", { response: unknown() }, () => ok(1)) });\n',
      /error: src\/handler\.ts:2:29: the module's top level failed: TypeError: field\.u32: unknown "mx"/,
      /^(?!.*hint:)/s,
    ],
    [
      "a route that a later one of its name replaces",
      'import { get, group, ok, routes } from "@tenon/sdk";\nconst users = { list: get("/users", () => ok({})) };\nconst orders = { list: get("/orders", () => ok({})) };\nexport const unused = group("/a", { b: get("/b", () => ok({})) });\nexport default routes({ ...users, ...orders });\n',
      /error: src\/handler\.ts:2:23: no routes\(\) has GET \/users, and none GET \/b\n {2}2 \| const users/,
      /hint: a later definition of the same name replaces an earlier one .* give each module a group\(…\)/,
    ],
  ])("%s", async (name, handler, message, hint) => {
    const at = await project(name.toLowerCase().replaceAll(" ", "-"), { "handler.ts": handler });
    const { status, stderr } = build(at);
    expect(stderr).toMatch(message);
    expect(stderr).toMatch(hint);
    expect(status).toBe(1);
    await expect(readdir(join(at, "dist"))).rejects.toThrow();
  });

  const both = "export default routes({ … }), or an object with fetch(request)";
  const unused = 'import { get, ok, routes } from "@tenon/sdk";\nroutes({ a: get("/", () => ok({})) });';
  test.each([
    ["object", "", "{ foo: 1, bar: 2 }", "an object with foo, bar"],
    ["empty", "", "{}", "{}"],
    ["null", "", "null", "null"],
    ["function", "", "function handle() {}", "a function"],
    ["class", "", "class App {}", "a class"],
    ["number", "", "7", "a number"],
    ["array", "", "[1]", "an Array"],
    ["beside-routes", unused, "() => 1", "a function"],
    ["empty-beside-routes", unused, "{}", "an object without properties"],
  ])("what is exported and is no application: %s", async (name, before, exported, kind) => {
    const at = await project(`exports-${name}`, { "handler.ts": `${before}\n\nexport default ${exported};\n` });
    const { status, stderr } = build(at);
    const line = before.split("\n").length + 2;
    expect(stderr).toContain(`error: src/handler.ts:${line}:16: the default export is ${kind}: ${both}\n  ${line} | `);
    expect(stderr).not.toContain("hint");
    expect(status).toBe(1);
  });

  test("a package that throws, and one that another calls", async () => {
    const at = await project("packages", {
      "handler.ts": answering("1", 'import { call } from "calls";\ncall(() => {});\nimport "throws";'),
    });
    const packages: Readonly<Record<string, string>> = {
      calls: "export const call = (f) => { if (!f.given) throw new Error('not given'); };",
      throws: "if (globalThis.reached) throw new Error('reached');",
    };
    const install = async (name: string, text: string | undefined) => {
      await mkdir(join(at, "node_modules", name), { recursive: true });
      await writeFile(join(at, "node_modules", name, "index.js"), text ?? "");
    };
    for (const [name, text] of Object.entries(packages)) await install(name, text);
    expect(build(at).stderr).toMatch(/error: src\/handler\.ts:3:1: .*: Error: not given\n/);
    await install("throws", "throw new Error('reached');");
    expect(build(at).stderr).toMatch(/error: node_modules\/throws\/index\.js:1:7: .*: Error: reached\n/);
  });
});

describe("builds that meet, and builds that end early", () => {
  test("two at once, of one project", async () => {
    const at = await project("meets", { "handler.ts": answering("7") });
    const ends = [1, 2].map(() => {
      const child = spawn(process.execPath, [tenon, "build", "-rc"], { cwd: at, stdio: "ignore" });
      return new Promise((resolve) => child.once("exit", resolve));
    });
    expect(await Promise.all(ends)).toEqual([0, 0]);
    expect(await answer(at, "meets")).toEqual({ value: 7 });
    expect((await readdir(join(at, "dist"))).sort()).toEqual(["meets-composed.wasm", "meets.wasm", "meets.wasm.map"]);
  });

  test("one that is interrupted says so by its exit code", async () => {
    const at = await project("interrupted", { "handler.ts": answering("1", "for (;;);") });
    const child = spawn(process.execPath, [tenon, "build"], { cwd: at, stdio: ["ignore", "ignore", "pipe"] });
    const ended = new Promise((resolve) => child.once("exit", (code, signal) => resolve({ code, signal })));
    let said = "";
    await new Promise<void>((bundled) => {
      child.stderr.on("data", (data) => {
        said += data;
        if (said.includes("Bundle")) bundled();
      });
    });
    child.kill("SIGINT");
    expect(await ended).toEqual({ code: 130, signal: null });
  });

  test("one that is killed leaves the component as it was", async () => {
    const at = await project("killed", { "handler.ts": answering("1") });
    expect(build(at).status).toBe(0);
    await writeFile(join(at, "src/handler.ts"), answering("2"));
    for (const delay of [150, 250, 350, 450]) {
      const child = spawn(process.execPath, [tenon, "build"], { cwd: at, stdio: "ignore" });
      const ended = new Promise((resolve) => child.once("exit", resolve));
      setTimeout(() => child.kill("SIGKILL"), delay);
      await ended;
      expect([{ value: 1 }, { value: 2 }]).toContainEqual(await answer(at, "killed"));
    }
    expect(build(at).status).toBe(0);
    expect(await answer(at, "killed")).toEqual({ value: 2 });
  });
});
