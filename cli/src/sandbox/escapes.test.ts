/**
 * Published escapes of vm2 (advisories until May 2026), isolated-vm and `node:vm`, each by the mechanism that its advisory describes, aimed
 * at the functions that this sandbox has in the place of those that were attacked. Every program calls `host` with whatever it got hold
 * of, which follows the chain of constructors and asks for a mark that only this program has. A control shows that `host` finds the
 * mark where there is an escape.
 */
import { createContext, runInContext } from "node:vm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Runtime } from "../embed/runtime.ts";
import type { Sandbox } from "./sandbox.ts";
import { tool } from "./tool.ts";

const mark = `mark-${process.pid}-${Math.random()}`;
const marked = globalThis as { tenonHostMark?: string };
const failures: unknown[] = [];
const note = (error: unknown) => failures.push(error);
let runtime: Runtime;
let sandbox: Sandbox;
beforeAll(async () => {
  marked.tenonHostMark = mark;
  process.on("unhandledRejection", note).on("uncaughtException", note);
  runtime = await Runtime.create({ modules: {}, logLevel: "off" });
  sandbox = await runtime.sandbox({
    limits: { cpuMs: 500, wallMs: 3_000, memoryBytes: 32 << 20, calls: 50 },
    tools: {
      take: tool({ run: (value) => value }),
      fails: tool({ run: () => Promise.reject(new TypeError("inside")) }),
      group: { list: tool({ run: () => [{ a: 1 }, new Uint8Array(2), new Date(0)] }) },
    },
  });
}, 300_000);
afterAll(async () => {
  process.off("unhandledRejection", note).off("uncaughtException", note);
  await runtime.close();
});

const prelude = `
const found = [];
const ask = (make) => { try { found.push(make("return globalThis.tenonHostMark")()) } catch {} };
const host = (value) => {
  for (let at = value, depth = 0; at !== null && at !== undefined && depth < 6; at = Object.getPrototypeOf(at), depth++) {
    try { ask(at.constructor.constructor) } catch {}
    try { ask(at.constructor) } catch {}
    try { ask(Object.getOwnPropertyDescriptor(at, "constructor").value) } catch {}
  }
  return value;
};
const symbolic = () => { const e = new Error(); e.name = Symbol(); return e.stack };
const natives = () => ["take", "fails", "console", "structuredClone", "URL", "TextEncoder", "fetch", "setTimeout", "crypto", "atob",
  "queueMicrotask", "AbortController", "performance", "Blob", "ReadableStream"].map((name) => globalThis[name]).filter(Boolean);
`;

/** A program for each mechanism; the advisories in front of it. */
const vm2: [advisories: string, source: string][] = [
  ["constructors of globals (issue 32)", "host(this ?? globalThis); host(globalThis); natives().forEach(host)"],
  ["constructor of a caught error (issue 32)", "try { await fails() } catch (e) { host(e); host(e.stack) }"],
  [
    "GHSA-mwcw-c2x4-8c55, CVE-2019-10761: RangeError of a deep stack",
    `const deep = (n) => { try { return deep(n + 1) } catch (e) { host(e); return take(n).catch(host) } };
     try { await deep(0) } catch (e) { host(e) }`,
  ],
  [
    "issue 174: a proxy's trap throws in the copy",
    "await take(new Proxy({}, { getPrototypeOf() { throw host } })).catch(host)",
  ],
  [
    "issue 175: an accessor for descriptors",
    `Object.defineProperty(Object.prototype, "get", { configurable: true, get() { throw host } });
     try { await take({ a: 1 }) } catch (e) { host(e) }`,
  ],
  [
    "issues 177, 179: a proxy's construct trap",
    `const P = new Proxy(class A {}, { construct: () => () => function () { return host(this) } });
     for (const use of [(P) => new P(), (P) => Reflect.construct(Array, [], P), (P) => Array.from.call(P, [1])]) try { host(use(P)) } catch (e) { host(e) }
     await take(P).catch(host)`,
  ],
  [
    "issue 184: __lookupGetter__ of __proto__",
    `const proto = ({}).__lookupGetter__("__proto__");
     for (const each of natives()) for (let at = each, n = 0; at && n < 5; n++) { host(at); at = proto.call(at) }`,
  ],
  [
    "CVE-2021-23449: the promise of import()",
    `for (const name of ["fs", "take", "tenon:engine", "node:process"]) { const p = import(name); host(p); host(p.constructor); await p.then(host, host) }`,
  ],
  [
    "CVE-2021-23555, CVE-2022-36067: prepareStackTrace",
    "Error.prepareStackTrace = (e, frames) => { host(e); host(frames); for (const f of frames) { host(f); for (const m of ['getThis', 'getFunction', 'getEvalOrigin']) try { host(f[m]()) } catch (e) { host(e) } } return frames }; host(new Error().stack); globalThis.Error = { prepareStackTrace: host }; try { null.x } catch (e) { host(e.stack) }",
  ],
  [
    "CVE-2022-25893: a WeakMap of the bridge",
    `for (const M of [WeakMap, Map, WeakSet, Set]) for (const name of ["get", "set", "has", "add"]) if (M.prototype[name]) {
       const was = M.prototype[name]; M.prototype[name] = function (...all) { host(this); all.forEach(host); return was.apply(this, all) } }
     await take({ a: [1] }); try { await fails() } catch (e) { host(e) } structuredClone({ a: new Map() })`,
  ],
  [
    "CVE-2023-29017: a stack in a rejection that nobody handles",
    "(async () => { Error.prepareStackTrace = (e, frames) => { host(frames); throw host }; const e = new Error(); e.name = { toString: host }; throw e })(); await 0",
  ],
  [
    "CVE-2023-29199, CVE-2023-30547: a proxy as the error",
    `const p = new Proxy({}, { getPrototypeOf() { try { null.x } catch (e) { throw e } }, get(t, k, r) { host(r); return undefined } });
     try { throw p } catch (e) { try { host(e) } catch (e) { host(e) } } throw p`,
  ],
  [
    "CVE-2023-32313: console and inspect",
    "console.log = new Proxy(console.log, { apply(...all) { all.forEach(host) } }); console.log({ [Symbol.for('nodejs.util.inspect.custom')]: host }); console.error(new Proxy({}, { get: (t, k, r) => host(r) }))",
  ],
  [
    "CVE-2023-32314: Function.prototype.call of a proxy",
    `const handler = new Proxy({}, { get: (t, name) => (...all) => { all.forEach(host); return Reflect[name](...all) } });
     const proxied = new Proxy(take, handler); await proxied({}).catch(host); await take.call(new Proxy({}, handler), new Proxy({}, handler)).catch(host)`,
  ],
  [
    "CVE-2023-37466: the species of a promise",
    `const p = take(1); p.constructor = { [Symbol.species]: class { constructor(run) { host(run); run(host, host) } } };
     try { p.then() } catch (e) { host(e) } Object.defineProperty(Promise, Symbol.species, { value: function (run) { run(host, host) } });
     try { take(1).then(host) } catch (e) { host(e) } try { fails().catch(host) } catch (e) { host(e) }`,
  ],
  [
    "CVE-2023-37903: a custom inspect of the result",
    "({ a: { toString: 1 }, inspect: 2, [Symbol.for('nodejs.util.inspect.custom')]: (d, o, inspect) => host(inspect) })",
  ],
  [
    "CVE-2026-22709: handlers of the promises of async functions",
    `const own = Promise.prototype.catch, then = Promise.prototype.then;
     const p = (async () => symbolic())(); host(p.constructor); await own.call(p, host); await then.call(fails(), host, host); await p.catch(host)`,
  ],
  [
    "CVE-2026-43999, GHSA-947f-4v7f-x2v8: modules that load modules",
    "for (const name of ['module', 'node:module', 'process', 'worker_threads', 'vm', 'v8', 'inspector']) await import(name).then((m) => host(m._load ?? m), host); try { host(require('module')) } catch (e) { host(e) }",
  ],
  [
    "CVE-2026-44000: the value of the program's promise",
    "const value = await group.list(); value.forEach(host); host(value); value.push(host); value[0].constructor = host; await take(value).then(host, host)",
  ],
  [
    "CVE-2026-44001, GHSA-hw58-p9xv-2mjh: a rejection of an executor",
    "new Promise((r, j) => symbolic()); new Promise((r, j) => j(host)); Promise.reject(new Proxy({}, {})); await new Promise((r) => setTimeout(r, 5))",
  ],
  [
    "CVE-2026-44008, GHSA-9qj6-qjgg-37qq, category 28: setters and getters of indexes",
    `for (const at of [0, 1]) { let kept; Object.defineProperty(Array.prototype, at, { configurable: true, get() { host(this); return kept }, set(v) { host(this); host(v); kept = v } }) }
     await take([1, 2, { a: 1 }]).catch(host); await group.list().then(host, host); new URL("http://a/?b=1").searchParams.forEach(host)`,
  ],
  [
    "CVE-2026-44007, GHSA-8hg8-63c5-gwmx: the sandbox in the sandbox",
    "for (const name of ['vm2', 'tenon', '@tenon/native', 'isolated-vm', 'handler.js', 'sandbox.js', 'given:take']) await import(name).then(host, host)",
  ],
  [
    "CVE-2026-45411: return of an async generator",
    `async function* inner() { try { yield 1 } finally { symbolic() } } async function* outer() { try { yield* inner() } catch (e) { host(e) } }
     const g = outer(); await g.next(); await g.return({ then() { throw symbolic() } }).catch(host); await g.return({ then(r, j) { host(r); host(j); j(host) } }).catch(host)`,
  ],
  [
    "GHSA-qcp4-v2jj-fjx8, category 1: fields of prototypes",
    "for (const name of Object.getOwnPropertyNames(globalThis)) { const value = globalThis[name]; if (typeof value === 'function') { host(value); host(value.prototype) } }",
  ],
  [
    "GHSA-v37h-5mfm-c47c, category 9: handlers in the open",
    "const h = {}; const p = new Proxy({}, h); for (const name of ['get', 'set', 'has', 'getPrototypeOf', 'ownKeys', 'getOwnPropertyDescriptor']) h[name] = (...all) => { all.forEach(host); return Reflect[name](...all) }; console.log(p); await take(p).catch(host); p",
  ],
  [
    "category 3: hasInstance",
    "Object.defineProperty(Promise, Symbol.hasInstance, { value: () => false }); Object.defineProperty(Error, Symbol.hasInstance, { value: (e) => { host(e); return true } }); await fails().catch(host); throw new Error('x')",
  ],
  [
    "category 3: toPrimitive and iterators",
    "Symbol.prototype[Symbol.toPrimitive] = function () { host(this); throw host }; Array.prototype[Symbol.iterator] = function* () { host(this); yield host }; await take([1]).catch(host); await group.list().catch(host)",
  ],
  [
    "category 4: the error of an error",
    "const e = new Error('x', { cause: symbolic }); e.name = Symbol(); try { String(e) } catch (e) { host(e); host(e.cause) } const all = new AggregateError([e], 'y'); all.errors.forEach(host); throw all",
  ],
  [
    "category 5: callers",
    "function f() { try { host(f.caller) } catch (e) { host(e) } try { host(arguments.callee.caller) } catch (e) { host(e) } try { host(f.arguments) } catch (e) { host(e) } } f(); [1].forEach(f); await take(1).then(f); natives().forEach((n) => { try { host(n.caller) } catch (e) { host(e) } })",
  ],
  [
    "category 6: every trap throws",
    "const h = new Proxy({}, { get: (t, name) => () => { throw host } }); for (const use of [take, structuredClone, (v) => console.log(v), (v) => new Blob([v]), (v) => JSON.stringify(v), (v) => crypto.getRandomValues(v)]) try { await use(new Proxy({}, h)) } catch (e) { host(e) } throw new Proxy(function () {}, h)",
  ],
  [
    "category 7: Function.prototype.call of promises",
    "const was = Function.prototype.call; Function.prototype.call = function (...all) { host(this); all.forEach(host); return Reflect.apply(was, this, all) }; await Promise.resolve().then(() => 1); await take({ a: 1 })",
  ],
  [
    "category 8: symbols across realms",
    "for (const each of natives()) for (const key of Reflect.ownKeys(each.prototype ?? each)) if (typeof key === 'symbol') { host(key); host((each.prototype ?? each)[key]) } Symbol.for = host; Object.assign(new Proxy({}, { set: (t, k, v) => { host(k); return host(v), true } }), console)",
  ],
  [
    "category 10: built-in functions in other hands",
    "Object.create = host; Object.defineProperty = host; Reflect.apply = host; globalThis.Array = function () { throw host }; Array.prototype = null; Object.keys = host; Array.from = host; await take([1, { a: 2 }]).catch(host); await group.list().then(host, host)",
  ],
  [
    "category 11: call, apply and bind as accessors",
    "for (const name of ['call', 'apply', 'bind', 'get', 'set', 'value', 'then', 'body', 'method', 'reason']) Object.defineProperty(Object.prototype, name, { configurable: true, get() { host(this); return undefined }, set(v) { host(v) } }); await take({ a: 1 }).catch(host); try { await fails() } catch (e) { host(e) }",
  ],
  [
    "category 12: names of the transformer",
    "for (const name of ['VM2_INTERNAL_STATE_DO_NOT_USE_OR_PROGRAM_WILL_FAIL', 'VM2_INTERNAL_TMPNAME', '$0', '__host', 'evaluate', 'answer', 'modules', 'handler']) { try { host(eval(name)) } catch (e) { host(e) } host(globalThis[name]) }",
  ],
  [
    "category 13: import in functions from text",
    "await new Function('return import(\"node:fs\")')().then(host, host); await (0, eval)('import(\"take\")').then(host, host); await (async () => {}).constructor('return import.meta')().then(host, host)",
  ],
  [
    "category 14: has on the prototype of objects",
    "Object.prototype.has = (t, k) => { host(t) }; Object.prototype.get = (t, k) => host(t); 'x' in take; await take({ x: 1 })",
  ],
  [
    "category 15: values of descriptors",
    "for (const each of natives()) for (let at = each; at; at = Object.getPrototypeOf(at)) for (const d of Object.values(Object.getOwnPropertyDescriptors(at))) for (const v of Object.values(d)) host(v)",
  ],
  [
    "category 16: using and SuppressedError",
    "for (const text of ['{ using a = { [Symbol.dispose]: symbolic }; throw null }', 'const s = new DisposableStack(); s.defer(() => { throw null }); s.defer(symbolic); s.dispose()', '(async () => { await using a = { [Symbol.asyncDispose]: symbolic }; throw null })()']) try { await eval(text) } catch (e) { host(e); host(e?.error); host(e?.suppressed) }",
  ],
  [
    "category 17: WebAssembly's catch",
    "try { host(WebAssembly); host(new WebAssembly.Instance(new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])))) ; host(WebAssembly.JSTag) } catch (e) { host(e) }",
  ],
  [
    "category 18: the species of arrays",
    "const r = await group.list(); function x() { return r } x[Symbol.species] = x; r.constructor = x; for (const name of ['map', 'filter', 'slice', 'splice', 'concat', 'flat', 'flatMap']) try { r[name](host).forEach(host) } catch (e) { host(e) } r.forEach(host)",
  ],
  [
    "category 19: Array.fromAsync",
    "await Array.fromAsync?.([0, take(1), fails()], () => symbolic()).catch((e) => { host(e); host(e.error) }); await Array.fromAsync?.({ [Symbol.asyncIterator]: () => ({ next: () => fails() }) }).catch(host)",
  ],
  [
    "category 20, GHSA-vwrp-x96c-mhwq: prototypes of the program",
    "for (let at = await group.list(); at; at = Object.getPrototypeOf(at)) at.tenonPolluted = 1; for (const each of natives()) for (let at = each; at; at = Object.getPrototypeOf(at)) try { at.tenonPolluted = 1; delete at.hasOwnProperty } catch {}",
  ],
  ["category 23, GHSA-6785-pvv7-mvg7: one large allocation", "new Uint8Array(2 ** 31 - 1); new ArrayBuffer(2 ** 30)"],
  [
    "category 26, GHSA-9vg3-4rfj-wgcm: an object without a prototype as the error",
    "const o = { __proto__: null }; try { throw o } catch (e) { e.f = take; host(o.f) } await Promise.reject(o).catch((e) => { e.f = console.log; host(o.f) }); throw o",
  ],
  [
    "category 27, GHSA-2cm2-m3w5-gp2f: internal state by its name",
    "for (const key of Reflect.ownKeys(globalThis)) { host(globalThis[key]); host(Object.getOwnPropertyDescriptor(globalThis, key)) }",
  ],
];

const isolatedVm: typeof vm2 = [
  [
    "CVE-2021-21413: references to the program's objects",
    "for (const each of [take, group, input, process, process.env]) { host(each); for (const name of ['copySync', 'derefInto', 'deref', 'getSync', 'applySync', 'typeof', 'release']) try { host(each[name]()) } catch (e) { host(e) } }",
  ],
  [
    "CVE-2022-39266: bytecode from outside",
    "for (const make of [() => new Script('1', { cachedData: new Uint8Array(64) }), () => eval(new Uint8Array(64)), () => structuredClone({ bytecode: new Uint8Array(64) })]) try { host(make()) } catch (e) { host(e) } await import('data:application/octet-stream,x').catch(host)",
  ],
  [
    "GHSA-864f-rcv7-6rh4: copies of confused types",
    `const fake = Object.setPrototypeOf({}, Uint8Array.prototype), date = Object.setPrototypeOf({}, Date.prototype), shrinks = new ArrayBuffer(64, { maxByteLength: 128 });
     const view = new Uint8Array(shrinks); const trap = { get a() { shrinks.resize(0); return view } }; const gone = new Uint8Array(8); gone.buffer.transfer?.();
     for (const value of [fake, date, [view, trap, view], gone, new DataView(shrinks), new Proxy(new Date(), {}), Object.create(new Uint8Array(4)), new (class extends Uint8Array { get length() { return 2 ** 30 } })(4), new (class extends Array { get length() { return 2 ** 31 } })(1)])
       for (const use of [take, structuredClone]) try { host(await use(value)) } catch (e) { host(e) }`,
  ],
  ["out of memory in an isolate", "const all = []; for (;;) all.push(new Array(1e5).fill({}))"],
  ["a regular expression that does not end", "/(x+x+)+y/.test('x'.repeat(1e4))"],
];

const nodeVm: typeof vm2 = [
  ["the constructor of this", "host(globalThis.constructor); host((function () { return this })() ?? globalThis)"],
  ["the constructor of an argument", "host(input); host(input?.list)"],
  ["a function of the program", "host(take); host(take.constructor)"],
  ["the result of a function of the program", "host(await take({ a: 1 }))"],
  ["the error of a function of the program", "try { await fails() } catch (e) { host(e) }"],
  [
    "getters that the program reads",
    "({ get stack() { return host(this) }, get toString() { return host }, get toJSON() { return host }, get then() { host(this); return undefined } })",
  ],
  [
    "a proxy that the program reads",
    "new Proxy({}, { get(t, k, r) { host(r); host(k); return undefined }, ownKeys: () => ['a'], getOwnPropertyDescriptor: () => ({ value: host, enumerable: true, configurable: true }) })",
  ],
  ["a thenable that the program awaits", "({ then(resolve, reject) { host(resolve); host(reject); resolve(host) } })"],
  [
    "an error that the program prints",
    "const e = new Error('x'); Object.defineProperty(e, 'stack', { get() { host(this); return { toString: host } } }); throw e",
  ],
  ["microtasks after the end", "Promise.resolve().then(function again() { return Promise.resolve().then(again) }); 1"],
  ["a loop in an async function", "(async () => { for (;;) await 0 })(); 1"],
  ["timers after the end", "setTimeout(() => { for (;;); }, 0); 1"],
  [
    "a finalizer",
    "new FinalizationRegistry(() => { for (;;); }).register({}, 1); let a = []; for (let i = 0; i < 1e4; i++) a = [a.length]; 1",
  ],
  ["a dynamic import", "host(await import('node:os').catch((e) => e))"],
];

const withHost = (source: string) => `${prelude}${source}\n;const result = found; result`;

test.each([...vm2, ...isolatedVm, ...nodeVm])("%s", { timeout: 60_000 }, async (_, source) => {
  const before = Reflect.ownKeys(Object.prototype).length;
  // The value of the program's last expression, and the marks that it found.
  for (const text of [`${prelude}${source}`, withHost(source)]) {
    const done = await sandbox.evaluate(text, { input: { list: [1] } });
    expect(JSON.stringify(done)).not.toContain(mark);
    if (!done.ok) expect(done.error.kind, done.error.message).not.toBe("syntax");
    // A host that prints, copies or awaits the answer runs none of its code.
    await (done as { value?: unknown }).value;
    structuredClone(done);
  }
  expect(Reflect.ownKeys(Object.prototype).length).toBe(before);
  expect(({} as { tenonPolluted?: number }).tenonPolluted).toBe(undefined);
  expect(failures).toEqual([]);
  expect(await sandbox.evaluate("typeof tenonPolluted")).toMatchObject({ value: "undefined" });
});

test("the same programs reach the program from `node:vm`", async () => {
  const list = [{ a: 1 }, new Uint8Array(2), new Date(0)];
  const globals = {
    take: async (value: unknown) => value,
    fails: () => Promise.reject(new TypeError("inside")),
    group: { list: async () => list },
    input: { list: [1] },
    console: { log: () => {}, error: () => {} },
  };
  const reaches = async (source: string) => {
    const context = createContext(globals);
    const found: Promise<unknown[]> = runInContext(`(async () => {${withHost(source)}; return found})()`, context);
    return (await found.catch((): unknown[] => [])).includes(mark);
  };
  const simple = nodeVm.slice(0, 5);
  expect(await Promise.all(simple.map(([, source]) => reaches(source)))).toEqual([true, true, true, false, true]);
  expect(await reaches("host(await group.list())")).toBe(true);
});
