import { expect, test } from "vitest";
import { circleThrough } from "./import-circle.ts";

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
