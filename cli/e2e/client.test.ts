/** The clients of `examples/client`, against the server that they describe. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { chromium } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeWith } from "../../testing/needs.ts";
import { findProgram } from "../../testing/programs.ts";
import { everyProject, helloProject, type Running, root, startTenon } from "./servers.ts";

const client = join(root, "examples/client");
const scratch = join(root, "cli/e2e/.tenon/client");
const node = (file: string, ...args: string[]) =>
  execFileSync(process.execPath, [join(client, "node_modules", file), ...args], { cwd: client, encoding: "utf8" });
const generate = (document: string, output: string) =>
  node("openapi-typescript/bin/cli.js", document, "--output", output);

let running: Running;
beforeAll(async () => {
  mkdirSync(scratch, { recursive: true });
  running = await startTenon([join(helloProject, "dist/hello.wasm")], "hello");
});
afterAll(() => running.stop());

test.each([
  ["hello", "examples/client/src/api.ts"],
  ["shop", "examples/shop/test/api.ts"],
])("the types of %s's client are those of its document", (name, file) => {
  generate(join(root, "examples", name, "openapi.json"), join(scratch, `${name}.ts`));
  expect(readFileSync(join(root, file), "utf8")).toBe(readFileSync(join(scratch, `${name}.ts`), "utf8"));
});

/** The answers that each of the programs finds. */
const answers = {
  users: ["4 User 4", "5 User 5", "6 User 6"],
  added: { id: 51, name: "Ada" },
  location: "/users/51",
  why: "name must not be empty",
  wrong: 400,
  removed: 204,
};

test("both clients compile, and get the same typed answers", async () => {
  const built = join(scratch, "dist");
  node("typescript/bin/tsc", "--outDir", built);
  for (const program of ["main", "typed"]) {
    const file = join(built, "client/src", `${program}.js`);
    const output = execFileSync(process.execPath, [file, running.base], { encoding: "utf8" });
    expect(JSON.parse(output), program).toEqual(answers);
  }
});

describeWith("chromium", "a browser", () => {
  test("the typed client gets the same answers on a page", async () => {
    const { outputFiles } = await build({
      entryPoints: [join(client, "src/typed.ts")],
      bundle: true,
      format: "esm",
      write: false,
      define: { "process.argv": "globalThis.parameters", "process.stdout.write": "globalThis.found" },
    });
    const browser = await chromium.launch({
      executablePath: findProgram("chromium") as string,
      args: ["--no-sandbox"],
    });
    try {
      const page = await browser.newPage();
      const found = new Promise<string>((resolve) => void page.exposeFunction("found", resolve));
      // A page of the same origin.
      await page.goto(`${running.base}/`);
      await page.evaluate((base) => Object.assign(globalThis, { parameters: ["", "", base] }), running.base);
      await page.addScriptTag({ type: "module", content: outputFiles[0]?.text ?? "" });
      expect(JSON.parse(await found)).toEqual(answers);
    } finally {
      await browser.close();
    }
  });
});

test("a program with the typed client loads nothing of the app", async () => {
  const { metafile } = await build({
    entryPoints: [join(client, "src/typed.ts")],
    bundle: true,
    format: "esm",
    metafile: true,
    write: false,
  });
  const loaded = Object.keys(metafile.inputs).filter((file) => /examples\/hello|schema|routing|app\//.test(file));
  expect(loaded).toEqual([]);
});

test("the types of every feature compile", () => {
  const types = join(scratch, "every.ts");
  generate(join(everyProject, "openapi.json"), types);
  node("typescript/bin/tsc", "--noEmit", "--strict", types);
  const text = readFileSync(types, "utf8");
  expect(text).toContain('colour?: "red" | "green" | "dark blue";');
  expect(text).toContain('origin?: components["schemas"]["Address"];');
});
