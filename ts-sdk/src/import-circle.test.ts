import { expect, test } from "vitest";
import { circleOf, circleThrough } from "./import-circle.ts";

const imports = new Map([
  ["src/handler.ts", ["src/a.ts"]],
  ["src/a.ts", ["src/b.ts", "src/c.ts"]],
  ["src/b.ts", ["src/d.ts"]],
  ["src/c.ts", ["src/a.ts"]],
  ["src/d.ts", ["src/b.ts", "src/d.ts"]],
]);

test.each([
  ["src/a.ts", ["src/a.ts", "src/c.ts"]],
  ["src/c.ts", ["src/c.ts", "src/a.ts"]],
  ["src/b.ts", ["src/b.ts", "src/d.ts"]],
  ["src/d.ts", ["src/d.ts"]],
  ["src/handler.ts", undefined],
])("the circle of imports through %s", (file, circle) => {
  expect(circleThrough(file, imports)).toEqual(circle);
});

test.each([
  ["list: the first argument is undefined", "src/c.ts", "; src/c.ts and src/a.ts import each other"],
  ["list: the first argument is undefined", "src/d.ts", "; src/d.ts imports itself"],
  ["list: the first argument is undefined", "src/handler.ts", ""],
  ["list: the first argument must be a schema", "src/c.ts", ""],
])("the end of the error %j in %s", (reason, file, end) => {
  expect(circleOf(reason, file, imports)).toBe(end);
});
