// Random programs, interpreted and compiled: results, logs, exceptions and positions must be equal.
//
// node programs.mjs SEED COUNT; a program that differs is written to differs-SEED.js in the working folder.

import { writeFileSync } from "node:fs";
import { answer, bundle, start } from "./harness.mjs";

const print = (...values) => void process.stdout.write(`${values.join(" ")}\n`);

let [seed = "1", count = "50"] = process.argv.slice(2);
seed = Number(seed);
let s;
const rnd = (n) => {
  s ^= s << 13;
  s ^= s >>> 17;
  s ^= s << 5;
  return (s >>> 0) % n;
};
const pick = (a) => a[rnd(a.length)];
const vars = ["a", "b", "c", "d"];
const lits = [
  "0",
  "1",
  "-1",
  "2",
  "7",
  "31",
  "2147483647",
  "-2147483648",
  "4294967295",
  "0.5",
  "-0",
  "1e300",
  "NaN",
  "Infinity",
  '""',
  '"x"',
  '"12"',
  '"abc"',
  "true",
  "false",
  "null",
  "undefined",
  "10n",
  "-3n",
  "123456789012345678901n",
  "[]",
  "[1,2,3]",
  "{}",
  "{x:1,y:2}",
  "obj",
  "arr",
  "f0",
  "thrower",
  "sym",
  "new Date(0)",
  "u8",
  "f64",
  "proxy",
  'new RegExp("a(b)", "g")',
  "class { static z = 1; }",
];
const bin = [
  "+",
  "-",
  "*",
  "/",
  "%",
  "**",
  "&",
  "|",
  "^",
  "<<",
  ">>",
  ">>>",
  "<",
  "<=",
  ">",
  ">=",
  "==",
  "!=",
  "===",
  "!==",
  "&&",
  "||",
  "??",
  "in",
  "instanceof",
  ",",
];
const una = ["-", "+", "~", "!", "typeof ", "void "];
const asg = ["=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", ">>>=", "&&=", "||=", "??="];
const names = ["x", "y", "length", "foo", "get", "bad", "toString"];
const meth = [
  "slice(1)",
  "charCodeAt(0)",
  "push(b)",
  "map((q) => q + 1)",
  "join('-')",
  "toString()",
  "foo(1)",
  "at(0)",
  "concat(c)",
  "indexOf(a)",
  "get",
  "has('x')",
  "toFixed(2)",
  "x",
];
let loops = 0,
  inLoop = 0,
  mode = 0;
const nums = [
  "0",
  "1",
  "-1",
  "2",
  "7",
  "31",
  "2147483647",
  "-2147483648",
  "0.5",
  "-0",
  "1e10",
  "NaN",
  "'x'",
  "'12'",
  "true",
  "null",
  "undefined",
];
const lit = () => (mode ? pick(nums) : pick(lits));
const safeBin = [
  "+",
  "-",
  "*",
  "/",
  "%",
  "&",
  "|",
  "^",
  "<<",
  ">>",
  ">>>",
  "<",
  "<=",
  ">",
  ">=",
  "==",
  "!=",
  "===",
  "!==",
  "&&",
  "||",
];
// Not `length`: functions of arrays are slow when it is large.
const fields = ["x", "y", "foo", "get", "bad"];
const lval = (d) =>
  pick([
    () => pick(vars),
    () => pick(vars),
    () => `obj.${pick(fields)}`,
    () => `arr[(${expr(d - 1)}) & 15]`,
    () => `u8[${expr(d - 1)}]`,
    () => `(${expr(d - 1)}).${pick(fields)}`,
  ])();
function expr(d) {
  if (d <= 0) return rnd(2) ? pick(vars) : lit();
  if (mode === 2 || (mode && rnd(4)))
    switch (rnd(9)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return `(${expr(d - 1)} ${pick(safeBin)} ${expr(d - 1)})`;
      case 4:
        return `(${pick(una)}(${expr(d - 1)}))`;
      case 5:
        return `(${pick(vars)} ${pick(["=", "+=", "-=", "*=", "|=", ">>>="])} ${expr(d - 1)})`;
      case 6:
        return rnd(2) ? `(${pick(vars)}${pick(["++", "--"])})` : `(${pick(["++", "--"])}${pick(vars)})`;
      case 7:
        return `(${expr(d - 1)} ? ${expr(d - 1)} : ${expr(d - 1)})`;
      default:
        return pick([
          "(a + (a = c) + a)",
          "[b, (b = 7), b++, b]",
          "adder(c, (c += d))",
          "arr[1]",
          "arr.length",
          "obj.x",
          "adder(a, b)",
          "u8[1]",
          "f64[0]",
          "fx(a, c)",
          '[a, b].join(":")',
          "[a, b]",
          "({ x: a })",
          "(a, d)",
          "arr.indexOf(a)",
          "(obj.x = a)",
          "(arr[2] = b)",
          "f0?.name",
          "log(c)",
        ]);
    }
  switch (rnd(20)) {
    case 0:
    case 1:
    case 2:
    case 3:
      return `(${expr(d - 1)} ${pick(bin)} ${expr(d - 1)})`
        .replace(/\(-(\S*) \*\*/, "((-$1) **")
        .replace(/\((typeof|void|[~!+-])/g, "(0,$1")
        .replace(/(&&|\|\||\?\?)/, "$1");
    case 4:
      return `(${pick(una)}${"("}${expr(d - 1)}))`;
    case 5:
      return `(${lval(d)} ${pick(asg)} ${expr(d - 1)})`;
    case 6:
      return rnd(2) ? `(${pick(vars)}${pick(["++", "--"])})` : `(${pick(["++", "--"])}${pick(vars)})`;
    case 7:
      return `(${expr(d - 1)} ? ${expr(d - 1)} : ${expr(d - 1)})`;
    case 8:
      return `(${expr(d - 1)}).${pick(names)}`;
    case 9:
      return `(${expr(d - 1)})?.${pick(meth).replace("(", "?.(")}`;
    case 10:
      return `(${pick(vars)})${rnd(4) ? "?" : ""}.${pick(meth).replace("(", rnd(4) ? "?.(" : "(")}`;
    case 11:
      return `${pick(["f0", "f1", "f2", "thrower", "adder"])}(${expr(d - 1)}, ${expr(d - 1)})`;
    case 12:
      return `[${expr(d - 1)}, ${rnd(3) ? expr(d - 1) : `...${expr(d - 1)}`}]`;
    case 13:
      return `({ x: ${expr(d - 1)}, [${expr(d - 1)}]: ${expr(d - 1)}, ...${expr(d - 1)}, get foo() { return ${expr(0)}; }, bar(q) { return q; } })`;
    case 14:
      return `((${pick(vars)} = ${expr(0)}, q) => ${expr(d - 1)})(${expr(d - 1)})`;
    case 15:
      return `new ${pick(["K", "L", "Map", "Set", "thrower"])}(${expr(d - 1)})`;
    case 16:
      return `\`\${${expr(d - 1)}}-\${${expr(d - 1)}}\``;
    case 17:
      return `(${expr(d - 1)})[${expr(d - 1)}]`;
    case 18:
      return `log(${expr(d - 1)})`;
    default:
      return pick([
        "arguments.length",
        "arguments[0]",
        "this",
        "new.target",
        "obj.#p in obj".replace("obj.#p in obj", "('x' in obj)"),
        "delete obj.x",
        "delete arr[0]",
      ]);
  }
}
function stmt(d) {
  if (d <= 0) return `${pick(vars)} = ${expr(2)};`;
  // Variables that no closure captures are locals of WebAssembly.
  const kind = rnd(18);
  switch (mode === 2 && [10, 11, 12].includes(kind) ? 13 : kind) {
    case 0:
      return `if (${expr(2)}) { ${body(d - 1)} } else { ${body(d - 1)} }`;
    case 1: {
      const v = `i${loops++}`;
      inLoop++;
      const r = `for (let ${v} = 0; ${v} < ${1 + rnd(5)}; ${v}++) { tick(); ${body(d - 1)} ${mode === 2 || rnd(3) ? "" : `fns.push(() => ${v});`} }`;
      inLoop--;
      return r;
    }
    case 2: {
      const v = `k${loops++}`;
      inLoop++;
      const r = `for (const ${v} ${pick(["of", "in"])} ${pick(["arr", "obj", "[1,2,3]", "new Set([1,2])", "iter()", "'abc'", expr(1)])}) { tick(); a = ${v}; ${body(d - 1)} }`;
      inLoop--;
      return r;
    }
    case 3:
      return `try { ${body(d - 1)} } catch (e) { log("caught", e); ${body(d - 1)} }`;
    case 4:
      return `try { ${body(d - 1)} } finally { ${body(d - 1)} }`;
    case 5:
      return `switch (${expr(1)}) { case 1: ${body(d - 1)} break; case "x": ${body(d - 1)} default: ${body(d - 1)} }`;
    case 6: {
      const v = `w${loops++}`;
      inLoop++;
      const r = `let ${v} = 0; while (${v}++ < 3) { tick(); ${body(d - 1)} }`;
      inLoop--;
      return `{ ${r} }`;
    }
    case 7:
      return inLoop ? pick(["break;", "continue;"]) : `log(${expr(2)});`;
    case 8:
      return `if (${expr(1)}) return ${expr(2)};`;
    case 9:
      return `if (${expr(1)}) throw ${pick([expr(1), "new Error('e')", "new TypeError('t')"])};`;
    case 10:
      return `{ let [p, q = ${expr(1)}, ...r] = ${pick(["arr", "[1]", "iter()", expr(1)])}; a = p; log(p, q); fns.push(() => q); }`;
    case 11:
      return `{ const { x, y = ${expr(1)}, ...rest } = ${expr(1)}; b = x; log(x, y, rest); }`;
    case 12:
      return `{ const g = () => { a = ${expr(1)}; return b; }; log(g()); }`;
    case 13:
      return `log(${expr(2)});`;
    case 14:
      return mode ? `${expr(3)};` : `try { ${expr(2)}; } catch (e) { log(e); }`;
    default:
      return `${expr(3)};`;
  }
}
function body(d) {
  let r = "";
  for (let i = 0, n = 1 + rnd(3); i < n; i++) r += `\n${stmt(d)}`;
  return r;
}
const prelude = `
let out = []; const fns = []; let depth = 0;
let steps = 0;
const tick = () => { if (++steps > 3000) throw new Error("too many steps"); };
const show = (v, n = 0) => { try { if (typeof v === "symbol") return String(v); if (typeof v === "bigint") return v + "n"; if (Object.is(v, -0)) return "-0"; if (typeof v === "string") return JSON.stringify(v.slice(0, 60)); if (v instanceof Error) return v.name + ":" + v.message + "@" + v.stack; if (typeof v === "function") return "fn " + v.name; if (typeof v === "object" && v !== null) return n > 2 ? "..." : (Array.isArray(v) ? "[" : "{") + Object.keys(v).slice(0, 8).map((k) => { let m; try { m = show(v[k], n + 1); } catch (e) { m = "!" + e; } return k + ":" + m; }) + "}"; return String(v); } catch (e) { return "?" + e; } };
const log = (...v) => { if (out.length < 400) out.push(v.map((x) => show(x)).join(" ")); return v[0]; };
const sym = Symbol("s"); let obj, arr, u8, f64, proxy;
const reset = () => { obj = { x: 1, y: "s", get bad() { throw new RangeError("bad"); }, get get() { return 5; }, set foo(v) { log("set", v); }, valueOf() { return 3; } }; arr = [1, "two", 3.5, null]; u8 = new Uint8Array([1, 2, 300]); f64 = new Float64Array([1.5, NaN]); proxy = new Proxy({ x: 9 }, { get(t, k) { log("get", k); if (k === "y") throw new Error("proxied"); return t[k]; }, has(t, k) { log("has", k); return k in t; }, set(t, k, v) { log("pset", k); t[k] = v; return true; } }); fns.length = 0; };
const thrower = function (v) { if (typeof v === "number") return v; throw new TypeError("thrown " + show(v)); };
const fx = (x, y) => x > y ? x : y;
const adder = (x, y) => { let n = x; n += y; return n; };
function* iter() { try { yield 1; yield "b"; yield 3; } finally { log("closed"); } }
class K { #p = 1; constructor(v) { this.x = v; this.v = this.#p; } get p() { return this.#p; } foo(z) { this.#p += z; return this.#p; } }
class L extends K { constructor(v) { super(v); this.y = super.foo(1); } foo(z) { return super.foo(z) + 1; } }
`;
let failures = 0,
  done = 0,
  skippedPrograms = 0;
for (let round = 0; round < Number(count); round++) {
  s = ((seed + round) * 2654435761) | 1;
  for (let i = 0; i < 5; i++) rnd(2);
  let source = prelude,
    n = 24;
  loops = 0;
  inLoop = 0;
  const list = [];
  for (let i = 0; i < n; i++) {
    mode = rnd(3);
    let text = `function f${i}(a, b) { "use strict"; tick(); if (++depth > 12) { depth--; return 1; } let c = ${pick(lits)}, d = ${pick(lits)}; try { ${body(3)} return [a, b, c, d]; } finally { depth--; } }`;
    if (rnd(2))
      text = `function f${i}(a, b) { let c = ${pick(lits)}, d = ${pick(lits)}; tick(); if (++depth > 12) { depth--; return 1; } ${body(3)} depth--; return [a, b, c, d]; }`;
    try {
      new Function(
        "prelude",
        `"use strict"; class K{}; const log=1,fns=[],tick=0;let depth=0,obj,arr,u8,f64,proxy,iter,sym,fx,thrower,adder,L,f0,f1,f2; ${text.replace(/f\d+\(/, "zz(")}`,
      );
    } catch (_e) {
      text = `function f${i}(a, b) { return a; }`;
      skippedPrograms++;
    }
    list.push(text);
  }
  source +=
    list.join("\n") +
    `
function run() { out = []; for (const f of [${list.map((_, i) => `f${i}`)}]) for (const [x, y] of [[1, 2], ["s", 1.5], [obj, arr], [3n, 4n], [undefined, null]]) { reset(); depth = 0; steps = 0; try { log("ok", f(x, y)); } catch (e) { log("threw", e); } try { log(fns.slice(0, 9).map((g) => g())); } catch (e) { log("fns", e); } } return out.join("\\n"); }`;
  let one, other;
  let first;
  try {
    first = start(bundle(source), false).engine;
  } catch {
    skippedPrograms++;
    continue;
  }
  try {
    one = answer(first);
    other = answer(start(bundle(source), true).engine);
  } catch (e) {
    print("seed", seed + round, "error", String(e).slice(0, 300));
    writeFileSync(`differs-${seed + round}.js`, source);
    failures++;
    continue;
  }
  done++;
  if (one !== other) {
    failures++;
    writeFileSync(`differs-${seed + round}.js`, source);
    const x = one.split("\n"),
      y = other.split("\n");
    const at = x.findIndex((l, i) => l !== y[i]);
    print(
      "seed",
      seed + round,
      "differs at",
      at,
      "\n  ",
      (x[at] ?? "").slice(0, 200),
      "\n  ",
      (y[at] ?? "").slice(0, 200),
    );
  }
}
print(`${done} programs, ${failures} differ, ${skippedPrograms} texts were no program`);
process.exitCode = failures > 0 ? 1 : 0;
