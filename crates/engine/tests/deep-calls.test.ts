/** Calls between bytecode functions where the stack is deep: patch 48. */
import { expect, test } from "vitest";
import { startEngine } from "../../../guest/testing/engine.ts";

/** The deep interpreter takes over after some 200 plain calls. */
const DEEP = 1_000;

const source = `
import { utf8Encode } from "tenon:engine";
const deep = (depth, work) => (depth === 0 ? work() : deep(depth - 1, work));
class Base { constructor(a) { this.a = a; this.made = new.target.name; } get twice() { return this.a * 2; } add(n) { return this.a + n; } }
class Derived extends Base { constructor(...all) { super(...all); } add(n) { return super.add(n) + 1; } }
const works = {
  arguments: () => (function () { return [arguments.length, ...arguments] })(1, 2, 3),
  "mapped arguments": () => Function("a", "arguments[0] = 5; return a")(1),
  "missing arguments": () => ((a, b, c = 3) => [a, b, c])(1),
  "further arguments": () => ((a) => a)(1, 2, 3),
  rest: () => ((a, ...more) => [a, more])(1, 2, 3),
  spread: () => ((...all) => all.length)(...[1, 2, 3], ...new Set([4])),
  this: () => ({ n: 4, f() { return (() => this.n)(); } }).f(),
  "this of a sloppy function": () => Function("return typeof this")(),
  closures: () => { let n = 0; const more = () => ++n; const make = (by) => () => (n += by); more(); make(5)(); return [n, [1, 2].map((x) => x + n)]; },
  "a variable that outlives its call": () => { const make = (a) => { let b = a; return { set: (v) => { b = v; }, get: () => b }; }; const one = make(1), two = make(2); one.set(7); return [one.get(), two.get()]; },
  classes: () => { const d = new Derived(3); return [d.add(1), d.twice, d.made, d instanceof Base]; },
  "a class without new": () => { try { return Base(1); } catch (e) { return e.message; } },
  "an exception of a callee": () => { const f = (n) => { if (n === 0) throw new Error("x"); return f(n - 1); }; try { return f(50); } catch (e) { return e.message; } },
  finally: () => { const log = []; const f = (n) => { try { if (n === 0) throw new Error("y"); f(n - 1); } finally { log.push(n); } }; try { f(3); } catch (e) { log.push(e.message); } return log; },
  "return of finally": () => (() => { try { throw 1; } finally { return 2; } })(),
  "an iterator that is closed": () => { let closed = 0; const it = { [Symbol.iterator]() { return this; }, next: () => ({ value: 1 }), return() { closed++; return {}; } }; try { for (const x of it) (() => { throw x; })(); } catch {} const [y] = it; return [closed, y]; },
  generators: () => { function* g(n) { if (n > 0) { yield n; yield* g(n - 1); } } return [...g(4)]; },
  "a tail call of a method": () => ({ f(n) { return n === 0 ? this.g(9) : this.f(n - 1); }, g: (x) => x }).f(5),
  eval: () => { const a = 2; return eval("((b) => a + b)(3)"); },
  "a proxy": () => new Proxy((a) => a, { apply: (f, _, all) => f(...all) + 1 })(1),
  bound: () => ((a, b) => a - b).bind(undefined, 5)(2),
  sort: () => [3, 1, 2].sort((a, b) => a - b),
  replace: () => "abc".replace(/b/, (m) => m.toUpperCase()),
  JSON: () => JSON.stringify({ toJSON: () => ({ a: (() => 1)() }) }),
  "a promise": async () => { const f = async (n) => (n === 0 ? 0 : 1 + (await f(n - 1))); return f(20); },
  "many variables": () => ((a, b, c, d, e, f, g, h) => { const i = a + b, j = c + d, k = e + f, l = g + h; return [i, j, k, l].reduce((x, y) => x * y); })(1, 2, 3, 4, 5, 6, 7, 8),
};
const overflow = () => { const f = () => f() + 1; try { return f(); } catch (e) { return e.name; } };
works.overflows = () => [overflow(), overflow(), deep(2000, overflow), overflow()];
works["an overflow in a callback"] = () => { const f = (n) => [n].map((x) => deep(100, () => f(x + 1))); try { return f(0); } catch (e) { return e.name; } };
export const handler = {
  async handle({ pathWithQuery }) {
    const [depth, name] = decodeURIComponent(pathWithQuery).slice(1).split("/");
    const text = name === undefined ? JSON.stringify(Object.keys(works)) : JSON.stringify(await deep(Number(depth), works[name]));
    return { status: 200, headers: [], body: utf8Encode(text) };
  },
};`;

const engine = startEngine(new URL("../engine.wasm", import.meta.url), source);

function ask(depth: number, name: string): unknown {
  const { status, body } = engine.handle({ path: `/${depth}/${encodeURIComponent(name)}` });
  if (status !== 200) throw new Error(engine.printed());
  return JSON.parse(new TextDecoder().decode(body));
}

const { body } = engine.handle({ path: "/" });
const names = JSON.parse(new TextDecoder().decode(body)) as string[];

test.each(names)("%s", (name) => {
  const shallow = ask(0, name);
  expect(ask(DEEP, name)).toEqual(shallow);
  expect(ask(DEEP, name)).toEqual(shallow);
});

test("a recursion may be 8,000 calls deep", () => {
  const deepest = startEngine(
    new URL("../engine.wasm", import.meta.url),
    `import { utf8Encode } from "tenon:engine";
const sum = (n) => (n === 0 ? 0 : n + sum(n - 1));
export const handler = { handle: () => ({ status: 200, headers: [], body: utf8Encode(String(sum(8_000))) }) };`,
  );
  for (let i = 0; i < 3; i++) expect(new TextDecoder().decode(deepest.handle({}).body)).toBe("32004000");
});
