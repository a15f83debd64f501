// Writes hostile programs by a grammar of JavaScript: its own constructs, the tools of the attack, and steps that reach for limits, for the
// program's objects, and for what other evaluations left.

/** Random numbers that a seed repeats (mulberry32). */
export function randomOf(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const globals =
  `Object Array Function Promise Error RangeError Map Set WeakMap WeakSet WeakRef Proxy Reflect JSON Math Symbol String Number BigInt Date RegExp
  ArrayBuffer SharedArrayBuffer Uint8Array Float64Array DataView Atomics Iterator FinalizationRegistry console URL URLSearchParams TextEncoder
  TextDecoder crypto structuredClone queueMicrotask setTimeout AbortController AbortSignal Event EventTarget performance fetch Headers Request
  Response Blob FormData ReadableStream process input globalThis take fails slow secret group`.split(/\s+/);
const names =
  `constructor prototype __proto__ then toString valueOf toJSON length name message stack cause get set value map push call apply bind
  next return body kept a b c`.split(/\s+/);
const symbols = [
  "iterator",
  "asyncIterator",
  "species",
  "toPrimitive",
  "hasInstance",
  "toStringTag",
  "unscopables",
  "dispose",
];
const operators = ["+", "-", "*", "/", "%", "**", "<", "===", "&&", "||", "??", "in", "instanceof", ",", ">>>", "&"];

/** Steps that stay within every limit, and look for traces of others. */
const looks = [
  "look(globalThis)",
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
const leaves = [
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
  stack: [
    "const f = (n) => f(n + 1) + 1; f(0)",
    "const o = {}; o.o = o; JSON.stringify(o, (k, v) => ({ v }))",
    "class A { get x() { return this.x } } new A().x",
  ],
};

/** Texts that every program begins with. */
const prelude = `const found = new Set();
const look = (value, depth = 0) => {
  if (typeof value === "string") { for (const [each] of value.matchAll(/canary-[0-9a-f]{16}/g)) found.add(each); return value }
  if (depth > 3 || value === null || (typeof value !== "object" && typeof value !== "function")) return value;
  if (value instanceof Uint8Array) { look(String.fromCharCode(...value.subarray(0, 60_000)), depth); return value }
  for (const key of Reflect.ownKeys(value).slice(0, 200)) { look(String(key)); try { look(value[key], depth + 1) } catch {} }
  return value;
};
`;

/** Makes programs by random numbers. With `aim`, the name of a limit, each fourth one reaches for it, and none for another. */
export function programsOf(random, aim) {
  const below = (count) => Math.floor(random() * count);
  const pick = (from) => from[below(from.length)];
  const many = (most, make, join = ", ") => Array.from({ length: below(most + 1) }, make).join(join);
  const literal = () =>
    pick([
      "0",
      "-1",
      "1e9",
      "2 ** 31",
      "NaN",
      "''",
      "'a\\ud800'",
      "`$" + "{1}`",
      "null",
      "undefined",
      "true",
      "10n",
      "/a+/g",
      "[]",
      "{}",
      "Symbol()",
      "input",
      "new Date(0)",
      "new Uint8Array(8)",
    ]); // prettier-ignore
  const key = () => (below(4) === 0 ? `[Symbol.${pick(symbols)}]` : `.${pick(names)}`);
  const expression = (depth) => {
    if (depth <= 0) return below(2) ? literal() : pick(globals);
    const next = () => expression(depth - 1 - below(2));
    switch (below(20)) {
      case 0:
        return `(${next()} ${pick(operators)} ${next()})`;
      case 1:
        return `${pick(globals)}${key()}`;
      case 2:
        return `(${next()})?.${pick(names)}?.(${many(3, next)})`;
      case 3:
        return `new ${pick(globals)}(${many(2, next)})`;
      case 4:
        return `[${many(3, next)}, ...[${next()}]]`;
      case 5:
        return `({ ${pick(names)}: ${next()}, get ${pick(names)}() { ${statements(1, depth - 1)} return ${next()} } })`;
      case 6:
        return `((${many(2, () => pick(["a", "b = 1", "...c"]).replace("...c", "d"))}) => ${next()})(${many(2, next)})`;
      case 7:
        return `(await ${pick(["take", "secret", "fails", "group.list"])}(${many(1, next)}).catch((e) => e))`;
      case 8:
        return `new Proxy(${pick(["{}", "[]", "take", "class {}", "function () {}"])}, { ${pick(["get", "has", "ownKeys", "getPrototypeOf", "apply", "construct", "set"])}: (...all) => ${next()} })`;
      case 9:
        return `Reflect.${pick(["ownKeys", "getPrototypeOf", "apply", "construct", "get", "set", "defineProperty"])}(${many(3, next)})`;
      case 10:
        return `(typeof ${next()})`;
      case 11:
        return `class { static ${pick(names)} = ${next()}; #p = ${literal()}; ${pick(["a", "b", "toString"])}() { return this.#p } }`;
      case 12:
        return `eval(${JSON.stringify(expression(depth - 2).replaceAll("await ", ""))})`;
      case 13:
        return `(function* () { ${below(2) ? `yield ${next().replaceAll("await ", "")}` : "yield* []"} })().next()`;
      case 14:
        return `(async () => ${next()})()`;
      case 15:
        return `Object.${pick(["assign", "defineProperty", "freeze", "setPrototypeOf", "entries", "fromEntries", "create"])}(${many(3, next)})`;
      case 16:
        return `structuredClone(${next()})`;
      case 17:
        return `import(${pick(["'crm'", "'take'", "'node:fs'", "'tenon:engine'", "'group'"])}).catch((e) => e.message)`;
      default:
        return below(2) ? literal() : pick(globals);
    }
  };
  const statement = (depth) => {
    switch (below(14)) {
      case 0:
        return `try { ${statements(2, depth - 1)} } catch (e) { look(e) } finally { ${statements(1, depth - 1)} }`;
      case 1:
        return `if (${expression(depth - 1)}) { ${statements(2, depth - 1)} }`;
      case 2:
        return `for (let i = 0; i < ${below(20)}; i++) { ${statements(1, depth - 1)} }`;
      case 3:
        return `try { ${pick(globals)}${key()} = ${expression(depth - 1)} } catch {}`;
      case 4:
        return `try { Object.defineProperty(${pick(globals)}.prototype ?? {}, ${below(3) ? `'${pick(names)}'` : `Symbol.${pick(symbols)}`}, { configurable: true, ${pick(["get() { return look(this, 3) }", "value: 1", "set(v) { look(v, 2) }"])} }) } catch {}`;
      case 5:
        return `const v${below(1e6)}: unknown = ${expression(depth)}`;
      case 6:
        return `console.${pick(["log", "error", "warn"])}(${expression(1)})`;
      case 7:
        return `{ const { ${pick(["a", "b"])}, ...rest } = Object(${expression(depth - 1)}); look(rest, 3) }`;
      case 8:
        return pick(leaves);
      case 9:
        return pick(looks);
      default:
        return `try { look(${expression(depth)}, 2) } catch (e) { look(e, 3) }`;
    }
  };
  const statements = (most, depth) => (depth <= 0 ? "" : many(most, () => statement(depth), "; "));
  const limitNames = Object.keys(reaches);

  /** The next program: its text, and the limit that it reaches for, if any. */
  return function program() {
    // Most look for things, because those that reach for a limit take the time of a hundred others.
    const reach = aim === undefined ? below(12) === 0 && pick(limitNames) : below(4) === 0 && aim;
    const aims = reach === false || reaches[reach] === undefined ? undefined : reach;
    const body = [pick(leaves), ...Array.from({ length: 1 + below(5) }, () => statement(3)), pick(looks)];
    if (aims !== undefined) body.splice(below(body.length), 0, `{ ${pick(reaches[aims])} }`);
    const end = below(3) ? "return [...found]" : `return [[...found], ${expression(2)}]`;
    return { source: `${prelude}export default async () => {\n${body.join(";\n")};\n${end} }`, aims };
  };
}
