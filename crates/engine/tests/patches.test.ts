import { expect, test } from "vitest";
import { startEngine } from "../../../guest/testing/engine.ts";

/** Evaluates an expression in the engine. */
function evaluate(expression: string): string {
  const engine = startEngine(
    new URL("../engine.wasm", import.meta.url),
    `import { utf8Encode } from "tenon:engine";
export const handler = { handle: async () => ({ status: 200, headers: [], body: utf8Encode(String(await (${expression}))) }) };`,
  );
  const { status, body } = engine.handle({});
  if (status !== 200) throw new Error(engine.printed());
  return new TextDecoder().decode(body);
}

test.each([
  ["Array.fromAsync, which is bytecode", "Array.fromAsync([1, Promise.resolve(2)], (each) => each * 2)", "2,4"],
  ["Iterator.zip, which is bytecode", "[...Iterator.zip([[1, 2], [3, 4]])].join(';')", "1,3;2,4"],
  ["Iterator.zipKeyed", "JSON.stringify([...Iterator.zipKeyed({ x: [1], y: [2] })])", '[{"x":1,"y":2}]'],
  ["the flags of an expression", "/a/dgimsuy.flags + /a/v.flags", "dgimsuyv"],
  ["Atomics", "((a) => [Atomics.add(a, 0, 3), Atomics.exchange(a, 0, 9), a[0]])(new Int32Array(1))", "0,3,9"],
  ["Atomics.notify wakes nobody", "Atomics.notify(new Int32Array(new SharedArrayBuffer(4)), 0)", "0"],
  [
    "Atomics.wait",
    "(async () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0))().catch((error) => error)",
    "TypeError: cannot block in this thread",
  ],
  [
    "a growing shared buffer",
    "((b) => { const a = new Uint8Array(b); a[0] = 7; b.grow(8); return [a.length, a[0], a[7]]; })(new SharedArrayBuffer(1, { maxByteLength: 8 }))",
    "8,7,0",
  ],
  ["an eval inside a strict eval", '(0, eval)(\'"use strict"; var x; eval("x = 1"); x\')', "1"],
  ["the length with a rest pattern", "[((...[a]) => 0).length, ((x, ...{ length }) => 0).length]", "0,1"],
])("%s", (_, expression, value) => {
  expect(evaluate(expression)).toBe(value);
});
