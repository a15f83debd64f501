/** Nothing that only the OpenAPI document needs is in a component: looked for in the bytes of a real build. */
import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { root, tenon } from "./servers.ts";

const HANDLER = `/** MARKER-module */
import { field, get, list, ok, Path, Query, routes, Type } from "@tenon/sdk";
import { more } from "./more.ts";

/** MARKER-type */
const User = Type("User", {
  /** MARKER-field */
  id: field.u32({ docs: "MARKER-docs", deprecated: true }),
  names: list(field.string({ max: 9, docs: "MARKER-item" }), { docs: \`MARKER-list\` }),
});
const common = { docs: "MARKER-common" };
const Page = Query("Page", { page: field.u32({ default: 1, ...common }) });

export default routes({
  /**
   * MARKER-summary
   *
   * MARKER-description
   */
  index: get("/", { response: User, query: Page }, () => ok({ id: 1, names: ["KEPT-value"] })),
  ...more,
});
`;

const MORE = `import { field, get, ok, Path } from "@tenon/sdk";
const Id = Path("Id", { id: field.string({ docs: "MARKER-path" }) });
export const more = {
  /** MARKER-imported */
  one: get("/{id}", { path: Id }, ({ path }) => ok({ kept: "KEPT-" + path.id })),
};
`;

/** Texts that only the generator contains. */
const GENERATOR = ["RFC 7807", "WASI Preview 2 compliant", "#/components/schemas", "oxc-parser", "operationId"];

let folder: string;
beforeAll(async () => {
  const scratch = join(root, "cli/e2e/.tenon");
  await mkdir(scratch, { recursive: true });
  folder = await mkdtemp(join(scratch, "schema-free-"));
  await mkdir(join(folder, "src"));
  await writeFile(join(folder, "tenon.toml"), '[project]\nname = "marked"\n');
  const manifest = { name: "marked", version: "1.0.0", description: "MARKER-package" };
  await writeFile(join(folder, "package.json"), JSON.stringify(manifest));
  await writeFile(join(folder, "src/handler.ts"), HANDLER);
  await writeFile(join(folder, "src/more.ts"), MORE);
});
afterAll(() => rm(folder, { recursive: true }));

/** The engine keeps texts in one byte a character or in two. */
const holds = (bytes: Buffer, text: string) => bytes.includes(text) || bytes.includes(Buffer.from(text, "utf16le"));

test.each([[["build"]], [["build", "--release", "--compose"]]])("tenon %j", async (args) => {
  const { status, stderr } = spawnSync(process.execPath, [tenon, ...args], { cwd: folder, encoding: "utf8" });
  expect({ status, stderr }).toMatchObject({ status: 0 });
  const files = args.includes("--compose") ? ["marked.wasm", "marked-composed.wasm"] : ["marked.wasm"];
  for (const file of files) {
    const bytes = await readFile(join(folder, "dist", file));
    expect(holds(bytes, "KEPT-value")).toBe(true);
    expect(holds(bytes, "MARKER")).toBe(false);
    expect(GENERATOR.filter((text) => holds(bytes, text))).toEqual([]);
  }
});

test("and the document has all of it", () => {
  const { status } = spawnSync(process.execPath, [tenon, "schema"], { cwd: folder });
  expect(status).toBe(0);
  return expect(readFile(join(folder, "openapi.json"), "utf8")).resolves.toSatisfy((text: string) =>
    ["docs", "item", "list", "common", "summary", "description", "path", "imported", "package"].every((marker) =>
      text.includes(`MARKER-${marker}`),
    ),
  );
});
