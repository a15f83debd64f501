/** The output of `console` in the engine. */
import { beforeAll, expect, test } from "vitest";
import { type Evaluator, evaluator } from "../../../testing/evaluate.ts";

let evaluate: Evaluator;
beforeAll(async () => {
  evaluate = await evaluator(["platform/console/install.ts", "platform/events/install/abort-signal.ts"], "lean");
});

const printed = (program: string): string => {
  evaluate(program);
  return evaluate.printed();
};

test.each([
  ["'a', 1, -0, 10n, true, null, undefined", "a 1 -0 10n true null undefined"],
  ["Symbol('a'), Symbol()", 'Symbol("a") Symbol()'],
  ["{ a: 'b', c: { d: [1, , 'e'] } }, {}, []", '{ a: "b", c: { d: [1, undefined, "e"] } } {} []'],
  ["{ get a() { return 1; }, b() {} }", "{ a: [Getter], b: [ b() {}] }"],
  ["new (class Own { a = 1; b() {} })()", "Own { a: 1 }"],
  [
    "new Map([[1, { a: 2 }]]), new Set(['b']), new Uint8Array(2)",
    'Map(1) { 1 => { a: 2 } } Set(1) { "b" } Uint8Array [0, 0]',
  ],
  ["new Date(5), /a/g, new WeakMap()", "(new Date(5)) /a/g WeakMap { <items unknown> }"],
  ["Promise.resolve(1), new Promise(() => {})", "Promise { 1 } Promise { <pending> }"],
  ["AbortSignal.abort(1)", "AbortSignal { aborted: true, reason: 1, onabort: null }"],
  ["(() => { const a = {}; a.a = a; return [a, a]; })()", "[{ a: <Circular> }, { a: <Circular> }]"],
  ["'%s is %d', 'a', 1.5, 'b'", "a is 1 b"],
  ["{ get a() { throw 1; }, b: new Proxy({}, { ownKeys() { throw 2; } }) }", "a value that cannot be printed"],
])("console.log(%s)", (values, text) => {
  expect(printed(`console.log(${values})`)).toBe(`${text}\n`);
});

test("errors have their stacks", () => {
  const text = printed("console.error('failed:', new RangeError('a', { cause: new Error('b') }))");
  expect(text).toMatch(/^failed: RangeError: a\n {4}at [\s\S]*\nCaused by: Error: b\n {4}at [\s\S]*\n$/);
});

test("counts, times and asserts", () => {
  expect(printed("console.count(); console.count(); console.count('a'); console.countReset('b');")).toBe(
    "default: 1\ndefault: 2\na: 1\nCount for 'b' does not exist\n",
  );
  expect(printed("console.time('a'); console.timeLog('a', 1); console.timeEnd('a'); console.timeEnd('a');")).toBe(
    "a: 0.000000ms 1\na: 0.000000ms\nNo such label 'a' for console.timeEnd()\n",
  );
  expect(printed("console.assert(true, 'a'); console.assert(false, 'b', 1); console.assert(false);")).toBe(
    "Assertion failed: b 1\nAssertion failed\n",
  );
});

test("assert and dir have no length", () => {
  expect(printed("console.log(console.assert.length, console.dir.length)")).toBe("0 0\n");
});

test("values that are large or deep are cut", () => {
  expect(printed("console.log(new Uint8Array(20000))").length).toBeLessThan(40_000);
  expect(printed("let a = {}; for (let i = 0; i < 1000; i++) a = { a }; console.log(a)")).toContain("…");
});

test("the engine's own console prints texts", async () => {
  const plain = await evaluator([], "lean");
  plain("console.log('a', 1, true); console.warn(); console.info(Symbol('b'));");
  expect(plain.printed()).toBe("a 1 true\n\nSymbol()\n");
});
