/** Stacks name the places that other engines name: a call at the last name of its callee, `new` at itself, a property at its name. */
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { startEngine } from "../../../guest/testing/engine.ts";

const cases: readonly (readonly [name: string, code: string])[] = [
  ["a call with a call as its argument", "  here(id(2));"],
  ["a method in a chain of lines", "  object\n    .id(id(3))\n    .here(id(4), id(5));"],
  ["new", "  new   here(id(2));"],
  ["new without arguments", "  new   here;"],
  ["spread arguments", "  here(...[1], id(2));"],
  ["an optional call", "  object?.here(id(2));"],
  ["a tagged template", "  here`a`;"],
  ["a property of undefined", "  const empty = {};\n  empty\n    .a\n    .here;"],
  ["a method of undefined", "  const empty = {}; empty.a.here(id(1));"],
  ["a method that is none", "  const empty = {}; empty.here(id(1));"],
  ["a getter", "  id(1) + object.here;"],
];

test.each(cases)("%s", (name, code) => {
  const getter = name === "a getter";
  const source = `const here = function () { throw new Error("thrown"); };
const id = (value) => value;
const object = { id: () => object, ${getter ? "get here() { return here(); }" : "here"} };
function run() {
${code}
}
export const handler = {
  handle() {
    try { run(); } catch (error) { console.log(error.stack); }
    return { status: 204, headers: [] };
  },
};`;
  const engine = startEngine(new URL("../engine.wasm", import.meta.url), source);
  engine.handle({ path: "/" });
  const [, line, column] = /at run \(\S+?:(\d+):(\d+)\)/.exec(engine.printed()) ?? [];
  const lines = code.split("\n");
  const at = lines.findIndex((text) => text.includes("here"));
  const text = lines[at] as string;
  const within = text.includes("new ") ? text.indexOf("new ") : text.indexOf("here");
  expect([Number(line), Number(column)]).toEqual([at + 5, within + 1]);
});

/** `@` marks the place, which is the one that Node names. */
test.each([
  ["of undefined", 'const empty = {}; empty.a@["b"];'],
  ["of an element", 'const empty = {}; empty["a"]@[id("b")];'],
  ["of an optional chain", 'const empty = {}; empty?.["a"]@["b"];'],
  ["that is a getter", 'id(1) + object@["here"];'],
  ["that is called", 'object["there"]@(id(1));'],
  ["that is no function", 'object["nowhere"]@(id(1));'],
])("an element %s", (_name, marked) => {
  const code = marked.replace("@", "");
  const source = `function run() {
const id = (value) => value;
const object = { there() { throw new Error("thrown"); }, get here() { throw new Error("thrown"); } };
  ${code}
}`;
  const engine = startEngine(
    new URL("../engine.wasm", import.meta.url),
    `${source}
export const handler = {
  handle() {
    try { run(); } catch (error) { console.log(error.stack); }
    return { status: 204, headers: [] };
  },
};`,
  );
  engine.handle({ path: "/" });
  const place = (stack: string) => /at run \(\S+?:(\d+):(\d+)\)/.exec(stack)?.slice(1).map(Number);
  expect(place(engine.printed())).toEqual([4, marked.indexOf("@") + 3]);
  const stack = `try { run(); } catch (error) { error.stack; }`;
  expect(place(runInNewContext(`${source}\n${stack}`, {}, "file.js"))).toEqual([4, marked.indexOf("@") + 3]);
});

test("columns of the first line count from 1", () => {
  const source = `const f = () => { throw new Error("x"); }; export const handler = { handle() { try { f(1); } catch (error) { console.log(error.stack); } return { status: 204, headers: [] }; } };`;
  const engine = startEngine(new URL("../engine.wasm", import.meta.url), source);
  engine.handle({ path: "/" });
  const columns = [...engine.printed().matchAll(/:1:(\d+)\)/g)].slice(0, 2).map(([, column]) => Number(column));
  expect(columns).toEqual([source.indexOf("new Error") + 1, source.indexOf("f(1)") + 1]);
});

test("the async functions that wait for one are named behind it, as in Node", () => {
  const source = `const tick = () => new Promise((done) => queueMicrotask(done));
async function fails() { await tick(); throw new Error("thrown"); }
const passed = () => fails().then((value) => value);
async function outer() { return await passed(); }
async function* items() { yield await outer(); }
async function left() { await tick(); await outer(); }
async function forgotten() { await tick(); return new Error("apart").stack; }
async function run(all) {
  const stacks = [];
  for (const each of [outer, () => Promise.all([left()]), async () => { for await (const item of items()); }]) {
    await each().catch((error) => stacks.push(error.stack));
  }
  const alone = forgotten();
  await tick();
  stacks.push(await alone);
  Error.stackTraceLimit = 2;
  await left().catch((error) => stacks.push(error.stack));
  return stacks.map((stack) => stack.match(/at .*(?= \\()/g));
}
export const handler = {
  handle() {
    run().then((stacks) => console.log(JSON.stringify(stacks)));
    return { status: 204, headers: [] };
  },
};`;
  const engine = startEngine(new URL("../engine.wasm", import.meta.url), source);
  engine.handle({ path: "/" });
  expect(JSON.parse(engine.printed())).toEqual([
    ["at fails", "at async outer", "at async run"],
    // Nobody awaits a part of `Promise.all` directly.
    ["at fails", "at async outer", "at async left"],
    // Nor does an async generator have such a place.
    ["at fails", "at async outer"],
    ["at forgotten"],
    ["at fails", "at async outer"],
  ]);
});

test.each(["setTimeout", "setInterval"])("%s at top level is an exception there", (name) => {
  const start = () => startEngine(new URL("../engine.wasm", import.meta.url), `\n  ${name}(() => {}, 1);`);
  expect(start).toThrow(
    new RegExp(
      `^Exception while .*\\nError: ${name}\\(\\) works in a handler, not at top level\\n(?:.*\\n)+?.*:2:3\\)`,
    ),
  );
});
