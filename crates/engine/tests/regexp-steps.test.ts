/** The limit of one run of a regular expression: each way to run one, exact to the step, and what follows the run that exceeds it. */
import { describe, expect, test } from "vitest";
import { startEngine } from "../../../guest/testing/engine.ts";

/** An engine with a handler that evaluates a module, and answers with its default export; or with what it throws. */
function engine(file: string) {
  const lines: string[] = [];
  const started = startEngine(
    new URL(file, import.meta.url),
    `import { evaluate, utf8Decode, utf8Encode } from "tenon:engine";
export const handler = {
  async handle({ method, body }) {
    let result;
    try {
      const [evaluated, namespace] = evaluate(utf8Decode(body), "script.js", {}, method === "GET" ? undefined : Number(method));
      await evaluated;
      result = { value: await namespace.default };
    } catch (error) {
      result = { thrown: String(error) };
    }
    return { status: 200, headers: [], body: utf8Encode(JSON.stringify(result)) };
  },
};`,
    { log: (text) => lines.push(text) },
  );
  const run = (source: string, steps?: number) => {
    lines.length = 0;
    const method = steps === undefined ? "GET" : String(steps);
    const { status, body } = started.handle({ method, body: new TextEncoder().encode(source) });
    return { status, lines: [...lines], ...(body && JSON.parse(new TextDecoder().decode(body))) };
  };
  return run;
}

const over = { status: 508, lines: [] };

describe.each(["../engine.wasm", "../engine-full.wasm"])("%s", (file) => {
  /** Each run has an engine of its own, because one that has reached the limit answers nothing else. */
  const run = (source: string, steps?: number) => engine(file)(source, steps);

  test("the limit is exact to the step, and the same each time", () => {
    const source = "/^(?:a+)+$/.test('a'.repeat(16) + 'b')";
    const passes = (steps: number) => run(source, steps).status === 200;
    let [low, high] = [0, 10_000_000];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (passes(middle)) high = middle;
      else low = middle;
    }
    // 2 ** 16 ways to divide the text, for each a step or two.
    expect(high).toBeGreaterThan(2 ** 16);
    expect(high).toBeLessThan(2 ** 19);
    for (let round = 0; round < 3; round++) expect([passes(high), passes(high - 1)]).toEqual([true, false]);
    expect(run(source)).toEqual({ status: 200, lines: [], value: false });
  });

  const slow = "/^(a+)+$/";
  const text = "('a'.repeat(30) + 'b')";
  test.each([
    ["exec", `${slow}.exec(${text})`],
    ["test", `${slow}.test(${text})`],
    ["match", `${text}.match(${slow})`],
    ["match, global", `${text}.match(/(a+)+$/g)`],
    ["matchAll", `[...${text}.matchAll(/(a+)+$/g)]`],
    ["search", `${text}.search(${slow})`],
    ["split", `${text}.split(/(a+)+$/)`],
    ["replace", `${text}.replace(${slow}, "x")`],
    ["replace with $", `${text}.replace(${slow}, "$1")`],
    ["replace with a function", `${text}.replace(${slow}, () => "x")`],
    ["replace with nothing, global", `${text}.replace(/(a+)+$/g, "")`],
    ["replaceAll", `${text}.replaceAll(/(a+)+$/g, "x")`],
    ["sticky", `/(a+)+$/y.test(${text})`],
    ["Unicode", `/^(\\p{L}+)+$/u.test("ä".repeat(30) + "!")`],
    ["a set of Unicode", `/^([\\p{L}--b]+)+$/v.test(${text})`],
    ["case-insensitive", `/^(A+)+$/i.test(${text})`],
    ["a lookahead", `/^(?=(a+)+$)/.test(${text})`],
    ["a negative lookahead", `/^(?!(a+)+$)/.test(${text})`],
    ["a lookahead in a lookahead", `/^(?=(?=(?!(a+)+$)x)y)/.test(${text})`],
    ["a lookbehind", `/(?<=^(a+)+)$/.test("b" + "a".repeat(30))`],
    ["a back reference", `/^(a*)*\\1\\1$/.test(${text})`],
    ["a counted loop", `/^(?:a{1,20}){1,30}$/.test(${text})`],
    ["lazy", `/^(a+?)+?$/.test(${text})`],
    ["alternatives", `/^(a|a)*$/.test(${text})`],
    ["named groups", `/^(?<all>a+)+$/.exec(${text})`],
    ["indices", `/^(a+)+$/d.exec(${text})`],
    ["RegExp", `new RegExp("^(a+)+$").test(${text})`],
    ["a subclass", `new (class extends RegExp {})("^(a+)+$").test(${text})`],
    ["eval", `eval(${JSON.stringify(`${slow}.test(${text})`)})`],
    ["Function", `new Function(${JSON.stringify(`return ${slow}.test(${text})`)})()`],
    ["quadratic", `/a*$/.test("a".repeat(20_000) + "b")`],
    ["large lookaheads", `/^(?:(?=(a*))a)*b/.test("a".repeat(20_000))`],
    ["large negative lookaheads", `/^(?:(?!a*b)a)*b/.test("a".repeat(20_000))`],
    ["large back references", `/^(a*)(?:\\1|.)*$/.test("a".repeat(10_000_000) + "\\n")`],
  ])("%s", (_, source) => {
    expect(run(source, 1_000_000)).toEqual(over);
  });

  test.each([
    ["try", "S"],
    ["finally", "try { S } finally { globalThis.after = 1 }"],
    ["a loop", "for (;;) try { S } catch {} finally { continue }"],
    ["a function", "const f = () => { try { return S } catch { return f() } finally { f() } }; f()"],
    [
      "a generator",
      "const g = (function* () { try { yield S } finally { yield 1 } })(); try { g.next() } catch {} g.return(1); g.next()",
    ],
    [
      "an async generator",
      "const g = (async function* () { try { yield S } finally { yield 1 } })(); await g.next().catch(() => 1)",
    ],
    ["the executor of a promise", "await new Promise(() => S).catch(() => 1)"],
    ["an async function", "await (async () => S)().catch(() => 1)"],
    ["a reaction", "await Promise.resolve().then(() => S).catch(() => 1).finally(() => 1)"],
    ["a thenable", "await { then() { S } }; 1"],
    ["a timer", "await new Promise((done) => { setTimeout(() => S); setTimeout(done, 1) })"],
    ["a microtask", "queueMicrotask(() => S); await 1; await 1; await 1; 2"],
    [
      "an iterator",
      "try { for (const x of { [Symbol.iterator]: () => ({ next: () => S, return: () => 1 }) }); } catch {} 1",
    ],
    ["a disposal", "{ using x = { [Symbol.dispose]() { S } } } 1"],
    ["a getter", "try { ({ get a() { return S } }).a } catch {} 1"],
    ["a Proxy", "try { new Proxy({}, { get: () => S }).a } catch {} 1"],
    ["toJSON", "try { JSON.stringify({ toJSON: () => S }) } catch {} 1"],
    ["a sort", "try { [2, 1].sort(() => S) } catch {} 1"],
    ["Array.fromAsync", "await Array.fromAsync([1], () => S).catch(() => 1)"],
    ["Promise.try", "await Promise.try(() => S).catch(() => 1)"],
    ["a class", "try { class A { static { S } } } catch {} 1"],
    ["a stack trace", "Error.prepareStackTrace = () => S; try { new Error().stack } catch {} 1"],
    ["a stack trace afterwards", "Error.prepareStackTrace = () => { try { return 1 } catch {} }; try { S } catch {} 1"],
    ["an own stack trace", "Error.prepareStackTrace = (error) => { for (;;) error.x = 1 }; try { S } catch {} 1"],
    [
      "a limit of the stack trace",
      "Object.defineProperty(Error, 'stackTraceLimit', { get() { for (;;); } }); try { S } catch {} 1",
    ],
    ["the value", "({ then: () => S })"],
    ["the default export", "export default { then: () => S }"],
  ])("%s cannot catch it", (_, source) => {
    const same = engine(file);
    expect(same(source.replace(/\bS\b/g, `${slow}.test(${text})`), 100_000)).toEqual(over);
    expect(same("1", 100_000)).toEqual(over);
  });

  test("nothing runs afterwards", () => {
    const log = 'console.log("no")';
    const source = (text: string) => `queueMicrotask(() => ${log}); setTimeout(() => ${log});
try { ${slow}.test(${text}) } catch { ${log} } finally { ${log} } ${log}; await new Promise((done) => setTimeout(done, 1))`;
    expect(run(source("'ab'"), 100_000).lines).toHaveLength(4);
    expect(run(source(text), 100_000)).toEqual(over);
  });

  test("each run counts for itself", () => {
    const one = "/^(?:a+)+$/.test('a'.repeat(11) + 'b')";
    expect(run(one, 10_000)).toMatchObject({ value: false });
    expect(run(`let n = 0; for (let i = 0; i < 1_000; i++) n += ${one}; n`, 10_000)).toMatchObject({ value: 0 });
    expect(run("'ab'.repeat(100_000).match(/a/g).length", 10_000)).toMatchObject({ value: 100_000 });
    expect(run("'ab'.repeat(100_000).replace(/a/g, 'xy').length", 10_000)).toMatchObject({ value: 300_000 });
    expect(run("'ab'.repeat(100_000).split(/b/).length", 10_000)).toMatchObject({ value: 100_001 });
  });

  test.each([
    ["a search", "/needle\\d+$/.test(text)", false],
    ["words", "text.match(/\\b\\w+\\b/g).length > 100_000", true],
    ["one match of all", "/^[\\s\\S]*$/.exec(text)[0].length", 1 << 20],
    ["lazily", "/^[\\s\\S]*?$(?![\\s\\S])/.exec(text)[0].length", 1 << 20],
    ["groups", "/^(?:(\\w+)(\\W+))*/.exec(text)[0].length > 1_000_000", true],
    ["a template", "text.replace(/\\{\\{\\s*(\\w+)\\s*\\}\\}|[&<>]/g, (m) => m).length", 1 << 20],
    ["alternatives", "/(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)!$/.test(text)", false],
  ])("the default passes %s over a MiB", (_, expression, value) => {
    const source = `const text = "The quick brown fox, 12 & <b>. ".repeat(1 << 15).slice(0, 1 << 20).padEnd(1 << 20, "x"); ${expression}`;
    expect(run(source, 20_000_000)).toEqual({ status: 200, lines: [], value });
  });
});
