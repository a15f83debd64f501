/** Probes in sources: where they are, and the code that has them, which does what it did. */
import { transform } from "esbuild";
import { expect, test } from "vitest";
import { expressionsOf, placeOf, probed } from "./probes.ts";

const source = `import { a } from "a";
const top = 1;
export const one = (n: number) => n + top;
export function two(list: readonly number[]): number {
  "use strict";
  let sum = 0;
  for (const each of list) sum += each;
  if (sum > 10) return sum;
  else if (sum > 5) {
    return 5;
  }
  switch (sum) {
    case 1:
      sum = 100;
      break;
    default:
  }
  const object = () => ({ sum });
  return object().sum;
}
`;

interface Ran {
  readonly lines: readonly number[];
  readonly values: readonly (readonly unknown[])[];
  readonly result: unknown;
}

/** Runs a probed text as a function body. */
async function run(text: string, call: string): Promise<Ran> {
  const { code } = await transform(text, { loader: "ts", format: "cjs", target: "es2023" });
  const lines: number[] = [];
  const values: unknown[][] = [];
  const until = {
    line: (line: number) => lines.push(line),
    values: (all: [string, () => unknown][]) => values.push(all.map(([, value]) => value())),
  };
  const module = { exports: {} };
  const load = (name: string) => (name === "tenon-entry:until.js" ? until : { a: 1 });
  new Function("require", "module", "exports", code)(load, module, module.exports);
  const result = new Function("made", `return made.${call}`)(module.exports);
  return { lines, values, result };
}

const at = (line: number, print = "") =>
  probed("a.ts", source, { file: "a.ts", line }, print === "" ? [] : expressionsOf(print));

test("probes count lines, keep values at one of them, and change no result", async () => {
  expect(await run(at(3, "n, n + top").text, "one(2)")).toEqual({ lines: [3], values: [[2, 3]], result: 3 });
  expect(await run(at(7, "sum").text, "two([4])")).toEqual({
    lines: [6, 7, 7, 8, 9, 12, 18, 19, 18],
    values: [[0]],
    result: 4,
  });
  const loop = at(8, "sum, list.length");
  expect(await run(loop.text, "two([4, 5, 6])")).toEqual({
    lines: [6, 7, 7, 7, 7, 8, 8],
    values: [[15, 3]],
    result: 15,
  });
  expect(await run(loop.text, "two([6])")).toMatchObject({ lines: [6, 7, 7, 8, 9, 10], result: 5 });
  expect(await run(loop.text, "two([1])")).toMatchObject({
    lines: [6, 7, 7, 8, 9, 12, 14, 15, 18, 19, 18],
    result: 100,
  });
});

test("the statement is the first at or after the line", () => {
  expect([1, 4, 5, 7, 11, 17, 19].map((line) => at(line).line)).toEqual([3, 6, 6, 7, 12, 18, 19]);
  expect(() => at(20)).toThrow("no statement of a function begins at line 20 of a.ts or after it");
  expect(() => at(99)).toThrow("a.ts has 21 lines, no line 99");
  // Lines stay, for the source map.
  expect(at(7).text.split("\n")).toHaveLength(source.split("\n").length);
});

test("places and expressions are parsed", () => {
  expect(placeOf("src/a.ts:41")).toEqual({ file: "src/a.ts", line: 41 });
  expect(placeOf("src/a.ts:41:7")).toEqual({ file: "src/a.ts", line: 41 });
  for (const text of ["src/a.ts", "a.ts:0", ":3", "a.ts:x"]) expect(() => placeOf(text)).toThrow("--until must be");
  expect(expressionsOf("a, b.c[0], f(1, 2), { d } , `x,y`")).toEqual(["a", "b.c[0]", "f(1, 2)", "{ d }", "`x,y`"]);
  for (const [list, why] of [
    ["a b", "Expected"],
    ["a,,b", "a comma"],
    ["...a", "a comma"],
    ["a], [b", "a], [b is none"],
    ["a)", "Expected"],
    ["a = 1", "an assignment"],
    ["f(i++)", "an assignment"],
    ["await a", "an await"],
    ["", "there is none"],
  ] as const) {
    expect(() => expressionsOf(list), list).toThrow(why);
  }
});
