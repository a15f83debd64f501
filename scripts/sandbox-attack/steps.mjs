// Parts of generated programs that are not random: steps that look for traces, that leave some, that use tools wrongly, or that reach for a limit.

/** Steps that stay within every limit, and look for traces of others. */
export const looks = [
  "look(globalThis, 1)",
  "look(process.env)",
  "look([take, fails, slow, secret, group].map((t) => Reflect.ownKeys(t).map((k) => t[k])))",
  "look(new Uint8Array(1 << 16))",
  "look(String.fromCharCode(...new Uint8Array(new ArrayBuffer(4096))))",
  "look(await group.list())",
  "look(await secret())",
  "look(new Array(1000).concat(Object.getOwnPropertyNames(Object.prototype)))",
  "look(crypto.getRandomValues(new Uint8Array(64)))",
  "look(new Error().stack)",
  "try { await fails() } catch (e) { look(e.message) }",
];

/** Steps that leave something where another evaluation might find it. */
export const leaves = [
  "globalThis.kept = input.canary",
  "Object.prototype.kept = input.canary",
  "Array.prototype.kept = [input.canary]",
  "process.env.KEPT = input.canary",
  "take.kept = input.canary",
  "console.kept = input.canary",
  "Symbol.for(input.canary)",
  "(globalThis.all ??= []).push(input.canary.repeat(100))",
  "new TextEncoder().encode(input.canary.repeat(500)); structuredClone([input.canary])",
  "console.log(input.canary)",
  "await take(input.canary)",
  "setTimeout(() => { globalThis.kept = input.canary }, 1)",
  "Object.defineProperty(Function.prototype, 'kept', { get: () => input.canary, configurable: true })",
];

/** Steps that use tools wrongly. Each stays within every limit. */
export const misuses = [
  "take()",
  "void take(1)",
  "fails().catch(() => {})",
  "void slow(1)",
  "await take.call(null, 1)",
  "try { await take(take) } catch (e) { look(e) }",
  "try { await take(new Map([[1, 2]])) } catch (e) { look(e) }",
  "try { await take(Symbol.iterator) } catch (e) { look(e) }",
  "try { await take(new Proxy({}, { ownKeys() { throw input.canary } })) } catch (e) { look(e) }",
  "try { await take({ get x() { return take.y } }) } catch (e) { look(e) }",
  "try { const o = {}; o.o = o; await take(o) } catch (e) { look(e) }",
  "try { await take({ toJSON: 1, then: (f) => f(2) }) } catch (e) { look(e) }",
  "try { new take(1) } catch (e) { look(e) }",
  "try { look(await slow('x')) } catch (e) { look(e) }",
  "try { look(await slow(NaN, 1, 2)) } catch (e) { look(e) }",
  "try { await group.nothing() } catch (e) { look(e) }",
  "try { await group.list.list() } catch (e) { look(e) }",
  "try { throw take } catch (e) { look(e) }",
  "try { throw await fails() } catch (e) { look(e) } finally { void take('late') }",
  "await Promise.race([slow(2), take(1)])",
  "await Promise.any([fails(), take(1)]).then(look)",
  "{ const stop = new AbortController(); const one = slow(3); stop.abort(); await Promise.race([one, take(0)]) }",
  "try { await fetch('http://127.0.0.1/', { signal: AbortSignal.abort() }) } catch (e) { look(e) }",
  "try { await fetch('https://tools/take', { method: 'POST', body: input.canary }) } catch (e) { look(e) }",
  "try { await fetch('file:///etc/passwd') } catch (e) { look(e) }",
  "{ const one = take(1); one.then = null; await one }",
  "{ const { then } = Promise.prototype; Promise.prototype.then = function (...all) { look(all, 3); return then.apply(this, all) }; await take(2); Promise.prototype.then = then }",
  "setTimeout(() => { void take('after') }, 0)",
  "for (const each of [take, slow, secret]) await each(0)",
  "await take('x'.repeat(5_000))",
  "await take(new Uint8Array(3_000))",
  "await take([new Date(NaN), -0, undefined, 1e400, '\\ud800'])",
];

/** Steps that reach a limit, by its name. */
export const reaches = {
  cpuMs: [
    "for (;;);",
    "/^(a+)+$/.test('a'.repeat(40) + 'b')",
    "let n = 3n; for (;;) n = n * n % (1n << 9000n) + 1n",
    "const f = () => Promise.resolve().then(f); await f()",
    "for (;;) { try { for (;;) JSON.parse(JSON.stringify([1, {}])) } catch {} finally { continue } }",
    "Array.from({ length: 1e5 }, (_, i) => -i).sort(() => { for (;;); })",
    "function* g() { for (;;) yield* [1, 2] } for (const x of g());",
    "new Proxy({}, { get: () => { for (;;); } }).x",
    "throw { get message() { for (;;); } }",
  ],
  wallMs: [
    "await new Promise((r) => setTimeout(r, 3000))",
    "await slow(3000)",
    "await Promise.all([slow(3000), slow(3000)])",
  ],
  memoryBytes: [
    "const all = []; for (;;) all.push(new Uint8Array(1 << 20))",
    "const all = []; for (;;) all.push('x'.repeat(1 << 20) + all.length)",
    "let s = 'x'; for (;;) s += s",
    "new ArrayBuffer(48 << 20)",
    "const all = new Map(); for (let i = 0; ; i++) all.set({ i }, [i])",
    "let a = []; for (;;) a = [a, a.slice()]",
    "Array(3e6).fill(0).map(() => ({}))",
  ],
  calls: [
    "for (let i = 0; i < 60; i++) await take(i)",
    "await Promise.allSettled(Array.from({ length: 60 }, (_, i) => take(i)))",
  ],
  concurrentCalls: ["await Promise.all(Array.from({ length: 12 }, () => slow(5)))"],
  outputBytes: ["return 'x'.repeat(70_000)", "return new Uint8Array(70_000)", "return Array(30_000).fill(1)"],
  logBytes: ["for (let i = 0; i < 300; i++) console.log('0123456789'.repeat(5))", "console.error('x'.repeat(20_000))"],
  sourceBytes: [`/*${"x".repeat(40_000)}*/`],
  // Each has a value if the run is not ended, or if its end is caught.
  regexSteps: [
    "if (/^(a+)+$/.test('a'.repeat(14) + 'b') === false) return passed",
    "if (/x*?y/.exec('x'.repeat(300)) === null) return passed",
    "if (('a'.repeat(14) + 'b').search(/^(?=(a|a)*$)/) === -1) return passed",
    "if (eval('/^(?:a{1,9}){1,20}$/').test('a'.repeat(16) + 'b') === false) return passed",
    "if (new Function('return /(?<=^(a+)+)$/g.exec(`b` + `a`.repeat(14))')() === null) return passed",
    "try { /^(?!(a+)+$)/y.test('a'.repeat(14) + 'b') } finally { return passed }",
    "try { /^(?<n>a+)+$/d.exec('a'.repeat(14) + 'b') } catch { return passed }",
    "try { await (async () => /^(a*?)*$/.test('a'.repeat(14) + 'b'))() } catch { return passed }",
    "await new Promise((r) => { try { /^(a+)+$/.test('a'.repeat(14) + 'b') } finally { r() } }); return passed",
  ],
  stack: [
    "const f = (n) => f(n + 1) + 1; f(0)",
    "const o = {}; o.o = o; JSON.stringify(o, (k, v) => ({ v }))",
    "class A { get x() { return this.x } } new A().x",
  ],
};

/** Texts that every program begins with. */
export const prelude = `const found = new Set(), seen = new Set();
const decode = TextDecoder.prototype.decode.bind(new TextDecoder());
const tag = (strings, ...values) => look(values, 3);
let fuel = 100;
const passed = "passed";
const look = (value, depth = 0) => {
  if (typeof value === "string") { if (value.includes("canary-")) for (const [each] of value.matchAll(/canary-[0-9a-f]{16}/g)) found.add(each); return value }
  if (depth > 3 || value === null || (typeof value !== "object" && typeof value !== "function") || seen.has(value)) return value;
  seen.add(value);
  if (value instanceof Uint8Array) { look(decode(value), depth); return value }
  for (const key of Reflect.ownKeys(value).slice(0, 200)) { look(String(key)); try { look(value[key], depth + 1) } catch {} }
  return value;
};
`;
