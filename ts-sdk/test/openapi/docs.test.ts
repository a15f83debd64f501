/** Checks the examples of docs/openapi.md. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { packageJson } from "../../src/openapi/index.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const page = readFileSync(join(root, "../docs/openapi.md"), "utf8");
const [users = "", handler = "", program = ""] = [...page.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(
  ([, code]) => code,
);

let folder: string;
beforeAll(() => {
  mkdirSync(join(root, ".tenon"), { recursive: true });
  folder = mkdtempSync(join(root, ".tenon/docs-"));
  mkdirSync(join(folder, "src"));
  mkdirSync(join(folder, "test"));
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify({ name: "demo", version: "1.0.0", description: "A demo." }),
  );
  writeFileSync(join(folder, "src/users.ts"), users);
  writeFileSync(join(folder, "src/handler.ts"), handler);
  writeFileSync(join(folder, "test/program.ts"), `${program}\nexport { bytes, path, text };\n`);
});
afterAll(() => rmSync(folder, { recursive: true }));

it("reads the comments of the example", () => {
  expect(JSON.parse(packageJson(folder)).paths).toMatchObject({
    "/": { get: { summary: "The service's banner.", operationId: "demo.index", tags: ["Demo"] } },
    "/users": {
      get: {
        summary: "List users.",
        description: "The text after the first paragraph is the description, in Markdown.",
        tags: ["Users"],
      },
    },
  });
});

it("runs the program of the example", async () => {
  const outfile = join(folder, "test/program.mjs");
  const entryPoints = [join(folder, "test/program.ts")];
  await build({ entryPoints, outfile, bundle: true, format: "esm", platform: "node", packages: "external" });
  const cwd = vi.spyOn(process, "cwd").mockReturnValue(folder);
  const result = await import(/* @vite-ignore */ pathToFileURL(outfile).href);
  cwd.mockRestore();
  expect({ ...result }).toEqual({
    text: packageJson(folder),
    path: join(folder, "openapi.json"),
    bytes: statSync(join(folder, "openapi.json")).size,
  });
});
