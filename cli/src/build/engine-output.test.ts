import { expect, test } from "vitest";
import { failureIn, rejectionIn } from "./engine-output.ts";

const stackOf = (message: string, ...frames: string[]) =>
  `Promise rejected but never handled: ${message}\nStack:\n${frames.map((frame) => `  ${frame}\n`).join("")}`;
const thrown = (text: string, ...rejections: string[]) =>
  `Exception while evaluating top-level script\n${text}\nAdditionally, some promises were rejected, but the rejection never handled:\n${rejections.join("\n")}`.trim();

test.each([
  [
    "an error",
    thrown("app.js:9:7 TypeError: no\napp.js:9:7 way", stackOf("no\nway", "f@app.js:9:7", "@app.js:20:1")),
    { reason: "TypeError: no\nway", frames: ["9:7", "20:1"] },
  ],
  [
    "an error in a folder, as componentize-js says it",
    thrown("my project/app.js:9:7 Error: no", stackOf("no", "f@my project/app.js:9:7")),
    { reason: "Error: no", frames: ["9:7"] },
  ],
  [
    "an error besides others",
    thrown("app.js:9:7 Error: t", stackOf("u", "@app.js:8:1"), stackOf("t", "f@app.js:9:7", "@app.js:10:2")),
    { reason: "Error: t", frames: ["9:7", "10:2"] },
  ],
  [
    "an error without a place of its own",
    thrown("AggregateError: none", stackOf("u", "@app.js:8:1"), stackOf("none", "Promise.any*@app.js:7:15")),
    { reason: "AggregateError: none", frames: ["7:15"] },
  ],
  [
    "a string, after other words",
    `Error: said\napp.js:3:4 said\n${thrown("uncaught exception: a string", stackOf('"a string"'))}`,
    { reason: "uncaught exception: a string", frames: [] },
  ],
  [
    "a rejected promise, while another is awaited",
    `${stackOf("u", "@app.js:8:1")}\n/__bindings.js:422:5 Error: "handler.js" does not export a "handler" interface as expected by the world.`,
    { reason: "it rejects a promise that nobody handles: u", frames: ["8:1"] },
  ],
  [
    "a promise that is awaited for ever",
    'Error: "source.js" does not export a "handler" interface as expected by the world.\n  Try defining it by its alias:',
    { reason: "it waits for something that never comes", frames: [] },
  ],
  [
    "an error of QuickJS",
    "said\nException while evaluating top-level script\nTypeError: no\nway\n    at f (app.js:9:7)\n    at map (native)\n    at <anonymous> (app.js:20:1)\nPromise rejected but never handled: Error: u\nStack:\n    at g (app.js:8:1)\n",
    { reason: "TypeError: no\nway", frames: ["9:7", "20:1"] },
  ],
  [
    "a rejected promise of QuickJS",
    "Promise rejected but never handled: Error: u\nStack:\n    at g (app.js:8:1)\n    at <anonymous> (app.js:9:1)\n",
    { reason: "it rejects a promise that nobody handles: Error: u", frames: ["8:1", "9:1"] },
  ],
  [
    "a promise that QuickJS waits for",
    "The top level waits for something that never comes\n",
    { reason: "it waits for something that never comes", frames: [] },
  ],
  ["anything else", "wasm trap: unreachable", { reason: "wasm trap: unreachable", frames: [] }],
])("%s", (_what, output, expected) => {
  const { reason, frames } = failureIn(output, "app.js");
  expect({ reason, frames: frames.map(({ line, column }) => `${line}:${column}`) }).toEqual(expected);
});

test("of what is said when all went well, only a rejected promise is a failure", () => {
  expect(rejectionIn("Error: said\nPromise rejected but never handled: said\n", "app.js")).toBeUndefined();
  const output = `said\n${stackOf("first", "f@app.js:8:1", "async*@app.js:12:3")}\n${stackOf("second", "@app.js:9:1")}`;
  expect(rejectionIn(output, "app.js")).toEqual({
    reason: "it rejects a promise that nobody handles: first",
    frames: [
      { line: 8, column: 1 },
      { line: 12, column: 3 },
    ],
  });
});
