/** The engine's writer of declared members: it writes what the SDK's copy and `JSON.stringify` write, or leaves the value to them. */
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { beforeEach, expect, test } from "vitest";
import { type Engine, startEngine } from "../../testing/engine.ts";

/** Declarations and values by random numbers, and the comparison. It runs in the engine. */
const program = `
import "./host.ts";
import "./encoding/install-encoder.ts";
import "./encoding/install-utf8.ts";
import { jsonWriter, utf8Decode, utf8Encode } from "tenon:engine";
import { copyByShape, writerOf } from "../../../ts-sdk/src/app/declared-members.ts";
import { writeJson } from "../../../ts-sdk/src/http/json.ts";

let state = 1;
const any = (below) => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
};
const pick = (...all) => all[any(all.length)]();
const times = (below, make) => Array.from({ length: any(below) }, make);

const nasty = ["1", "00", "4294967294", "4294967295", "__proto__", "toJSON", "constructor", "length", "ß", "😀", "a\\"b", "\\ud800", ""];
const keyOf = () => (any(12) ? "abcde"[any(5)] : nasty[any(nasty.length)]);

function shape(depth) {
  const dropsNull = any(4) === 0;
  const kind = depth > 3 ? any(3) : any(9);
  const fields = () => Object.fromEntries(times(6, () => [keyOf(), shape(depth + 1)]));
  if (kind === 0) return { kind: "json", dropsNull };
  if (kind < 3) return { kind: pick(() => "string", () => "u32", () => "timestamp"), dropsNull };
  if (kind < 5) return { kind: "object", dropsNull, fields: fields(), ...(any(8) === 0 && { open: true }) };
  if (kind === 5) return { kind: "record", dropsNull, items: shape(depth + 1) };
  if (kind === 6) {
    const variants = times(4, () => [any(6) ? "xyz"[any(3)] : keyOf(), { kind: "object", fields: { kind: { kind: "string" }, ...fields() } }]);
    return { kind: "union", dropsNull, tag: any(8) ? "kind" : keyOf(), variants: Object.fromEntries(variants) };
  }
  return { kind: "list", dropsNull, items: shape(depth + 1) };
}

let log = [];
const primitive = () =>
  pick(
    () => any(100), () => -any(2 ** 31), () => any(1000) / 7, () => 1e21 * any(9), () => true, () => null, () => undefined,
    () => "text", () => "a" + any(9) + "long enough for a rope, ".repeat(30) + any(9), () => "ß😀", () => "\\ud800 \\"\\\\ \\n\\u0001", () => "",
  );
const odd = (given) =>
  pick(
    () => NaN, () => -Infinity, () => -0, () => Symbol("s"), () => 10n, () => () => 1, () => class {}, () => new Date(any(1e9)), () => new Date(NaN),
    () => new String("s"), () => new Number(7), () => new Boolean(false), () => Object(10n), () => new Map([[1, 2]]), () => new Uint8Array(2),
    () => /x/, () => new Error("e"), () => Object.create({ a: 1, b: "inherited" }), () => new Proxy({ a: 1, b: 2 }, {
      get(target, key) { log.push("get " + String(key)); return target[key]; },
      ownKeys(target) { log.push("keys"); return Reflect.ownKeys(target); },
    }),
    () => new Proxy([1, 2], {}), () => [1, , 3], () => Object.assign([1], { extra: 1 }), () => { const sparse = []; sparse[20] = 1; return sparse; },
    () => new (class extends Array { toJSON() { return "list"; } })(3), () => new (class { get a() { log.push("a"); return 1; } })(),
    () => ({ toJSON(key) { log.push("toJSON " + key); return given; } }), () => ({ ...given, toJSON: null }), () => ({ ...given, toJSON: 5 }),
    () => ({ toJSON() { throw new RangeError("toJSON"); } }), () => Object.assign(Object.create({ toJSON() { return { a: 1 }; } }), given),
    () => Object.assign(Object.create(null), given), () => Object.assign(Object.create(Object.create(null)), given),
    () => Object.defineProperty({ ...given }, keyOf(), { get() { log.push("getter"); return any(4) ? 1 : given; }, enumerable: any(2) === 0 }),
    () => Object.defineProperty({ ...given }, "b", { get() { log.push("throws"); throw new Error("getter"); } }),
    () => Object.defineProperty({ ...given }, keyOf(), { value: "hidden" }),
    () => { const made = { a: given, b: 1, c: 2 }; Object.defineProperty(made, "a", { get() { delete made.b; made.c = 3; return 1; } }); return made; },
    () => { const cyclic = { ...given }; cyclic.a = cyclic; return cyclic; }, () => { const cyclic = []; cyclic[0] = [cyclic]; return cyclic; },
    () => { const made = { a: 1, b: 2, c: 3, d: 4 }; delete made["abcd"[any(4)]]; made.a = given; return made; },
    () => { let deep = given; for (let i = any(200); i > 0; i--) deep = any(2) ? [deep] : { a: deep }; return deep; },
    () => Object.freeze({ ...given }), () => ({ ["__proto__"]: 1, __proto__: { b: 1 } }), () => [given], () => ({ a: given }), () => arguments,
  );
function valueOf(shape, depth = 0) {
  if (oddness && any(oddness) === 0) return odd(depth < 4 ? valueOf({ kind: "object", fields: { a: shape, b: { kind: "json" } } }, depth + 1) : 1);
  if (shape.kind === "object" || shape.kind === "union") {
    let fields = shape.fields ?? {};
    let head = [];
    if (shape.kind === "union") {
      const names = Object.keys(shape.variants);
      const name = names[any(names.length + 1)] ?? "none";
      fields = shape.variants[name]?.fields ?? {};
      head = [[shape.tag, name]];
    }
    let members = Object.entries(fields).filter(() => any(8)).map(([key, each]) => [key, valueOf(each, depth + 1)]);
    if (any(2)) members.push(...times(3, () => [keyOf(), primitive()]));
    members.push(...head);
    if (any(3) === 0) members.sort(() => any(2) - 0.5);
    return disturbed(Object.fromEntries(members), fields, depth);
  }
  if (shape.kind === "list") {
    const items = times(5, () => valueOf(shape.items, depth + 1));
    if (!oddness || any(oddness)) return items;
    return pick(
      () => Object.setPrototypeOf(items, pick(() => null, () => ({ toJSON: () => 1 }), () => Array.prototype.concat(1))),
      () => Object.assign(items, { toJSON() { log.push("list"); return 1; } }),
      () => { delete items[any(items.length)]; return items; },
      () => { items.length += any(3); return items; },
      () => Object.defineProperty(items, any(5), { get() { log.push("item"); items.pop(); return 1; } }),
      () => Object.freeze(items),
    );
  }
  if (shape.kind === "record") return Object.fromEntries(times(5, () => [keyOf(), valueOf(shape.items, depth + 1)]));
  if (shape.kind === "json" && depth < 5) {
    const json = { kind: "json" };
    return pick(primitive, primitive, () => times(4, () => valueOf(json, depth + 1)), () => valueOf({ kind: "record", items: json }, depth + 1));
  }
  return primitive();
}

/** Changes a declared member: to a getter, a hidden one, an inherited one, or one that was added again. */
function disturbed(value, fields, depth) {
  const key = Object.keys(fields)[any(6)];
  if (!oddness || any(oddness) > 0 || key === undefined || depth > 5) return value;
  const member = valueOf(fields[key], depth + 1);
  const enumerable = any(2) === 0;
  return pick(
    () => Object.defineProperty(value, key, { get() { log.push("get " + key); return member; }, enumerable }),
    () => Object.defineProperty(value, key, { get() { throw new Error(key); }, enumerable }),
    () => Object.defineProperty(value, key, { set() {}, enumerable }),
    () => Object.defineProperty(value, key, { value: member, enumerable }),
    () => { delete value[key]; return Object.setPrototypeOf(value, { [key]: member }); },
    () => { delete value[key]; return Object.setPrototypeOf(value, { get [key]() { log.push("inherited"); return member; } }); },
    () => { delete value[key]; return Object.setPrototypeOf(value, pick(() => [1, 2], () => null, () => new Proxy({}, {}), () => new String("text"))); },
    () => { delete value[key]; return Object.assign(value, { more: 1, [key]: member }); },
    () => Object.assign(value, { toJSON: pick(() => undefined, () => null, () => 1, () => (key) => { log.push("toJSON " + key); return member; }) }),
    () => Object.setPrototypeOf(value, { toJSON() { return { [key]: member, more: 1 }; } }),
  );
}

let oddness = 0;
const outcome = (write, shape, seed) => {
  state = seed;
  log = [];
  try {
    return [write(valueOf(shape)), ...log];
  } catch (thrown) {
    return [thrown?.name + ": " + thrown?.message, ...log];
  }
};

function compare([seed, rounds, odds, pollution]) {
  const found = { differences: [], written: 0, threw: 0 };
  for (let i = 0; i < rounds; i++) {
    oddness = odds;
    state = seed * 65537 + i * 17;
    const declared = shape(0);
    const start = state;
    const copy = copyByShape(declared);
    const write = writerOf(declared);
    const [owner, key, descriptor] = pollutions[pollution] ?? [];
    const before = owner && Object.getOwnPropertyDescriptor(owner, key);
    if (owner) Object.defineProperty(owner, key, { ...descriptor, configurable: true });
    const [today, native] = [outcome((value) => writeJson(copy(value)), declared, start), outcome(write, declared, start)];
    if (outcome(jsonWriter(declared), declared, start)[0] !== undefined) found.written++;
    if (before) Object.defineProperty(owner, key, before);
    else if (owner) delete owner[key];
    if (/^\\w+: /.test(today[0])) found.threw++;
    if (today.join("|") !== native.join("|")) found.differences.push([seed, i, JSON.stringify(declared), today, native]);
  }
  return found;
}
const pollutions = [
  undefined,
  [Object.prototype, "toJSON", { value() { return "polluted"; } }],
  [Array.prototype, "toJSON", { value() { return "polluted"; } }],
  [Object.prototype, "a", { value: "polluted" }],
  [Object.prototype, "b", { get() { log.push("b"); return "polluted"; } }],
  [Object.prototype, "0", { set() { log.push("set"); }, get() { return "polluted"; } }],
  [Array.prototype, "0", { set() { log.push("set"); } }],
  [Array.prototype, "1", { value: "polluted", writable: true }],
  [String.prototype, "toJSON", { value() { return "polluted"; } }],
  [JSON, "stringify", { value: (given) => (given === undefined ? undefined : "replaced") }],
];
const evaluate = (text) => new Function("jsonWriter", "writerOf", "copyByShape", "writeJson", text)(jsonWriter, writerOf, copyByShape, writeJson);
export const handler = {
  handle(request) {
    const asked = JSON.parse(utf8Decode(request.body));
    const found = typeof asked === "string" ? evaluate(asked) : compare(asked);
    return { status: 200, headers: [], body: utf8Encode(JSON.stringify(found ?? null)) };
  },
};`;

const { outputFiles } = await build({
  stdin: { contents: program, resolveDir: fileURLToPath(new URL(".", import.meta.url)), loader: "js" },
  bundle: true,
  format: "esm",
  target: "es2023",
  external: ["tenon:engine"],
  write: false,
});
const file = new URL("../../../crates/engine/engine.wasm", import.meta.url);
let engine: Engine;
// A prototype that had an index once is not as it was.
beforeEach(() => {
  engine = startEngine(file, outputFiles[0]?.text ?? "");
});

function ask(question: unknown): never {
  const { status, body } = engine.handle({ body: new TextEncoder().encode(JSON.stringify(question)) });
  if (status !== 200) throw new Error(engine.printed());
  return JSON.parse(new TextDecoder().decode(body)) as never;
}

interface Found {
  readonly differences: readonly unknown[];
  readonly written: number;
  readonly threw: number;
}

const rounds = 500;
const seeds = Number(process.env["FUZZ_SEEDS"] ?? 2);

test.each([0, 40, 8])("writes what the copy has, where one part in %d is odd", (odds) => {
  for (let seed = 1; seed <= seeds; seed++) {
    const { differences, written } = ask([seed, rounds, odds, 0]) as Found;
    expect(differences.slice(0, 3)).toEqual([]);
    expect(written).toBeGreaterThan(rounds * 0.4);
  }
});

test.each([1, 2, 3, 4, 5, 6, 7, 8, 9])("notices a changed prototype, number %d", (pollution) => {
  for (let seed = 1; seed <= seeds; seed++) {
    expect((ask([seed, rounds, 40, pollution]) as Found).differences.slice(0, 3)).toEqual([]);
  }
});

test("writes plain data itself", () => {
  const found = ask(`
    const item = { kind: "object", fields: { id: { kind: "u32" }, "ß\\"": { kind: "string", dropsNull: true }, at: { kind: "timestamp" } } };
    const write = jsonWriter({ kind: "object", fields: {
      items: { kind: "list", items: item },
      by: { kind: "record", items: item },
      shape: { kind: "union", tag: "kind", variants: { 1: item, round: { kind: "object", fields: { kind: { kind: "string" }, r: { kind: "f64" } } } } },
      rest: { kind: "json" },
    } });
    return write({
      rest: { x: [1, { y: null }] },
      shape: { r: 0.5, kind: "round", secret: 1 },
      by: { "2024-01-01": { id: 7, secret: 1 } },
      items: [{ at: "now", "ß\\"": null, id: 1 }, { secret: 1, id: 2, "ß\\"": "\\u{1f600}\\n", at: undefined }],
      secret: 1,
    });`);
  expect(found).toBe(
    '{"items":[{"id":1,"at":"now"},{"id":2,"ß\\"":"😀\\n"}],"by":{"2024-01-01":{"id":7}},' +
      '"shape":{"kind":"round","r":0.5},"rest":{"x":[1,{"y":null}]}}',
  );
});

test("leaves to the copy what is not plain", () => {
  const found = ask(`
    const write = jsonWriter({ kind: "object", fields: { a: { kind: "string" }, b: { kind: "list", items: { kind: "u32" } } } });
    const values = [undefined, 1n, new Date(0), { a: new Date(0) }, { get a() { throw 1; } }, new Proxy({}, {}), { b: [1, , 2] },
      Object.create({ a: 1 }), { toJSON: undefined }, { b: { length: 1 } }, []];
    return values.map((value) => write(value) === undefined);`);
  expect(found).toEqual(Array(11).fill(true));
});

test("accepts declarations only", () => {
  const found = ask(`
    const names = [];
    for (const given of [undefined, null, { kind: "list" }, { kind: Symbol() }, { get kind() { throw new RangeError(); } },
      { kind: "object", fields: { a: 1, b: null } }, { kind: "union", tag: Symbol.iterator, variants: null }]) {
      try { names.push(typeof jsonWriter(given)); } catch (thrown) { names.push(thrown.name); }
    }
    let deep = { kind: "string" };
    for (let i = 0; i < 100000; i++) deep = { kind: "list", items: deep };
    try { jsonWriter(deep); } catch (thrown) { names.push(thrown.name); }
    return names;`);
  const names = [
    "TypeError",
    "TypeError",
    "TypeError",
    "TypeError",
    "RangeError",
    "TypeError",
    "TypeError",
    "RangeError",
  ];
  expect(found).toEqual(names);
});
