/**
 * Processor time ends loops inside of the engine's own functions as well, within 10 ms. A script cannot tell where such a function asks, so
 * each that takes long on large values is tried.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { Runtime } from "../embed/runtime.ts";
import type { Sandbox } from "./sandbox.ts";

const CPU_MS = 30;
const TOLERANCE_MS = 10;

let runtime: Runtime;
let sandbox: Sandbox;
beforeAll(async () => {
  runtime = await Runtime.create({ modules: {}, logLevel: "off" });
  sandbox = await runtime.sandbox({ limits: { cpuMs: CPU_MS, wallMs: 120_000 } });
}, 300_000);
afterAll(() => runtime.close());

/** Each computes without end in one function of the engine, or in the making of its argument. */
const loops: [name: string, source: string][] = [
  [
    "sort, a native comparison",
    "const a = Array.from({ length: 3e5 }, (_, i) => 'x'.repeat(2000) + (i % 7)); for (;;) a.slice().sort()",
  ],
  [
    "sort, a comparison that allocates",
    "const a = Array.from({ length: 1e5 }, (_, i) => -i); for (;;) a.slice().sort((x, y) => String(x).length - String(y).length)",
  ],
  ["typed array sort", "const a = new Float64Array(4e6).map((_, i) => (i * 7919) % 1e6); for (;;) a.slice().sort()"],
  ["typed array fill", "const a = new Uint8Array(50 << 20); for (;;) a.fill(1)"],
  ["typed array copy", "const a = new Uint8Array(20 << 20), b = new Uint8Array(20 << 20); for (;;) a.set(b)"],
  ["typed array indexOf", "const a = new Uint8Array(50 << 20); for (;;) a.indexOf(9)"],
  ["typed array slice, other type", "const a = new Float64Array(4e6); for (;;) new Uint8Array(a)"],
  ["typed array reverse", "const a = new Uint32Array(12e6); for (;;) a.reverse()"],
  ["array fill, sparse", "for (;;) Array.prototype.fill.call({ length: 2 ** 53 - 1 }, 1)"],
  ["array indexOf, sparse", "for (;;) Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)"],
  ["array join, sparse", "for (;;) Array(1e7).join()"],
  ["array join, nested", "let a = ['x'.repeat(1e4)]; for (let i = 0; i < 12; i++) a = [a, a]; for (;;) String(a)"],
  ["array includes, dense", "const a = Array(3e6).fill('x'.repeat(50)); for (;;) a.includes('y'.repeat(50))"],
  ["array splice", "const a = Array(2e6).fill(0); for (;;) a.splice(0, 1, 1)"],
  ["array concat", "const a = Array(1e6).fill(0); for (;;) a.concat(a)"],
  [
    "array copyWithin, flat, reverse",
    "const a = Array(1e6).fill([1]); for (;;) { a.copyWithin(1, 0); a.flat(); a.reverse() }",
  ],
  ["Array.from", "for (;;) Array.from({ length: 5e6 })"],
  ["repeat", "for (;;) 'ab'.repeat(2e7)"],
  ["padEnd", "for (;;) ''.padEnd(4e7, 'abc')"],
  ["replaceAll", "const s = 'a'.repeat(1e6); for (;;) s.replaceAll('a', 'bc')"],
  ["split", "const s = 'a,'.repeat(1e6); for (;;) s.split(',')"],
  ["concatenation and comparison", "const a = 'x'.repeat(2e7), b = 'x'.repeat(2e7 - 1) + 'y'; for (;;) a < b"],
  ["indexOf of a long text", "const s = 'a'.repeat(2e6); for (;;) s.indexOf('a'.repeat(1e6) + 'b')"],
  ["normalize", "const s = '\\u0301\\u0323'.repeat(3e5); for (;;) ('a' + s).normalize('NFC')"],
  ["toUpperCase", "const s = 'ß'.repeat(1e7); for (;;) s.toUpperCase()"],
  ["localeCompare", "const a = 'é'.repeat(1e6), b = a + 'x'; for (;;) a.localeCompare(b)"],
  ["JSON.stringify", "const a = Array(2e5).fill({ a: 'x\\ny', b: [1, 2] }); for (;;) JSON.stringify(a)"],
  ["JSON.stringify, one text", "const a = '\\n'.repeat(2e7); for (;;) JSON.stringify(a)"],
  ["JSON.parse", "const s = '[' + Array(1e6).fill('{\"a\":1}').join() + ']'; for (;;) JSON.parse(s)"],
  ["JSON.parse, one text", "const s = '\"' + 'x'.repeat(2e7) + '\"'; for (;;) JSON.parse(s)"],
  ["structuredClone", "const a = Array(3e5).fill(0).map((_, i) => ({ i })); for (;;) structuredClone(a)"],
  ["structuredClone, bytes", "const a = new Uint8Array(12 << 20); for (;;) structuredClone(a)"],
  ["RegExp, backtracking", "/^(a+)+$/.test('a'.repeat(60) + 'b')"],
  ["RegExp, lookahead", "/(?=(a+))*b/.test('a'.repeat(3e6))"],
  ["RegExp, a large text", "const s = 'a'.repeat(3e7); for (;;) /b$/.test(s)"],
  ["RegExp, compiling", "const s = '(?:a|b)'.repeat(3e4); for (let i = 0; ; i++) new RegExp(s + i)"],
  ["RegExp, ignoring case, Unicode", "const s = '\\u{1F600}'.repeat(2e6); for (;;) /[^\\p{L}]x/iu.test(s)"],
  ["RegExp, a class of sets", "for (let i = 0; ; i++) new RegExp('[\\\\p{L}--[\\\\p{Lu}&&[\\\\p{ASCII}]]]' + i, 'v')"],
  ["BigInt power", "for (;;) 3n ** 600000n"],
  ["BigInt product", "const n = (1n << 500000n) - 1n; for (;;) n * n"],
  ["BigInt quotient", "const a = (1n << 1000000n) - 1n, b = (1n << 500000n) + 1n; for (;;) a / b"],
  ["BigInt remainder", "const a = (1n << 1000000n) - 1n, b = (1n << 500000n) + 1n; for (;;) a % b"],
  ["BigInt to text", "const a = (1n << 1000000n) - 1n; for (;;) a.toString()"],
  ["BigInt of text", "const s = '9'.repeat(300000); for (;;) BigInt(s)"],
  ["BigInt shift", "for (;;) 1n << 1000000n"],
  ["BigInt.asUintN", "const n = -(1n << 1000000n); for (;;) BigInt.asUintN(1000000, n)"],
  ["number to text", "for (;;) (1.2345e-300).toFixed(100)"],
  ["parseFloat", "const s = '1'.repeat(5e6); for (;;) parseFloat(s)"],
  ["Number of a long text", "const s = '0.' + '1'.repeat(5e6); for (;;) Number(s)"],
  ["Date parsing", "const s = '2020-01-01 ' + ' '.repeat(1e6); for (;;) Date.parse(s)"],
  ["Date text", "for (let i = 0; ; i++) new Date(i * 1e9).toString()"],
  ["Map with many keys", "for (;;) { const m = new Map(); for (let i = 0; i < 2e5; i++) m.set(i * 65536, i) }"],
  ["Map, long texts", "const m = new Map(), s = 'x'.repeat(2e7); for (let i = 0; ; i++) m.get(s + (i % 2))"],
  ["Set operations", "const a = new Set(Array(5e5).keys()), b = new Set(Array(5e5).keys()); for (;;) a.union(b)"],
  [
    "Proxy ownKeys",
    "const keys = Array.from({ length: 2e4 }, (_, i) => 'k' + i); const p = new Proxy({}, { ownKeys: () => keys }); for (;;) Reflect.ownKeys(p)",
  ],
  ["Proxy, a chain", "let p = {}; for (let i = 0; i < 3000; i++) p = new Proxy(p, {}); for (;;) try { p.x } catch {}"],
  ["prototypes, a chain", "let o = {}; for (let i = 0; i < 1e5; i++) o = Object.create(o); for (;;) o.x"],
  ["Object.keys", "const o = {}; for (let i = 0; i < 2e5; i++) o['k' + i] = i; for (;;) Object.keys(o)"],
  ["Object.assign", "const o = {}; for (let i = 0; i < 1e5; i++) o['k' + i] = i; for (;;) Object.assign({}, o)"],
  [
    "Object.fromEntries",
    "const a = Array.from({ length: 1e5 }, (_, i) => ['k' + i, i]); for (;;) Object.fromEntries(a)",
  ],
  ["spread", "const a = Array(2e5).fill(0); for (;;) Math.max(...[...a, ...a].slice(0, 6e4))"],
  ["String.fromCharCode", "const a = Array(6e4).fill(97); for (;;) String.fromCharCode(...a)"],
  [
    "WeakRef and registries",
    "const r = new FinalizationRegistry(() => {}); for (;;) { const o = {}; new WeakRef(o); r.register(o, 1) }",
  ],
  ["garbage, cycles", "let all = []; for (;;) { const o = {}; o.o = o; all.push(o); if (all.length > 3e5) all = [] }"],
  ["freeing a deep list", "for (;;) { let l = null; for (let i = 0; i < 1e6; i++) l = [l]; l = null }"],
  ["freeing a large graph", "const make = () => Array.from({ length: 1e6 }, () => ({})); for (;;) make()"],
  ["Function", "const s = 'x+'.repeat(1e5) + '1'; for (let i = 0; ; i++) new Function('x', 'return ' + s)"],
  ["eval", "const s = '[' + '1,'.repeat(1e6) + ']'; for (;;) eval(s)"],
  ["TextEncoder", "const s = 'é'.repeat(1e7), e = new TextEncoder(); for (;;) e.encode(s)"],
  ["TextDecoder", "const b = new Uint8Array(2e7).fill(97), d = new TextDecoder(); for (;;) d.decode(b)"],
  ["btoa, atob", "const s = 'x'.repeat(1e7); for (;;) atob(btoa(s))"],
  ["random bytes", "const b = new Uint8Array(65536); for (;;) crypto.getRandomValues(b)"],
  ["digest", "const b = new Uint8Array(2e7); for (;;) await crypto.subtle.digest('SHA-512', b)"],
  ["URL", "const s = 'http://a/' + 'é/../'.repeat(1e5); for (;;) new URL(s)"],
  ["URLSearchParams", "const s = 'a=%20&'.repeat(2e5); for (;;) new URLSearchParams(s).sort()"],
  ["console", "for (;;) console.log.call(null, [Array(1e4).fill({ a: [1] })].length, { a: 'x'.repeat(1e7) }.a.length)"],
  ["Error.stack", "const f = (n) => n ? f(n - 1) : new Error('x').stack; for (;;) f(200)"],
  ["iterators", "for (;;) Iterator.from({ next: () => ({ done: false }) }).drop(1e9).next()"],
  ["Atomics and shared memory", "for (;;) new Float16Array(new Float64Array(1e6))"],
  [
    "structuredClone, Map",
    "const m = new Map(Array.from({ length: 1e5 }, (_, i) => [i, [i]])); for (;;) structuredClone(m)",
  ],
  [
    "toSorted, with, toSpliced",
    "const a = Array(5e5).fill(0).map((_, i) => -i); for (;;) { a.toSorted(); a.with(1, 1); a.toSpliced(1, 1) }",
  ],
  ["Object.groupBy", "const a = Array(3e5).fill(0); for (;;) Object.groupBy(a, (_, i) => i % 9)"],
  ["the value itself", "const big = Array(4e5).fill({ a: [1, 2, { b: 'x' }] }); big"],
  ["the value, getters", "Array.from({ length: 1e6 }, () => ({ get a() { return [1] } }))"],
];

test.each(loops)("%s", { timeout: 120_000 }, async (_, source) => {
  let beyondMs = Number.POSITIVE_INFINITY;
  // On a busy machine the clock that ends evaluations may be late.
  for (let attempt = 0; attempt < 5 && beyondMs > TOLERANCE_MS; attempt++) {
    const done = await sandbox.evaluate(source);
    expect(done).toMatchObject({ ok: false, error: { kind: "limit", limit: "cpuMs" } });
    beyondMs = Math.min(beyondMs, done.usage.cpuUs / 1_000 - CPU_MS);
  }
  expect(beyondMs).toBeLessThanOrEqual(TOLERANCE_MS);
});
