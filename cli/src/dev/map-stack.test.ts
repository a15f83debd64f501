import { build } from "esbuild";
import { expect, test } from "vitest";
import { mapStack, type RawSourceMap } from "./map-stack.ts";

const source = `import { check } from "./check.ts";
export const read = (text: string): string => {
  return check(text);
};
`;
const check = `export function check(text: string): string {
  interface Unused {}
  if (text === "") throw new RangeError("empty");
  return text;
}
`;

test("finds the places in the sources, and shows the lines around the first of the user's own", async () => {
  const files: Record<string, string> = { "/p/src/handler.ts": source, "/p/src/check.ts": check };
  const { outputFiles } = await build({
    entryPoints: ["/p/src/handler.ts"],
    bundle: true,
    write: false,
    sourcemap: "external",
    format: "esm",
    outfile: "/p/.tenon/build/p.js",
    plugins: [
      {
        name: "memory",
        setup({ onResolve, onLoad }) {
          onResolve({ filter: /./ }, ({ path }) => ({
            path: path.startsWith("./") ? `/p/src/${path.slice(2)}` : path,
          }));
          onLoad({ filter: /./ }, ({ path }) => ({ contents: files[path] ?? "", loader: "ts" }));
        },
      },
    ],
  });
  const map = JSON.parse(outputFiles[0]?.text ?? "") as RawSourceMap;
  const code = outputFiles[1]?.text ?? "";
  const place = (text: string) => {
    const before = code.slice(0, code.indexOf(text)).split("\n");
    return `${before.length}:${(before.at(-1)?.length ?? 0) + 1}`;
  };
  const stack = [
    'Uncaught exception in handler "read"',
    "RangeError: empty",
    `check@p.js:${place("new RangeError")}`,
    `read@p.js:${place("check(text);")}`,
    `    at read (p.js:${place("check(text);")})`,
    `    at <anonymous> (p.js:${place("check(text);")})`,
    "    at apply (native)",
    "export_handler$handle@/__bindings.js:380:36",
    "nowhere@p.js:9999:1",
  ];
  expect(mapStack(stack.join("\n"), map).split("\n")).toEqual([
    'Uncaught exception in handler "read"',
    "RangeError: empty",
    "",
    "src/check.ts:3:26",
    "     1 | export function check(text: string): string {",
    "     2 |   interface Unused {}",
    '>    3 |   if (text === "") throw new RangeError("empty");',
    "     4 |   return text;",
    "     5 | }",
    "",
    "    at check (src/check.ts:3:26)",
    "    at read (src/handler.ts:3:10)",
    "    at read (src/handler.ts:3:10)",
    "    at (src/handler.ts:3:10)",
    "    at apply (native)",
    "export_handler$handle@/__bindings.js:380:36",
    "nowhere@p.js:9999:1",
  ]);
});

test("shows the paths of files outside of the project with the way to them", () => {
  // One segment for each source: the first position of lines 1 to 3.
  const map = (sources: readonly string[]): RawSourceMap => ({ sources, mappings: "AAAA;ACAA;ACAA" });
  const stack = "    at a (p.js:1:1)\n    at b (p.js:2:1)\n    at c (p.js:3:1)";
  const sources = ["../../../src/a.ts", "../../../../shared/src/b.ts", "../../../tenon-entry"];
  expect(mapStack(stack, map(sources))).toBe(
    "    at a (src/a.ts:1:1)\n    at b (../shared/src/b.ts:1:1)\n    at c (tenon-entry:1:1)",
  );
  expect(mapStack(stack, map([...sources.slice(0, 2), "../x.ts"]))).toContain("at b (shared/src/b.ts:1:1)");
});
