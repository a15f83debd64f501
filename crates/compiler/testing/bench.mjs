// Milliseconds of processor time of small programs, interpreted and compiled: node --no-liftoff bench.mjs [NAME]...
import { answer, bundle, start } from "./harness.mjs";

const print = (...values) => void process.stdout.write(`${values.join(" ")}\n`);

const items = Array.from({ length: 20 }, (_, i) => ({
  id: i,
  name: `Item <${i}> & co`,
  price: 10 + i * 1.5,
  tags: ["a", `b${i}`],
  active: i % 3 === 0,
}));
const programs = {
  loop: `function run() { let s = 0; for (let i = 0; i < 3000000; i++) s = (s + i * 3) | 0; return s; }`,
  loopAdd: `function run() { let s = 0; for (let i = 0; i < 3000000; i++) { s += i & 7; if (s > 1000) s -= 1000; } return s; }`,
  floats: `function run() { let x = 0.5, n = 0; for (let i = 0; i < 1000000; i++) { x = x * 3.7 * (1 - x); if (x > 0.5) n++; } return n + " " + x; }`,
  fib: `function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); } function run() { return fib(25); }`,
  sieve: `function run() { const n = 200000, a = []; for (let i = 0; i <= n; i++) a.push(1); let c = 0; for (let i = 2; i <= n; i++) { if (a[i] === 1) { c++; for (let j = i * 2; j <= n; j += i) a[j] = 0; } } return c; }`,
  strings: `function run() { let s = ""; for (let i = 0; i < 200000; i++) { s += "x" + (i % 10); if (s.length > 1000) s = ""; } return s.length; }`,
  walk: `const data = ${JSON.stringify(items)}; function walk(v) { if (v === null) return 1; if (typeof v === "object") { let n = 0; if (Array.isArray(v)) { for (let i = 0; i < v.length; i++) n += walk(v[i]); } else for (const k in v) n += k.length + walk(v[k]); return n; } return typeof v === "string" ? v.length : 1; } function run() { let n = 0; for (let i = 0; i < 1000; i++) n += walk(data); return n; }`,
  html: `const data = ${JSON.stringify(items)}; const map = { "<": "&lt;", ">": "&gt;", "&": "&amp;" }; function esc(s) { let out = "", last = 0; for (let i = 0; i < s.length; i++) { const c = s.charCodeAt(i); let e; if (c === 60) e = "&lt;"; else if (c === 62) e = "&gt;"; else if (c === 38) e = "&amp;"; else continue; out += s.slice(last, i) + e; last = i + 1; } return last === 0 ? s : out + s.slice(last); }
   function row(item) { return "<tr><td>" + item.id + "</td><td>" + esc(item.name) + "</td><td>" + item.price.toFixed(2) + "</td><td>" + item.tags.map((t) => "<b>" + esc(t) + "</b>").join("") + "</td><td>" + (item.active ? "yes" : "no") + "</td></tr>"; }
   function page() { let s = "<table>"; for (const item of data) s += row(item); return s + "</table>"; } function run() { let n = 0; for (let i = 0; i < 500; i++) n += page().length; return n; }`,
  objects: `class P { constructor(x, y) { this.x = x; this.y = y; } add(o) { return new P(this.x + o.x, this.y + o.y); } get len() { return this.x + this.y; } } function run() { let p = new P(0, 0); const d = new P(1, 2); for (let i = 0; i < 200000; i++) p = p.add(d); return p.len; }`,
  closures: `function run() { const a = []; for (let i = 0; i < 100; i++) a.push(i); let s = 0; for (let k = 0; k < 1000; k++) s += a.map((x) => x * 2).filter((x) => x % 3 === 0).reduce((x, y) => x + y, 0); return s; }`,
  validate: `const data = ${JSON.stringify(items)}; const schema = { id: "number", name: "string", price: "number", tags: "list", active: "boolean" }; const keys = Object.keys(schema);
   function check(v, path, errors) { for (let i = 0; i < keys.length; i++) { const k = keys[i], t = schema[k], x = v[k]; if (t === "list") { if (!Array.isArray(x)) errors.push({ path: path + "." + k }); else for (const e of x) if (typeof e !== "string") errors.push({ path }); } else if (typeof x !== t) errors.push({ path: path + "." + k }); } return errors; }
   function run() { let n = 0; for (let r = 0; r < 2000; r++) for (let i = 0; i < data.length; i++) n += check(data[i], "/" + i, []).length; return n; }`,
};

const wanted = process.argv.slice(2);
const time = (engine) => {
  const before = process.cpuUsage().user;
  const result = answer(engine);
  return [(process.cpuUsage().user - before) / 1000, result];
};
for (const [name, body] of Object.entries(programs)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const engines = [false, true].map((isCompiled) => start(bundle(body), isCompiled).engine);
  const best = [Infinity, Infinity];
  const results = [];
  for (let round = 0; round < 8; round++) {
    engines.forEach((engine, index) => {
      const [took, result] = time(engine);
      best[index] = Math.min(best[index], took);
      results[index] = result;
    });
  }
  if (results[0] !== results[1]) throw new Error(`${name} differs: ${results}`);
  const [interpreted, compiled] = best;
  print(name.padEnd(9), interpreted.toFixed(1), compiled.toFixed(1), (interpreted / compiled).toFixed(2));
}
