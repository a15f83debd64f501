/** `tenon schema`, in a package and in a workspace. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { helloProject, root, tenon } from "./servers.ts";

let folder: string;
beforeAll(async () => {
  // Inside the clone, where handlers find the SDK.
  const scratch = join(root, "cli/e2e/.tenon");
  await mkdir(scratch, { recursive: true });
  folder = await mkdtemp(join(scratch, "schema-"));
});
afterAll(() => rm(folder, { recursive: true }));

const run = (args: string[], cwd: string) => spawnSync(process.execPath, [tenon, ...args], { cwd, encoding: "utf8" });

async function files(at: string, contents: Record<string, string>): Promise<string> {
  for (const [name, text] of Object.entries(contents)) {
    await mkdir(dirname(join(folder, at, name)), { recursive: true });
    await writeFile(join(folder, at, name), text);
  }
  return join(folder, at);
}

const handler = (path: string) =>
  `import { get, ok, routes } from "@tenon/sdk";\nexport default routes({ /** One. */ one: get("${path}", () => ok({})) });\n`;
const manifest = (name: string) => JSON.stringify({ name, version: "1.0.0" });

test("the committed document of examples/hello is what its routes say", () => {
  expect(run(["schema", "--check"], helloProject)).toMatchObject({ status: 0, stdout: "" });
});

describe("in a package", () => {
  test("what the top level prints is no part of the JSON, and its timers keep nobody waiting", async () => {
    const late = ["setTimeout", "setImmediate", "Promise.resolve().then"].map(
      (how) => `${how}(() => console.log("late"));`,
    );
    const noisy = `console.log("said at top level");\n${late.join("")}\nsetInterval(() => {}, 1000);\n${handler("/one")}`;
    const at = await files("noisy", { "package.json": `\ufeff${manifest("noisy")}`, "src/handler.ts": noisy });
    const { status, stdout, stderr } = run(["schema", "--json"], at);
    expect([status, JSON.parse(stdout)]).toEqual([0, [{ path: "openapi.json", bytes: expect.any(Number) }]]);
    expect(stderr).toContain("said at top level\n");
  });

  test("writes openapi.json beside package.json, from any folder in it", async () => {
    const at = await files("single", { "package.json": manifest("single"), "src/handler.ts": handler("/one") });
    const { status, stdout, stderr } = run(["schema", "--json"], join(at, "src"));
    const text = await readFile(join(at, "openapi.json"), "utf8");
    expect({ status, written: JSON.parse(stdout) }).toEqual({
      status: 0,
      written: [{ path: "../openapi.json", bytes: Buffer.byteLength(text) }],
    });
    expect(stderr).toContain(`Generate ../openapi.json (${Buffer.byteLength(text)} bytes)`);
    expect(JSON.parse(text)).toMatchObject({ openapi: "3.0.0", paths: { "/one": { get: { summary: "One." } } } });
  });

  test("--check writes nothing, and prints the difference", async () => {
    const at = await files("checked", { "package.json": manifest("checked"), "src/handler.ts": handler("/one") });
    const missing = run(["schema", "--check"], at);
    expect(missing).toMatchObject({ status: 1, stdout: expect.stringContaining('+  "openapi": "3.0.0",') });
    expect(existsSync(join(at, "openapi.json"))).toBe(false);

    expect(run(["schema"], at).status).toBe(0);
    expect(run(["schema", "--check"], at)).toMatchObject({ status: 0, stdout: "" });
    await writeFile(join(at, "src/handler.ts"), handler("/two"));
    const { status, stdout, stderr } = run(["schema", "--check"], at);
    expect(status).toBe(1);
    expect(stdout).toMatch(/^-\s+"\/one": \{$/m);
    const machine = run(["schema", "--check", "--json"], at);
    expect(machine.status).toBe(1);
    expect(JSON.parse(machine.stdout)).toEqual([{ path: "openapi.json", up_to_date: false, difference: stdout }]);
    expect(stdout).toMatch(/^\+\s+"\/two": \{$/m);
    expect(stderr).toContain("out of date: openapi.json");
    expect(stderr).toContain("hint: run `tenon schema` to write it anew");
  });

  test("--openapi 3.1 writes that version, and --check compares it", async () => {
    const at = await files("version", { "package.json": manifest("version"), "src/handler.ts": handler("/one") });
    expect(run(["schema", "--openapi", "3.1"], at).status).toBe(0);
    expect(JSON.parse(await readFile(join(at, "openapi.json"), "utf8"))).toMatchObject({ openapi: "3.1.0" });
    expect(run(["schema", "--check", "--openapi", "3.1"], at)).toMatchObject({ status: 0, stdout: "" });
    const { status, stdout } = run(["schema", "--check"], at);
    expect([status, stdout]).toEqual([1, expect.stringContaining('-  "openapi": "3.1.0",')]);
    const wrong = run(["schema", "--openapi", "2.0"], at);
    expect(wrong).toMatchObject({ status: 2, stderr: expect.stringContaining("3.0, 3.1") });
  });

  test("says what can't be expressed, and where there is nothing to express", async () => {
    const at = await files("wrong", { "package.json": manifest("wrong"), "src/handler.ts": "export default {};\n" });
    expect(run(["schema"], at)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("src/handler.ts: the default export is not the result of routes()"),
    });
    const nowhere = await files("nowhere", { "package.json": JSON.stringify({ name: "nowhere", workspaces: [] }) });
    expect(run(["schema"], nowhere)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("there is no package with a src/handler.ts in this folder or above it"),
    });
  });
});

test.each([
  ["broken", "{bad", /package\.json: .*JSON/],
  ["no-name", '{"version":"1"}', /package\.json has no "name"/],
  ["list", "[]", /package\.json is not a JSON object/],
  ["null", "null", /package\.json is not a JSON object/],
  ["version", '{"name":"p","version":1}', /package\.json: "version" is not a text but 1/],
])("names a package.json that is wrong: %s", async (name, text, message) => {
  const at = await files(`manifest-${name}`, { "package.json": text, "src/handler.ts": handler("/") });
  for (const args of [["schema"], ["schema", "-w"], ["schema", "--check"]]) {
    const { status, stderr } = run(args, at);
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringMatching(message) });
    expect(stderr).not.toMatch(/bug|^\s+at /m);
  }
});

test("a top level that awaits is run", async () => {
  const at = await files("awaits", {
    "package.json": manifest("awaits"),
    "src/handler.ts": `const path = await Promise.resolve("/one");\n${handler("/").replace('"/"', "path")}`,
  });
  expect(run(["schema"], at)).toMatchObject({ status: 0 });
  const text = await readFile(join(at, "openapi.json"), "utf8");
  expect(JSON.parse(text).paths["/one"].get.summary).toBe("One.");
});

test("in a workspace each package with routes writes its own", async () => {
  const at = await files("workspace", {
    "package.json": JSON.stringify({ name: "all", private: true, workspaces: ["apps/*", "lib", "!apps/left-out"] }),
    "apps/one/package.json": manifest("@acme/one"),
    "apps/one/src/handler.ts": handler("/one"),
    "apps/two/package.json": manifest("@acme/two"),
    "apps/two/src/handler.ts": handler("/two"),
    "apps/left-out/package.json": manifest("left-out"),
    "apps/left-out/src/handler.ts": handler("/out"),
    "lib/package.json": manifest("lib"),
    "lib/src/index.ts": "export {};\n",
  });
  const { status, stdout } = run(["schema", "--json", "-q"], at);
  expect(status).toBe(0);
  expect((JSON.parse(stdout) as { path: string }[]).map(({ path }) => path)).toEqual([
    "apps/one/openapi.json",
    "apps/two/openapi.json",
  ]);
  const two = JSON.parse(await readFile(join(at, "apps/two/openapi.json"), "utf8"));
  expect(two.paths["/two"].get.operationId).toBe("acme_two.one");
  expect(run(["schema", "--check"], at).status).toBe(0);

  // From within one of them: that one, or all.
  const inside = join(at, "apps/one");
  expect(JSON.parse(run(["schema", "--json"], inside).stdout)).toHaveLength(1);
  expect(JSON.parse(run(["schema", "--json", "-w"], inside).stdout)).toHaveLength(2);

  // From elsewhere in it: none, unless all are asked for.
  for (const elsewhere of ["lib", "lib/src", "apps"]) {
    expect(run(["schema"], join(at, elsewhere))).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/there is no package with a src\/handler\.ts in this folder[\s\S]*--workspaces/),
    });
    expect(JSON.parse(run(["schema", "--json", "-w"], join(at, elsewhere)).stdout)).toHaveLength(2);
  }
});
