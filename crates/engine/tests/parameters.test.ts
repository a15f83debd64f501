import { expect, test } from "vitest";
import { startEngine } from "../../../guest/testing/engine.ts";

/** Functions with default parameters, each called in the engine and here (FunctionDeclarationInstantiation, steps 27 and 28). */
const calls = [
  "((a, b = () => a) => { a = 2; return b(); })(1)",
  "((a, b = () => { a = 3; }) => { b(); return a; })(1)",
  "((a, b = (a = 5)) => a)(1)",
  "((a, b = () => a) => { var a = 2; return [a, b()]; })(1)",
  "((a, b = () => a) => { var a; return [a, b()]; })(1)",
  "(function (a, b = () => a) { function a() {} return [typeof a, b()]; })(1)",
  "(function (a, b = () => a) { { function a() {} } return typeof b(); })(1)",
  "((a, b = () => a) => { const c = () => a; a = 4; return [c(), b()]; })(1)",
  "(({ a }, b = () => a) => { a = 2; return b(); })({ a: 1 })",
  "(({ a }, b = () => a) => { var a = 2; return [a, b()]; })({ a: 1 })",
  "(([a = 0], b = () => a) => { a++; return b(); })([1])",
  "((b = () => a, { a }) => { a = 2; return b(); })(undefined, { a: 1 })",
  "((b = () => a, ...a) => { a = 7; return b(); })(undefined, 2)",
  "((a = 1, b = () => a) => { a++; return [a, b()]; })()",
  "(function (a, b = 2) { a = 9; return [arguments[0], arguments.length]; })(1)",
  "((a, b = 1) => { a = 2; return eval('a'); })(1)",
  "((a, b = 1) => { a = 2; return (() => eval('a'))(); })(1)",
  "[0, 1, 2].map((i) => ((a, b = () => a) => { a += 10; return b; })(i)).map((f) => f())",
  "[...(function* (a, b = () => a) { a++; yield b(); a++; yield b(); })(1)]",
  "((a, b = () => a) => { a += 1; a++; [a] = [a * 2]; return b(); })(1)",
  "((a, b = () => a) => { try { throw 3; } catch (a) { a = 4; } return [a, b()]; })(1)",
  "((a, b = () => a) => { { let a = 9; } a = 2; return b(); })(1)",
  "((a = b, b = 1) => a)",
  "(async (a, b = () => a) => { a = 2; await null; a++; return b(); })(1)",
];

test.each(calls)("%s", async (call) => {
  const engine = startEngine(
    new URL("../engine.wasm", import.meta.url),
    `import { utf8Encode } from "tenon:engine";
export const handler = { handle: async () => ({ status: 200, headers: [], body: utf8Encode(String(await ${call})) }) };`,
  );
  const { status, body } = engine.handle({});
  expect([status, engine.printed()]).toEqual([200, ""]);
  // biome-ignore lint/security/noGlobalEval: it is the call above.
  expect(new TextDecoder().decode(body)).toBe(String(await globalThis.eval(call)));
});
