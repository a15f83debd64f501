/** A second runtime: its texts, its limits, and what is left of it. */
import { expect, test } from "vitest";
import { type Engine, startEngine } from "../../../guest/testing/engine.ts";

/** The first text: it evaluates what it is given, and says the value as text, or what was thrown. */
const echo = `(evaluate) => {
  let said = "nothing";
  return (text) => {
    if (text === undefined) return said;
    try {
      const [evaluated, namespace] = evaluate(text, "program.js");
      evaluated.then(() => namespace.default).then((value) => { said = String(value); }, (error) => { said = "threw " + error; });
    } catch (error) {
      said = "threw " + error;
    }
  };
}`;

function engineWith(first: string): Engine {
  return startEngine(
    new URL("../engine.wasm", import.meta.url),
    `import { closeIsolate, exchangeIsolate, isolateUsage, openIsolate, utf8Decode, utf8Encode } from "tenon:engine";
globalThis.secret = "of the app";
const first = ${JSON.stringify(first)};
openIsolate(first);
export const handler = {
  async handle({ method, body }) {
    const asked = JSON.parse(utf8Decode(body));
    const answers = [];
    for (const each of asked) {
      try {
        if (each === null) openIsolate(first);
        else if (each === false) closeIsolate();
        else answers.push(exchangeIsolate(each, 200_000, 8 << 20));
      } catch (error) {
        answers.push(String(error));
      }
    }
    const deep = (n) => (n === 0 ? 0 : 1 + deep(n - 1));
    const after = { deep: deep(2_000), text: "x".repeat(1 << 20).length };
    return { status: 200, headers: [], body: utf8Encode(JSON.stringify({ answers, after, usage: isolateUsage() })) };
  },
};`,
    { now: 0, tick: 1 },
  );
}

interface Done {
  readonly answers: readonly (string | number)[];
  readonly after: unknown;
  readonly usage: readonly [number, number];
}

/** Hands texts to one isolate after the other: null opens a new one, and false closes it. */
function exchange(texts: readonly (string | null | false)[], engine = engineWith(echo)): Done {
  const { body } = engine.handle({ body: new TextEncoder().encode(JSON.stringify(texts)) });
  return JSON.parse(new TextDecoder().decode(body));
}

/** The state of the outer runtime afterwards: it recurses and allocates as before. */
const whole = { deep: 2_000, text: 1 << 20 };

test.each([
  ["1 + 1", "2"],
  ["typeof secret", "undefined"],
  ["typeof setTimeout + typeof fetch + typeof console + typeof performance", "undefinedundefinedundefinedundefined"],
  ["globalThis.constructor.constructor('return typeof secret')()", "undefined"],
  [
    "await import('tenon:engine').catch(String)",
    'SyntaxError: "tenon:engine" cannot be imported: a program imports nothing',
  ],
  ["import 'tenon:engine'", 'threw SyntaxError: "tenon:engine" cannot be imported: a program imports nothing'],
  [
    "import { openIsolate } from 'given:tools'",
    'threw SyntaxError: "given:tools" cannot be imported: a program imports nothing',
  ],
  [
    "await import('program.js').catch(String)",
    'SyntaxError: "program.js" cannot be imported: a program imports nothing',
  ],
  ["(", "threw SyntaxError: unexpected token in expression: ''"],
  ["throw new TypeError('own')", "threw TypeError: own"],
  ["const f = () => f(); try { f() } catch (e) { e.message }", "Maximum call stack size exceeded"],
  ["JSON.parse('['.repeat(1e5))", "threw RangeError: Maximum call stack size exceeded"],
  ["[1, 2, 3].map((n) => n * 2).join()", "2,4,6"],
  ["new Date(0).toISOString() + Math.round(Math.random() / 2)", "1970-01-01T00:00:00.000Z0"],
])("%s says %s", (source, said) => {
  const { answers, after } = exchange([source]);
  expect(answers[0]).toSatisfy((answer: string) => answer.startsWith(said.replace(/''$/, "")));
  expect(after).toEqual(whole);
});

/** Programs that would never end, or take too much memory. */
const endless = [
  "for (;;);",
  "while (true) { try { while (true); } catch {} }",
  "(async () => { for (;;) await 1; })(); 1",
  "const again = () => Promise.resolve().then(again); again(); 1",
  "const p = () => { try { p() } finally { p() } }; p()",
  "[].lastIndexOf.call({ length: 2 ** 53 - 1 }, 1)",
  "[].includes.call({ length: 2 ** 53 - 1 }, 1)",
  "[].forEach.call({ length: 2 ** 53 - 1 }, Boolean)",
  "[].reverse.call({ length: 2 ** 53 - 1 })",
  "Array(2 ** 32 - 1).join('')",
  "Array.prototype.values.call({ length: 2 ** 32 - 1 }).drop(2 ** 32 - 2).next()",
  "/(a+)+b/.exec('a'.repeat(40))",
  "('a'.repeat(2e6) + 'c').indexOf('a'.repeat(1e6) + 'b')",
  "('a'.repeat(2e6) + 'c').includes('a'.repeat(1e6) + 'b')",
  "new Proxy({}, { get: (t, k, r) => r[k] }).x",
  "for (const x of { [Symbol.iterator]: () => ({ next: () => ({ done: false }) }) });",
  "eval('for (;;);')",
  "new Function('for (;;);')()",
  "function* g() { for (;;) yield 1 } for (const x of g()); ",
  "let n = 3n; for (;;) n = n * n % (2n ** 4096n)",
  "const n = (1n << 300000n) - 1n; n * n > 0n",
  "((1n << 600000n) - 1n) / ((1n << 300000n) + 1n) > 0n",
  "((1n << 600000n) - 1n) % ((1n << 300000n) + 1n) > 0n",
  "3n ** 200000n > 0n",
];

test.each(endless)("%s ends by its time", (source) => {
  // Each look at the clock takes a millisecond here.
  const { answers, after } = exchange([source]);
  expect(answers[0] === 1 || answers[0] === "threw RangeError: Maximum call stack size exceeded").toBe(true);
  expect(after).toEqual(whole);
});

test.each([
  "const all = []; for (;;) all.push(new Array(1000).fill(1))",
  "let text = 'x'; for (;;) text = (text + text).toUpperCase()",
  "new ArrayBuffer(16 << 20)",
  "try { new ArrayBuffer(16 << 20) } catch { 'caught' }",
  "const m = new Map(); for (let i = 0; ; i++) m.set(i, {})",
  "Array.from({ length: 1e9 }, () => ({}))",
  "'x'.repeat(2 ** 28)",
  "const deep = (n) => [deep]; let a; for (;;) a = [a, a]",
  "Symbol.for(String.fromCharCode(...Array(60000).fill(65)).repeat(200))",
])("%s ends by its memory, and cannot catch it", (source) => {
  const { answers, after } = exchange([source]);
  expect([1, 2]).toContain(answers[0]);
  expect(after).toEqual(whole);
});

test("isolates follow one another, and nothing is left of them", () => {
  const engine = engineWith(echo);
  const one = ["globalThis.left = 'here'; Array.prototype.map = null; left", null, "typeof left + typeof [].map"];
  expect(exchange(one, engine).answers).toEqual(["here", "undefinedfunction"]);
  const { size } = engine;
  for (let round = 0; round < 20; round++) exchange([null, "const a = []; for (;;) a.push([])"], engine);
  expect(engine.size - size).toBeLessThan(10 << 20);
  expect(exchange([false, "1"], engine).answers).toEqual(["Error: no isolate is open"]);
});

test("an isolate that the build opens draws no random number of its own", () => {
  let drawn = 0;
  startEngine(
    new URL("../engine.wasm", import.meta.url),
    `import { openIsolate } from "tenon:engine";
openIsolate(${JSON.stringify(echo)});
export const handler = { handle() {} };`,
    {
      random: () => {
        drawn++;
      },
    },
  );
  expect(drawn).toBe(1);
});

test("promises of a program go on with the next text", () => {
  const engine = engineWith(`() => {
    let resolve, said = "";
    return (text) => {
      if (text === undefined) return said;
      if (resolve) resolve(text);
      else new Promise((done) => { resolve = done; }).then((value) => { said = "got " + value; });
    };
  }`);
  expect(exchange(["first", "second"], engine).answers).toEqual(["", "got second"]);
});

test.each([
  ["() => 1", "the isolate cannot be opened: its text makes no function"],
  ["(", "the isolate cannot be opened"],
  ["() => { throw new Error('own') }", "the isolate cannot be opened: Error: own"],
])("the first text %s is refused", (first, message) => {
  expect(() => engineWith(first)).toThrow(message);
});

test("a text that is no answer is a failure", () => {
  expect(exchange(["x"], engineWith("() => () => ({})")).answers).toEqual([3]);
  expect(exchange(["x"], engineWith("() => () => { throw 1 }")).answers).toEqual([3]);
});
