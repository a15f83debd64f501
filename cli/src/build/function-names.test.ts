import { build } from "esbuild";
import { expect, test } from "vitest";
import { withFunctionNames } from "./function-names.ts";

test("names of functions that a bundle has shortened stand in its map, unless one stands for several", async () => {
  const contents = `
    function deeplyNamed() { throw new Error("boom") }
    const arrow = (value) => { function inner() { return deeplyNamed() } return inner() + value };
    const other = async (value) => { function otherInner() { return deeplyNamed() } return otherInner() + value };
    export default [deeplyNamed, arrow, other];
  `;
  const { outputFiles } = await build({
    stdin: { contents },
    bundle: true,
    minify: true,
    format: "esm",
    sourcemap: "external",
    outfile: "out.js",
    write: false,
  });
  const [map = "", code = ""] = ["out.js.map", "out.js"].map(
    (name) => outputFiles.find(({ path }) => path.endsWith(name))?.text,
  );
  const { x_functions: names, mappings } = JSON.parse(withFunctionNames(map, code));
  expect(mappings).toBe(JSON.parse(map).mappings);
  expect(Object.values(names).sort()).toEqual(expect.arrayContaining(["arrow", "deeplyNamed", "other"]));
  for (const short of Object.keys(names)) expect(code).toMatch(new RegExp(`\\b${short.replace(/\$/g, "\\$")}\\b`));
  // Nothing is said of a bundle that is as it was written.
  expect(JSON.parse(withFunctionNames(map, "")).x_functions).toEqual({});
});
