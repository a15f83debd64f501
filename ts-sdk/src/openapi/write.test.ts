import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, afterEach, beforeAll, expect, it, vi } from "vitest";
import { get, ok, routes } from "../index.ts";
import { json, workspaceFolders, writeSchema, writeTo } from "./index.ts";

const HANDLER = `import { get, ok, routes } from "@tenon/sdk";
export default routes({
  /** The index. */
  index: get("/", () => ok({ service: "demo" })),
});
`;
const manifest = { name: "demo", version: "0.2.0" };

// Inside the clone, where handlers find the SDK.
const scratch = fileURLToPath(new URL("../../.tenon/", import.meta.url));
let folder: string;
beforeAll(() => {
  mkdirSync(scratch, { recursive: true });
  folder = mkdtempSync(join(scratch, "write-"));
  project("demo", HANDLER);
});
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => vi.restoreAllMocks());

function project(name: string, handler: string, packageJson: object = manifest): string {
  const at = join(folder, name);
  mkdirSync(join(at, "src"), { recursive: true });
  mkdirSync(join(at, "test"));
  writeFileSync(join(at, "package.json"), JSON.stringify(packageJson));
  writeFileSync(join(at, "src/handler.ts"), handler);
  return at;
}

const summary = (text: string) => JSON.parse(text).paths["/"].get.summary;
const app = routes({ index: get("/", () => ok({ service: "demo" })) });

it("writes the document of the package that the file is in, a path or a URL", () => {
  const path = join(folder, "demo/openapi.json");
  expect(writeTo(path)).toEqual({ path, bytes: statSync(path).size });
  const text = readFileSync(path, "utf8");
  expect(summary(text)).toBe("The index.");
  expect(text).toBe(json(app, manifest, { source: join(folder, "demo/src/handler.ts") }));
  expect(text).toBe(json(app, manifest, { source: pathToFileURL(join(folder, "demo/src/handler.ts")) }));
  expect(writeTo(pathToFileURL(join(folder, "demo/test/copy.json"))).bytes).toBe(statSync(path).size);
});

it("takes the working directory's package for a file elsewhere", () => {
  vi.spyOn(process, "cwd").mockReturnValue(join(folder, "demo/test"));
  writeTo(join(folder, "elsewhere.json"));
  expect(summary(readFileSync(join(folder, "elsewhere.json"), "utf8"))).toBe("The index.");
  // And json() reads its comments, if it is the package that the manifest names.
  expect(summary(json(app, manifest))).toBe("The index.");
  expect(summary(json(app, { name: "other" }))).toBeUndefined();
});

it("finds a package by its name in the workspace, too", () => {
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify({ name: "all", workspaces: { packages: ["dem*", "gone"] } }),
  );
  vi.spyOn(process, "cwd").mockReturnValue(folder);
  expect(workspaceFolders(folder)).toEqual([folder, join(folder, "demo")]);
  expect(summary(json(app, manifest))).toBe("The index.");
  expect(summary(json(app, { name: "other" }))).toBeUndefined();
  writeFileSync(join(folder, "package.json"), "{");
  expect(() => workspaceFolders(folder)).toThrow(/^package\.json: /);
  rmSync(join(folder, "package.json"));
});

it("writes openapi.json beside package.json and prints its size, for the test of a project", () => {
  const printed = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  const { path, bytes } = writeSchema(join(folder, "demo/test/handler.test.ts"));
  expect(path).toBe(join(folder, "demo/openapi.json"));
  expect(printed).toHaveBeenCalledExactlyOnceWith(`openapi.json was generated: ${bytes} bytes\n`);
});

it.each([
  ["no-name", HANDLER, {}, /package\.json has no "name"/],
  ["syntax", "export default (", manifest, /src\/handler\.ts:1:17: Unexpected end of file/],
  ["throws", "throw new RangeError('too much'); export default 1;", manifest, /top level failed: RangeError: too much/],
  ["no-app", "export default 1;", manifest, /the default export is not what routes\(\) gives/],
  ["node", 'import fs from "node:fs"; export default fs;', manifest, /"node:fs" is not part of a handler/],
])("says what is wrong: %s", (name, handler, packageJson, message) => {
  expect(() => writeTo(join(project(name, handler, packageJson), "openapi.json"))).toThrow(message);
});

it("says that there is no package", () => {
  vi.spyOn(process, "cwd").mockReturnValue("/");
  expect(() => writeTo("/nowhere/openapi.json")).toThrow("there is no package.json with a src/handler.ts beside it");
  expect(() => writeSchema("/nowhere/x.test.ts")).toThrow("is in no package with a src/handler.ts");
});
