import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SdkNames } from "./sdk-names.ts";
import { withoutDocs } from "./strip-docs.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tenon-strip-"));
  const files = {
    "passes-on.ts":
      'export { field, list as many } from "@tenon/sdk"; export * from "./ring.ts"; export * as all from "./whole.ts";',
    "ring.ts": 'export * from "./passes-on.ts"; import * as whole from "./whole.ts"; export { whole };',
    "whole.ts": 'export * from "@tenon/sdk"; import { list } from "@tenon/sdk"; export { list as listed };',
    "store.ts": "export function list(of: { docs: string }) { return of.docs; } export const field = { string: list };",
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
});
afterAll(() => rm(folder, { recursive: true }));

const strip = (file: string, text: string) =>
  withoutDocs(
    file,
    text,
    new SdkNames(async (specifier) => (specifier.startsWith("./") ? join(folder, specifier) : undefined)),
  );

/** M marks documentation; the rest stays. */
const module = (text: string) =>
  `import { field, list as many, Type } from "@tenon/sdk";\nimport * as sdk from "@tenon/sdk";\n${text}`;

test.each([
  ["doc comments", 'export default { /** M\n * M */ a: 1, /* kept */ b: "/** kept */" }; // kept'],
  ["docs of a field", 'field.string({ min: 1, docs: "M", max: 2 })'],
  ["docs alone, last, quoted", 'many(field.u32({ docs: "M" }), { min: 1, "docs": `M` })'],
  ["docs after words", 'field.enum("a", "b", { docs: "M" })'],
  ["docs over lines", 'field.bool({\n  docs:\n    "M" +\n    "M", /** M */\n  default: true })'],
  [
    "docs by name",
    'const f = (n: number) => n; const common = { docs: "M", x_a: 1 } as const; field.string({ ...common, min: 1 }); field.string(common); const a = { ...b }; const b = { ...a, docs: "M" }; many(a)',
  ],
  ["docs of any JSON and of records", 'sdk.record(field.json({ docs: "M" }), { docs: "M", max: 3 })'],
  ["docs by namespace", 'sdk.field.f64({ docs: "M" }); sdk.list(sdk.field.f64(), { docs: "M" })'],
  [
    "docs by aliases",
    "const { string: text, ...rest } = field; const u = field.u32; const f = sdk.field; text({ docs: 'M' }); u({ docs: 'M' }); f.bool({ docs: 'M' })",
  ],
  [
    "docs through other modules",
    'import { field as passed, many as list2, all, whole } from "./passes-on.ts"; passed.string({ docs: "M" }); list2(a, { docs: "M" }); all.field.u32({ docs: "M" }); whole.listed(a, { docs: "M" })',
  ],
  [
    "docs of a choice",
    'field.string(wide ? { docs: "M" } : { ["docs"]: "M", min: 1 }); field.u32(given ?? { docs: "M" })',
  ],
  ["docs where types are", 'const c = { docs: "M" } as const; type C = typeof c; field.string(c satisfies C)'],
  ["docs deep inside", 'Type("T", { a: Type("U", { b: field.string({ docs: "M" }).optional() }) })'],
])("leaves out %s, and moves nothing", async (_what, text) => {
  const given = module(text);
  const stripped = await strip("a.ts", given);
  expect(stripped).not.toContain("M");
  expect(stripped).toHaveLength(given.length);
  expect(stripped.split("\n")).toHaveLength(given.split("\n").length);
  expect(await strip("a.ts", stripped)).toBe(stripped);
  for (const [kept] of given.matchAll(/kept|min: 1|max: 2|x_a: 1|default: true/g)) expect(stripped).toContain(kept);
});

test.each([
  ["another object's docs", 'const page = { docs: "/docs" }; open(page, { docs: "x" });'],
  ["another library's string", 'import { z } from "zod"; z.string({ docs: "x" });'],
  [
    "a function of the same name",
    'import { list, field as own } from "./store.ts"; list({ docs: "x" }); own.string({ docs: "x" });',
  ],
  ["a name that is not the import everywhere", 'function open(field: Store) { field.string({ docs: "x" }); }'],
  ["a constant that is also read", 'const a = { docs: "x" }; const b = { ...a }; field.string(b); show(b.docs);'],
  ["a constant that is exported", 'const a = { docs: "x" }; field.string(a); export { a };'],
  ["what does not parse", "/** x */ export default {"],
  ["a legal comment and an annotation", "/*! (c) */ const a = /* @__PURE__ */ make();"],
])("leaves %s alone", async (_what, text) => expect(await strip("a.ts", module(text))).toBe(module(text)));
