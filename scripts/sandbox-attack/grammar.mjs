// Writes hostile programs by a grammar of JavaScript: every statement and expression that the language has, with the tools of the attack in its
// vocabulary, and steps that reach for limits, for the program's objects, and for what other evaluations left (steps.mjs).
import { leaves, looks, misuses, prelude, reaches } from "./steps.mjs";

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
const symbols =
  `iterator asyncIterator species toPrimitive hasInstance toStringTag unscopables dispose match matchAll replace search split
  isConcatSpreadable`.split(/\s+/);
const operators = "+ - * / % ** < <= == === != && || ?? in instanceof , >>> >> << & | ^".split(" ");
const assignments = "= += -= *= **= >>>= &&= ||= ??= |=".split(" ");
const literals =
  `0 -0 -1 1e9 (2**31) NaN Infinity '' 'a\\ud800' \`$\{1}\` null undefined true 0n 10n -(2n**64n) /a+/g /(?<y>\\d)|\\1/ /[\\w--\\d]/v [] [,] ({})
  Symbol() input new~Date(0) new~Uint8Array(8) this`
    .split(/\s+/)
    .map((text) => text.replace("~", " "));
const arrays =
  `Int8Array Uint8Array Uint8ClampedArray Int16Array Uint32Array Float32Array Float64Array BigInt64Array BigUint64Array`.split(
    " ",
  );
const arrayMethods = `at copyWithin fill slice subarray set sort toSorted with reverse indexOf join map filter`.split(
  " ",
);
const traps =
  `get set has ownKeys getPrototypeOf setPrototypeOf apply construct deleteProperty defineProperty getOwnPropertyDescriptor isExtensible
  preventExtensions`.split(/\s+/);
const patterns = [
  "a+",
  "(a|b)*c",
  "(?=a)b",
  "(?<!x)\\d{1,3}",
  "[^]",
  "\\p{L}+",
  "(?<n>.)\\k<n>",
  "^$",
  "\\b.",
  "(a+)+$",
  "((((x))))\\4",
  "[a-z]",
];
const texts = ["'aaab'", "''", "'x'.repeat(50)", "input.canary", "'\\ud83d\\ude00'", "'A1_b2'"];

/** Makes programs by random numbers. With `aim`, the name of a limit, each fourth one reaches for it, and none for another. */
export function programsOf(random, aim) {
  const below = (count) => Math.floor(random() * count);
  const pick = (from) => from[below(from.length)];
  const many = (most, make, join = ", ") => Array.from({ length: below(most + 1) }, make).join(join);
  const key = () => (below(4) === 0 ? `[Symbol.${pick(symbols)}]` : `.${pick(names)}`);
  const member = () => (below(4) === 0 ? `[Symbol.${pick(symbols)}]` : pick(names));
  const leaf = () => (below(2) ? pick(literals) : pick(globals));
  /** A text that is valid where `await` is not. */
  const plain = (text) => text.replaceAll("await ", "");
  const parameters = () => pick(["", "a", "b = 1", "a, { c } = {}", "a, [d] = []", "...rest"]);

  const expressions = [
    (e) => `(${e()} ${pick(operators)} ${e()})`,
    () => `${pick(globals)}${key()}`,
    (e) => `(${e()})?.${pick(names)}?.(${many(3, e)})`,
    (e) => `new ${pick(globals)}(${many(2, e)})`,
    (e) => `[${many(3, e)}, ...[${e()}]]`,
    (e, depth) =>
      `({ ${member()}: ${e()}, get ${member()}() { ${inner(1, depth)} return ${plain(e())} }, set ${member()}(v) { look(v, 3) } })`,
    (e) => `({ [${e()}]: ${e()}, ...${e()}, async *${member()}() { yield ${plain(e())} } })`,
    (e) => `((${parameters()}) => ${plain(e())})(${many(2, e)})`,
    (e) => `(await ${pick(["take", "secret", "fails", "group.list"])}(${many(2, e)}).catch((e) => e))`,
    (e) =>
      `new Proxy(${pick(["{}", "[]", "take", "class {}", "function () {}", "new Map()", "new Uint8Array(4)"])}, { ${pick(traps)}: (...all) => ${plain(e())}, ${pick(traps)}(...all) { look(all, 3); return Reflect.${pick(traps)}(...all) } })`,
    (e) => `Reflect.${pick(traps)}(${many(3, e)})`,
    (e) => `(${pick(["typeof", "void", "!", "-", "+", "~"])} ${e()})`,
    (e, depth) =>
      `class ${pick(["", "extends Array", "extends Promise", "extends Error", "extends null", "extends take.constructor"])} { static ${member()} = ${plain(e())}; #p = ${pick(literals.slice(0, 12))}; static { ${inner(1, depth)} } get ${member()}() { return this.#p } static has(o) { return #p in o } }`,
    (_, depth) => `${pick(["eval", "(0, eval)", "new Function"])}(${JSON.stringify(plain(expression(depth - 2)))})`,
    (e) =>
      `[...(function* () { try { const got = yield ${plain(e())}; yield* [got, ${plain(e())}] } finally { look(1) } })()]`,
    (e) =>
      `(() => { const g = (function* () { try { yield 1 } finally { yield ${plain(e())} } })(); return [g.next(), g.${pick(["return", "throw", "next"])}(${plain(e())})] })()`,
    (e) => `(async () => ${e()})()`,
    (e) =>
      `Object.${pick(["assign", "defineProperty", "freeze", "setPrototypeOf", "entries", "fromEntries", "create", "groupBy", "getOwnPropertyDescriptors"])}(${many(3, e)})`,
    (e) => `structuredClone(${e()})`,
    () =>
      `import(${pick(["'crm'", "'take'", "'node:fs'", "'tenon:engine'", "'group'", "({ toString() { return 'take' } })"])}).catch((e) => e.message)`,
    (e) =>
      `new ${pick(arrays)}(${pick(["8", "[1, 2, 3]", "new ArrayBuffer(16, { maxByteLength: 64 })", "new ArrayBuffer(16), 8", `Object(${e()})`])}).${pick(arrayMethods)}(${many(3, e)})`,
    (e) =>
      `(() => { const b = new ArrayBuffer(16, { maxByteLength: 4096 }), v = new ${pick(arrays)}(b); b.resize(${pick(["0", "4096", "8"])}); ${pick(["b.transfer();", "", "v.sort(() => { b.resize(8); return 1 });"])} return [v.length, v[1], ${plain(e())}] })()`,
    () =>
      `BigInt.${pick(["asIntN", "asUintN"])}(${below(200)}, ${below(1e9)}n ${pick(["*", "**", "-", "/", "%", "<<", ">>", "&", "^"])} ${1 + below(300)}n)`,
    (e) => `(BigInt(${below(1e9)}) ${pick(operators)} ${e()})`,
    () =>
      `${pick(texts)}.${pick(["match", "matchAll", "replace", "replaceAll", "search", "split"])}(new RegExp(${JSON.stringify(pick(patterns) + pick(patterns))}, ${JSON.stringify(pick(["", "g", "gi", "u", "v", "sy", "gd", "gm"]))}), ${pick(["'$<n>$1$&'", "(...m) => look(m, 2)", "3"])})`,
    () => `(/${pick(patterns)}/${pick(["", "g", "d", "i"])}).${pick(["exec", "test", "toString"])}(${pick(texts)})`,
    (e) => `tag\`a$\{${e()}}b\``,
    (e) => `(${e()} ? ${e()} : ${e()})`,
    (e) =>
      `Array.from({ length: ${below(40)} }, (_, i) => ${plain(e())}).${pick(["flat()", "sort()", "toSorted((a, b) => b - a)", "reduce((a, b) => [a], 0)", "entries().toArray()", "with(0, 1)", "toSpliced(1, 2, 3)"])}`,
    (e) => `new ${pick(["Map", "Set", "WeakMap"])}(${pick(["[[1, 2]]", `[${e()}]`, "[[{}, 1]]"])})`,
    (e) => `Promise.${pick(["all", "race", "any", "allSettled", "try", "withResolvers"])}([${many(3, e)}])`,
    (e) => `JSON.${pick(["parse", "stringify"])}(${pick(texts)}, ${pick(["null", "(k, v) => v", "['a']"])}, ${e()})`,
    (e) =>
      `new Date(${many(3, e)}).${pick(["toISOString", "getTime", "toJSON", "setMonth", "toLocaleString"])}(${below(99)})`,
    () => `new Error('x', { cause: ${pick(globals)} }).${pick(["stack", "cause", "message"])}`,
  ];
  const expression = (depth) => {
    if (depth <= 0 || below(9) < 2) return leaf();
    return pick(expressions)(() => expression(depth - 1 - below(2)), depth - 1);
  };

  const statementForms = [
    (s) => `try { ${s(2)} } catch (e) { look(e) } finally { ${s(1)} }`,
    (s, e) => `try { ${s(1)}; throw ${e()} } catch { ${s(1)} }`,
    (s, e) => `if (${e()}) { ${s(2)} } else { ${s(1)} }`,
    (s) =>
      `for (let i = 0; i < ${below(20)} && fuel-- > 0; i++) { ${s(1)}; ${pick(["", "if (i > 3) break", "continue"])} }`,
    (s, e) =>
      `for (const ${pick(["x", "[x]", "{ length: x }"])} of Object(${e()})[Symbol.iterator] ? ${e()} : [1]) { if (fuel-- < 0) break; ${s(1)} }`,
    (s, e) => `for (const k in ${e()}) { if (fuel-- < 0) break; ${s(1)} }`,
    (s, e) => `for await (const x of [${e()}, Promise.resolve(1)]) { ${s(1)} }`,
    (s, e) => `while (fuel-- > 0 && ${e()}) { ${s(1)}; if (fuel % 3) break }`,
    (s, e) => `do { ${s(1)} } while (fuel-- > 90 && ${e()})`,
    (s) =>
      `outer: for (;;) { for (const x of [1, 2]) { ${s(1)}; ${pick(["break outer", "if (x > 1) break outer; else continue", "{ break outer }"])} } break }`,
    (s, e) => `switch (${e()}) { case ${e()}: ${s(1)}; break; default: ${s(1)}; case 1: ${s(1)} }`,
    (_, e) => `try { ${pick(globals)}${key()} ${pick(assignments)} ${e()} } catch {}`,
    () => `try { delete ${pick(globals)}${key()} } catch {}`,
    () =>
      `try { Object.defineProperty(${pick(globals)}.prototype ?? {}, ${below(3) ? `'${pick(names)}'` : `Symbol.${pick(symbols)}`}, { configurable: true, ${pick(["get() { return look(this, 3) }", "value: 1", "set(v) { look(v, 2) }"])} }) } catch {}`,
    (_, e) =>
      `${pick(["const", "let", "var"])} v${below(1e6)}: ${pick(["unknown", "any", "string[]", "Map<string, (a: number) => void>"])} = ${e()}`,
    (_, e) => `console.${pick(["log", "error", "warn"])}(${e()})`,
    (_, e) => `{ const { ${pick(["a", "b"])}, ...rest } = Object(${e()}); look(rest, 3) }`,
    (_, e) => `{ const [x = ${plain(e())}, ...y] = Array.from({ length: 3 }); look(y, 3) }`,
    (s, e) =>
      `{ function f(${parameters()}) { ${plain(s(1))}; return ${plain(e())} } try { look(${pick(["f()", "new f(1, 2)", "f.apply(input, [1])", "f.bind(take)(3)"])}, 3) } catch (e) { look(e, 3) } }`,
    (s, e) =>
      `{ async function* g() { ${s(1)}; yield ${e()}; yield* [1, 2] } try { for await (const x of g()) { if (fuel-- < 0) break; look(x, 3) } } catch (e) { look(e, 3) } }`,
    (_, e) =>
      `{ function* g() { let got = yield 1; while (fuel-- > 95) got = yield got; return ${plain(e())} } const it = g(); try { look([it.next(), it.next(it), it.${pick(["return", "throw", "next"])}?.(1)], 2) } catch {} }`,
    (_, e) =>
      `{ const all = new Map(); let o = { get x() { all.set(this, ${plain(e())}); return o }, set x(v) { o = v } }; o.x = o.x; look(all, 3) }`,
    (s) => `try { await (async () => { ${s(2)} })() } catch (e) { look(e, 3) }`,
    (s) => `queueMicrotask(() => { ${plain(s(1))} })`,
    (s) => `setTimeout(() => { try { ${plain(s(1))} } catch {} }, ${below(3)})`,
    () => "debugger; ;",
    () =>
      `type T${below(1e6)} = { a?: number; b: readonly string[] }; interface I${below(1e6)} extends Object { (x: number): void }`,
    () => pick(leaves),
    () => pick(looks),
    () => pick(misuses),
    () => pick(misuses),
  ];
  const tried = (_, e) => `try { look(${e()}, 2) } catch (e) { look(e, 3) }`;
  const statement = (depth) => {
    const form = below(10) < 3 ? tried : pick(statementForms);
    return form(
      (most) => inner(most, depth),
      () => expression(depth - below(2)),
    );
  };
  /** Statements inside of another one. */
  const inner = (most, depth) => (depth <= 1 ? "" : many(most, () => statement(depth - 1), "; "));
  const limitNames = Object.keys(reaches);

  /** The next program: its text, and the limit that it reaches for, if any. */
  return function program() {
    // Most look for things, because those that reach for a limit take the time of a hundred others.
    const reach = aim === undefined ? below(25) === 0 && pick(limitNames) : below(4) === 0 && aim;
    const aims = reach === false || reaches[reach] === undefined ? undefined : reach;
    const body = [pick(leaves), ...Array.from({ length: 1 + below(5) }, () => statement(3)), pick(looks)];
    if (aims !== undefined) body.splice(below(body.length), 0, `{ ${pick(reaches[aims])} }`);
    const end = below(3) ? "return [...found]" : `return [[...found], ${expression(2)}]`;
    return { source: `${prelude}export default async () => {\n${body.join(";\n")};\n${end} }`, aims };
  };
}
