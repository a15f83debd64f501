/** Modules whose text a program has: their values, and the imports that they may have. */
import { expect, test } from "vitest";
import { startEngine } from "../../../guest/testing/engine.ts";

/** Evaluates a module that may import `tools`, in an engine of its own, and returns what it exports as default, or what it throws. */
function evaluate(source: string): { readonly value?: string; readonly thrown?: string } {
  const engine = startEngine(
    new URL("../engine.wasm", import.meta.url),
    `import { evaluate, utf8Decode, utf8Encode } from "tenon:engine";
export const handler = {
  async handle({ body }) {
    let result;
    try {
      const tools = { __proto__: null, tools: { one: 1, default: "all" } };
      const [evaluated, namespace] = evaluate(utf8Decode(body), "script.js", tools);
      await evaluated;
      result = { value: String(namespace.default), names: Object.keys(namespace) };
    } catch (error) {
      result = { thrown: String(error) };
    }
    return { status: 200, headers: [], body: utf8Encode(JSON.stringify(result)) };
  },
};`,
  );
  return JSON.parse(new TextDecoder().decode(engine.handle({ body: new TextEncoder().encode(source) }).body));
}

test.each([
  ["1 + 1", "2"],
  ["const a = await 5; a; ;", "5"],
  ["if (true) { 'yes'; } else { 'no'; }", "yes"],
  ["for (let i = 0; i < 3; i++) i", "2"],
  ["switch (1) { case 1: 'one' }", "one"],
  ["try { 1 } finally { 2 }", "1"],
  ["label: { 3; break label; }", "3"],
  ["using x = { [Symbol.dispose]() {} }; 7", "7"],
  ["let x = 1;", "undefined"],
  ["function f() {}", "undefined"],
  ["", "undefined"],
  ["1; export default 2; 3", "2"],
  ["const x = 4; export { x as default }; 3", "4"],
  ["export default function () {} 5", "function () {}"],
  ["import all, { one } from 'tools'; all + one", "all1"],
  ["(await import('tools')).one", "1"],
  ["eval('6')", "6"],
  ["5; export const named = 1;", "5"],
])("the value of %s", (source, value) => {
  expect(evaluate(source)).toMatchObject({ value });
});

test.each(["tenon:engine", "handler.js", "script.js", "given:tools", "./tools", "fs", "toString", "__proto__"])(
  "%s cannot be imported",
  (name) => {
    const thrown = `SyntaxError: "${name}" cannot be imported: a script imports its tools only`;
    expect(evaluate(`import * as all from "${name}"; all`)).toEqual({ thrown });
    expect(evaluate(`export * from "${name}"`)).toEqual({ thrown });
    expect(evaluate(`await import("${name}").catch(String)`)).toMatchObject({ value: thrown });
    expect(evaluate(`eval('import("${name}")').catch(String)`).value ?? "").toBe("[object Promise]");
  },
);

test("a name that a module does not export is an error", () => {
  expect(evaluate("import { two } from 'tools'; two")).toMatchObject({ thrown: expect.stringContaining("two") });
});
