import { expect, test } from "vitest";
import { withoutDocs } from "./strip-docs.ts";

/** Documentation is marked by M; what stays is not. */
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
    'const f = (a: number) => a; const common = { docs: "M", x_a: 1 } as const; field.string({ ...common, min: 1 }); field.string(common); const a = { ...b }; const b = { ...a, docs: "M" }; many(a)',
  ],
  ["docs by namespace", 'sdk.field.f64({ docs: "M" }); sdk.list(sdk.field.f64(), { docs: "M" })'],
  ["docs deep inside", 'Type("T", { a: Type("U", { b: field.string({ docs: "M" }).optional() }) })'],
])("leaves out %s, and moves nothing", (_what, text) => {
  const given = module(text);
  const stripped = withoutDocs("a.ts", given);
  expect(stripped).not.toContain("M");
  expect(stripped).toHaveLength(given.length);
  expect(stripped.split("\n")).toHaveLength(given.split("\n").length);
  expect(withoutDocs("a.ts", stripped)).toBe(stripped);
  for (const [kept] of given.matchAll(/kept|min: 1|max: 2|x_a: 1|default: true/g)) expect(stripped).toContain(kept);
});

test.each([
  ["another object's docs", 'const page = { docs: "/docs" }; open(page, { docs: "x" });'],
  ["another library's string", 'import { z } from "zod"; z.string({ docs: "x" });'],
  ["what does not parse", "/** x */ export default {"],
  ["a legal comment and an annotation", "/*! (c) */ const a = /* @__PURE__ */ make();"],
])("leaves %s alone", (_what, text) => expect(withoutDocs("a.ts", module(text))).toBe(module(text)));
