/** Programs that meet the edges of the fast paths (patches 40 to 47): the engine gives what Node gives. */
import { expect, test } from "vitest";
import { startEngine } from "../../../guest/testing/engine.ts";

const programs: Readonly<Record<string, string>> = {
  "a variable before its declaration": "x; let x = 1; return x;",
  "an assignment before the declaration": "x = 2; let x = 1; return x;",
  "a case that skips the declaration": "switch (2) { case 1: let x = 1; break; case 2: return x; }",
  "a case after the declaration": "switch (1) { case 1: let x = 1; case 2: return x; }",
  "a loop that declares anew":
    "const found = []; for (let i = 0; i < 3; i++) { if (i) try { found.push(x); } catch (e) { found.push(e.name); } let x = i; found.push(x); } return found;",
  "a loop whose body reads the last turn's variable":
    "const found = []; let read; for (const i of [1, 2, 3]) { try { found.push(read ? read() : 0, y); } catch (e) { found.push(e.name); } let y = i; read = () => y; } return found;",
  "an iterable that is its own variable": "for (const x of [x]) return x;",
  "a handler before the declaration": "try { throw 1; let x = 2; } catch { return typeof y; let y = 3; }",
  "a finally block": "let a; try { a = 1; return f(); } finally { a = 2; } function f() { return a; }",
  "a variable after a finally block":
    "let n = 0; do { try { let x = n; if (x) continue; n++; } finally { let y = n; n += y; } } while (n < 5); return n;",
  "a label that is left": "l: { if (true) break l; } let x = 5; return x;",
  "a default that reads a later parameter": "return ((a = b, b = 1) => a)();",
  "a generator":
    "function* g() { let i = 0; while (i < 3) { const x = i++; yield x; } return x; } const found = []; try { for (const x of g()) found.push(x); } catch (e) { found.push(e.name); } return found;",
  "a closure before the declaration":
    "const f = () => x; try { f(); } catch (e) { return [e.name, (() => { let x = 1; return f2(x); })()]; } let x = 1; function f2(x) { return x; }",
  "a derived constructor":
    "class A {} class B extends A { constructor(n) { if (n) super(); this.n = n; } } try { return [new B(1).n, new B(0)]; } catch (e) { return e.name; }",
  "a class in itself": "class A extends A {}",
  "an increment": "let i = 5; i++; i += 2; --i; return i;",
  "a constant": "const i = 5; i++; return i;",
  "&& and ||": "return [0 && 1, 1 && 0, '' || 'b', null ?? 2, !'' && [] && {}, NaN || 0n || 'c'];",
  comparisons:
    "return [1 < 2, 1n < 2, 'a' < 'b', NaN >= NaN, null == undefined, null === undefined, '1' == 1, 'ab' === 'a' + 'b', typeof 1 === 'number'];",
  "a comparison that throws": "return 1n + 2 < 3;",
  "a setter that comes later":
    "const make = () => { const o = new (class A {})(); o.a = 1; o.b = 2; return o; }; make(); let set = 0; Object.defineProperty(Object.prototype, 'b', { set(v) { set += v; }, configurable: true }); const o = make(); delete Object.prototype.b; return [Object.keys(o), set, Object.keys(make())];",
  "a prototype's property that cannot be written":
    "'use strict'; class A {} const make = () => { const o = new A(); o.a = 1; return o; }; make(); make(); Object.defineProperty(A.prototype, 'a', { value: 7 }); try { return make(); } catch (e) { return e.name; }",
  "a literal is not stopped by setters":
    "const make = () => ({ a: 1, b: 2 }); make(); Object.defineProperty(Object.prototype, 'b', { set() {}, configurable: true }); const o = make(); delete Object.prototype.b; return o;",
  "an object that is frozen":
    "'use strict'; const f = (o) => { o.a = 1; return o; }; f({}); f({}); try { return f(Object.freeze({})); } catch (e) { return e.name; }",
  "an object that loses properties":
    "const f = () => ({ a: 1, b: 2, c: 3 }); f(); const o = f(); delete o.a; o.d = 4; const p = f(); p.d = 5; return [o, p, f()];",
  "flags that change":
    "const f = () => ({ a: 1, b: 2 }); f(); const o = f(); Object.defineProperty(o, 'a', { enumerable: false }); return [Object.keys(o), Object.keys(f())];",
  "another prototype":
    "const f = () => { const o = { a: 1 }; Object.setPrototypeOf(o, null); o.b = 2; return o; }; return [f(), f()].map((o) => [Object.getPrototypeOf(o), o.a, o.b]);",
  "the same key twice": "const f = () => ({ a: 1, b: 2, a: 3 }); return [f(), f()];",
  "keys that are numbers": "const f = () => ({ b: 1, 1: 2, a: 3, 0: 4 }); return [f(), Object.keys(f())];",
  "__proto__ in a literal": "const f = (p) => ({ a: 1, __proto__: p, b: 2 }); return [f(null), f({ c: 1 }).c, f(3).b];",
  "private fields":
    "class A { #a = 1; #b = () => this.#a; static f(o) { return #a in o && o.#b(); } } new A(); return [A.f(new A()), A.f({})];",
  "a private field twice":
    "class A { constructor(o) { return o; } } class B extends A { #a = 1; } const o = {}; new B(o); new B({}); try { new B(o); } catch (e) { return e.name; }",
  "names of functions":
    "const f = () => {}, g = class {}, h = { i() {}, get j() { return 1; } }; return [f.name, g.name, h.i.name, (() => {}).name, f.length, Object.getOwnPropertyNames(f), (class { static name = 'k'; }).name];",
  "many keys":
    "const f = (n) => { const o = {}; for (let i = 0; i < n; i++) o['k' + i] = i; o.a = 1; return o; }; f(100); return [f(100).a, f(100).k99, Object.keys(f(70)).length];",
  "many classes":
    "let sum = 0; for (let i = 0; i < 2000; i++) { class A { constructor() { this.a = i; this.b = 1; } c = 2; } const o = new A(); sum += o.a + o.b + o.c; } return sum;",
  "strings of all lengths":
    "const all = []; for (let n = 0; n < 80; n++) { const s = 'abcdefghij'.repeat(9).slice(0, n); const t = s.concat('!').slice(0, n); all.push(s === t, s !== s.concat('x'), JSON.stringify(s).length, JSON.stringify(s.concat('\\n')).length, { [s]: n }[t], s.concat(n, 'ü').length); } return all;",
};

const engine = startEngine(
  new URL("../engine.wasm", import.meta.url),
  `const programs = ${JSON.stringify(programs)};
import { utf8Encode } from "tenon:engine";
const run = ${String(run)};
export const handler = { handle: ({ pathWithQuery }) => ({ status: 200, headers: [], body: utf8Encode(run(programs[decodeURIComponent(pathWithQuery)])) }) };`,
);

/** Returns the result of a program as JSON, or the name of what it throws. */
function run(program: string): string {
  try {
    return String(
      JSON.stringify(new Function(program)(), (_, value) => (typeof value === "bigint" ? `${value}n` : value)),
    );
  } catch (error) {
    return (error as Error).name;
  }
}

test.each(Object.keys(programs))("%s", (name) => {
  const { body } = engine.handle({ path: encodeURIComponent(name) });
  expect(new TextDecoder().decode(body)).toBe(run(programs[name] ?? ""));
});
