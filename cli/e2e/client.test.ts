/** A client generated from the OpenAPI document, against the server it describes. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
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

test("the example compiles, and gets typed answers", () => {
  node("typescript/bin/tsc", "--outDir", join(client, "dist"));
  const output = execFileSync(process.execPath, [join(client, "dist/main.js"), running.base], { encoding: "utf8" });
  expect(JSON.parse(output)).toEqual({
    users: ["4 User 4", "5 User 5", "6 User 6"],
    added: { id: 51, name: "Ada" },
    location: "/users/51",
    why: "name must not be empty",
    wrong: 400,
    removed: 204,
  });
});

test("the types of every feature compile", () => {
  const types = join(scratch, "every.ts");
  generate(join(everyProject, "openapi.json"), types);
  node("typescript/bin/tsc", "--noEmit", "--strict", types);
  const text = readFileSync(types, "utf8");
  expect(text).toContain('colour?: "red" | "green" | "dark blue" | null;');
  expect(text).toContain('origin?: (components["schemas"]["Address"] | (null)) | null;');
});
