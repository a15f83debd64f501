/**
 * Attacks on the sandbox, by classes of the published escapes of vm2, isolated-vm and `node:vm`. An escape would reach an object, a
 * function or a global of the program; here there is none to reach, and these tests look for anything that comes out nevertheless.
 */

import { field, Type } from "@tenon/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Runtime } from "../embed/runtime.ts";
import { decode, decodeInSlices, InvalidValueError } from "./decode.ts";
import { encode, encodeInSlices } from "./encode.ts";
import type { Evaluated, Sandbox } from "./sandbox.ts";
import { tool } from "./tool.ts";

let runtime: Runtime;
let sandbox: Sandbox;
const seen: unknown[] = [];
beforeAll(async () => {
  runtime = await Runtime.create({ modules: {}, logLevel: "off" });
  sandbox = await runtime.sandbox({
    limits: { cpuMs: 500, wallMs: 5_000, memoryBytes: 32 << 20, calls: 50 },
    tools: {
      take: tool({
        run: (value) => {
          seen.push(value);
          return value;
        },
      }),
      strict: tool({ input: Type("Strict", { id: field.u32() }), run: (value) => value }),
      fails: tool({
        run: () => {
          throw new TypeError("inside");
        },
      }),
    },
  });
}, 300_000);
afterAll(() => runtime.close());

/** Marks that only the program has. */
const marks = [process.version, process.execPath, process.cwd(), String(process.pid).padStart(9, "pid")];

/** Evaluates, and looks for the program's state in the answer and in the program's own prototypes. */
async function attack(source: string): Promise<Evaluated> {
  const prototypes = [Object.prototype, Array.prototype, Function.prototype, Promise.prototype, Error.prototype];
  const before = prototypes.map((each) => Reflect.ownKeys(each).length);
  const done = await sandbox.evaluate(source);
  expect(prototypes.map((each) => Reflect.ownKeys(each).length)).toEqual(before);
  const text = JSON.stringify(done);
  for (const mark of marks) expect(text).not.toContain(JSON.stringify(mark).slice(1, -1));
  return done;
}

const ways = [
  // Chains of constructors.
  "Function('return this')().process?.version",
  "(() => {}).constructor('return process')().mainModule",
  "(async () => {}).constructor('return process.binding')()",
  "[].filter.constructor('return globalThis')().require",
  "input?.constructor?.constructor('return process')().exit",
  "take.constructor('return process.getBuiltinModule')()",
  "Object.getPrototypeOf(async function* () {}).constructor('return typeof require')().next()",
  // Errors and their stacks.
  "Error.prepareStackTrace = (e, frames) => frames.map((f) => f.getThis?.() ?? f.getFunction?.()); new Error().stack?.map?.(String)",
  "try { null.x } catch (e) { e.constructor.constructor('return process')().version }",
  "const e = await fails().catch((e) => e); [e.constructor === Error, e.constructor.constructor('return process')().pid]",
  "function f() { f() } try { f() } catch (e) { e.constructor.constructor('return process')().version }",
  "const e = new Error(); e.name = { toString: new Proxy(() => '', { apply: (t, s, a) => { throw s } }) }; String(e)",
  "Error.stackTraceLimit = Infinity; const o = { __proto__: Error.prototype }; Error.captureStackTrace?.(o); o.stack",
  // Proxies, symbols and species.
  "Object.defineProperty(Promise, Symbol.species, { value: function (f) { f((x) => x, (x) => x); } }); await take(1).then((x) => x)",
  "Promise.prototype.then = function () { return arguments[0]?.constructor('return process')().pid }; await take(1)",
  "Array.prototype.map = function () { return [this] }; take([1])",
  "Symbol.prototype[Symbol.toPrimitive] = () => { throw 1 }; take({ a: 1 })",
  "const p = new Proxy({}, { get: (t, k) => (k === 'then' ? undefined : p), ownKeys: () => ['a'] }); p",
  "new Proxy(Function, { construct: () => ({}) })",
  "Object.prototype.toJSON = () => ({ hacked: 1 }); ({})",
  // Code from text.
  "eval('typeof process.binding')",
  "import('node:child_process').catch((e) => e.message)",
  "new Function('return import(\"fs\")')().catch((e) => e.message)",
  "(0, eval)('this').constructor.name",
  "await import('data:text/javascript,export default 1')",
  // The program inside.
  "[typeof handler, typeof startCall, typeof evaluate, Object.getOwnPropertyNames(globalThis).filter((n) => /tenon/i.test(n))]",
  "Object.getOwnPropertySymbols(globalThis).map(String)",
  "import('tenon:engine').catch((e) => e.message)",
  "import('given:take').catch((e) => e.message)",
  "import('handler.js').catch((e) => e.message)",
  "import('sandbox.js').catch((e) => e.message)",
  // Forged answers and thenables.
  "({ then(resolve) { resolve({ ok: false, then: 1 }) } })",
  "[false, 1]",
  "({ then: 1, ok: false, error: 1 })",
  "Object.defineProperty({}, 'x', { enumerable: true, get() { throw { message: { toString: 1 } } } })",
  "Uint8Array.prototype.set = function () {}; Uint8Array.prototype.subarray = () => new Uint8Array([200, 1]); ({ a: 1 })",
  "Object.keys = () => ['__proto__', 'constructor']; ({ a: 1 })",
  "Object.defineProperty(Object.prototype, 'status', { get: () => 302 }); 1",
  // Waiting, and sizes.
  "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100)",
  "new Array(2 ** 32 - 1).join('x')",
  "'x'.repeat(2 ** 29)",
  "new ArrayBuffer(2 ** 32)",
  "new SharedArrayBuffer(8, { maxByteLength: 2 ** 31 })",
  "Array(1e9).fill(0)",
  "JSON.parse('['.repeat(1e6))",
  "'a'.padEnd(2 ** 30)",
  "const a = []; a.length = 4294967295; a",
  "2n ** (2n ** 40n)",
  "new RegExp('('.repeat(1e5))",
  "Array.from({ length: 2 ** 31 })",
  "({ length: 2 ** 53 - 1, __proto__: Array.prototype }).fill()",
  "structuredClone(Array(1e8))",
];

test.each(ways)("%s", { timeout: 60_000 }, async (source) => {
  await attack(source);
  // The program still evaluates, and nothing is left.
  expect(await sandbox.evaluate("[1, typeof hacked, Object.keys({}).length]")).toMatchObject({
    value: [1, "undefined", 0],
  });
});

test("no evaluation sees a trace of another one", async () => {
  await attack(`
    Object.prototype.polluted = 1; Array.prototype.push = null; globalThis.left = 1; Promise.prototype.then = null;
    JSON.stringify = () => "x"; process.env.SECRET = "s"; take.hidden = 1; delete globalThis.console; 1`);
  const look =
    "[({}).polluted, [].push === null, globalThis.left, typeof console, process.env.SECRET, take.hidden, JSON.stringify(1)]";
  expect(await sandbox.evaluate(look)).toMatchObject({
    value: [undefined, false, undefined, "object", undefined, undefined, "1"],
  });
});

test("arguments of tools are plain copies, whatever their names are", async () => {
  seen.length = 0;
  await attack(
    `await take(JSON.parse('{"__proto__":{"admin":true},"constructor":{"prototype":{"admin":true}},"toString":"x"}'))`,
  );
  const [value] = seen as [Record<string, unknown>];
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  expect(Object.keys(value)).toEqual(["__proto__", "constructor", "toString"]);
  expect([value["admin"], ({} as Record<string, unknown>)["admin"]]).toEqual([undefined, undefined]);
  const strict = await attack(
    `strict(JSON.parse('{"id":1,"__proto__":{"admin":true}}')).then((v) => v, (e) => e.message)`,
  );
  if (strict.ok && typeof strict.value === "object") expect(strict.value).toEqual({ id: 1 });
  await attack("await take({ then(resolve) { resolve('never') } }).catch((e) => e.message)");
  await attack("await take(() => 1).catch((e) => e.message)");
  expect(seen.every((each) => typeof each !== "function")).toBe(true);
});

test("a value of a script is data", async () => {
  const done = await attack(
    `({ then: 1, __defineGetter__: 2, valueOf: "x", ["__proto__"]: { polluted: 1 }, toString: null })`,
  );
  if (!done.ok) throw new Error(done.error.message);
  const value = done.value as Record<string, unknown>;
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  for (const descriptor of Object.values(Object.getOwnPropertyDescriptors(value)))
    expect(descriptor.get).toBe(undefined);
  expect(({} as Record<string, unknown>)["polluted"]).toBe(undefined);
});

test("a value of the program is sent with the length that it has, whatever it says and does", () => {
  class Long extends Uint8Array {
    override get length() {
      return 2_000;
    }
  }
  expect(decode(encode(new Long([1, 2])))).toEqual(new Uint8Array([1, 2]));
  const short = Object.defineProperty(new Uint8Array([1, 2]), "length", { value: 1 });
  expect(decode(encode([short, "after"]))).toEqual([new Uint8Array([1, 2]), "after"]);
  const shrinking = [1, 2, 3];
  const get = () => {
    shrinking.length = 1;
    return 1;
  };
  Object.defineProperty(shrinking, 0, { get });
  expect(decode(encode([shrinking, "after"]))).toEqual([[1, undefined, undefined], "after"]);
});

test("a tool may have the name of any global", async () => {
  for (const name of ["Object", "Promise", "Error", "Uint8Array", "console", "Symbol", "toString"]) {
    await using own = await runtime.sandbox({ tools: { [name]: tool({ run: (value) => [value] }) } });
    expect(await own.evaluate(`export default async () => [await ${name}(5), 1]`)).toMatchObject({ value: [[5], 1] });
  }
});

test("whatever a tool throws, the evaluation and the program go on", async () => {
  const throwing = (value: unknown) =>
    tool({
      publicErrors: true,
      run: () => {
        throw value;
      },
    });
  const unreadable = Object.defineProperty(new Error("x"), "message", {
    get: () => {
      throw new Error("unreadable");
    },
  });
  const tools = {
    number: throwing(Object.assign(new Error("x"), { message: 7 })),
    object: throwing(Object.create(null)),
    getter: throwing(unreadable),
    symbol: throwing(Symbol("s")),
    nothing: throwing(undefined),
  };
  await using own = await runtime.sandbox({ tools, limits: { wallMs: 5_000 } });
  const messages = Object.keys(tools).map((name) => `await ${name}().catch((e) => e.message)`);
  expect(await own.evaluate(`[${messages}]`)).toMatchObject({
    value: ["7", "the tool has failed", "the tool has failed", "Symbol(s)", "undefined"],
  });
});

test("a tool that throws a Proxy fails, and the program goes on", async () => {
  const trap = () => {
    throw new Error("in the trap");
  };
  const run = () => {
    throw new Proxy(new Error("x"), { getPrototypeOf: trap, get: trap });
  };
  await using own = await runtime.sandbox({ tools: { odd: tool({ run }) }, limits: { wallMs: 5_000 } });
  expect(await own.evaluate("odd()")).toMatchObject({ error: { kind: "tool", message: "odd failed" } });
});

test("a mistake in `onToolError` is a warning", async () => {
  const warnings: string[] = [];
  const listen = (warning: Error) => warnings.push(warning.message);
  process.on("warning", listen);
  const fail = () => {
    throw new Error("in the tool");
  };
  await using own = await runtime.sandbox({
    tools: { sync: tool({ run: fail }), later: tool({ run: fail }) },
    onToolError: (_, name) => {
      if (name === "sync") throw new Error("at once");
      return Promise.reject(new Error("later"));
    },
  });
  for (const name of ["sync", "later"])
    expect(await own.evaluate(`${name}()`)).toMatchObject({ error: { kind: "tool", message: `${name} failed` } });
  await expect.poll(() => warnings).toHaveLength(2);
  process.off("warning", listen);
  expect(warnings).toEqual(["onToolError has failed: at once", "onToolError has failed: later"]);
});

test("a forged answer is refused, whatever its bytes are", () => {
  const good = encode([false, { a: [1, "x", new Uint8Array(3), new Date(0), null] }]);
  let refused = 0;
  let random = 1;
  const next = () => {
    random = (random * 1_103_515_245 + 12_345) % 2 ** 31;
    return random;
  };
  for (let round = 0; round < 20_000; round++) {
    const bytes = Buffer.from(good);
    for (let change = 0; change < 1 + (next() % 3); change++) bytes[next() % bytes.length] = next() % 256;
    const cut = next() % 4 === 0 ? bytes.subarray(0, next() % bytes.length) : bytes;
    try {
      decode(cut);
    } catch (error) {
      expect(error).toBeInstanceOf(InvalidValueError);
      refused++;
    }
  }
  expect(refused).toBeGreaterThan(5_000);
  const deep = Buffer.concat([...Array(100_000).fill(Buffer.from([9, 1, 0, 0, 0])), Buffer.from([1])]);
  expect(() => decode(deep)).toThrow(InvalidValueError);
  expect(() => decode(Buffer.from([9, 255, 255, 255, 255]))).toThrow("ends early");
  expect(() => decode(Buffer.from([7, 255, 255, 255, 127, 1]))).toThrow("ends early");
});

/** Counts the turns of the event loop until some work is done. */
async function countingTurns<T>(work: () => Promise<T>): Promise<[result: T, turns: number]> {
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const result = await work();
  isOver = true;
  return [result, turns];
}

test("the event loop goes on while values of a MiB are decoded, one slice in each turn", async () => {
  const values = [
    Array(1e6).fill(null),
    Array.from({ length: 6e4 }, (_, index) => ({ [`k${index}`]: [new Uint8Array(0)] })),
  ];
  const [decoded, turns] = await countingTurns(() => Promise.all(values.map((value) => decodeInSlices(encode(value)))));
  expect(decoded).toStrictEqual(values);
  expect(turns).toBeGreaterThan(10);
  // A cut one and a small one, beside one another.
  const bytes = encode(values[1]);
  const ends = await Promise.allSettled([decodeInSlices(bytes.subarray(0, 100_000)), decodeInSlices(encode(1))]);
  expect(ends).toMatchObject([{ reason: expect.any(InvalidValueError) }, { value: 1 }]);
});

test("the event loop goes on while values of a program are encoded, one slice in each turn", async () => {
  const values: [unknown, turns: number][] = [
    [Array(1e6).fill(null), 50],
    [Array.from({ length: 6e4 }, (_, index) => ({ [`k${index}`]: [new Uint8Array(0)] })), 8],
    [JSON.parse(`{${Array.from({ length: 1e5 }, (_, index) => `"${index}x":0`)}}`), 4],
    [Array(400).fill("é".repeat(20_000)), 1],
  ];
  for (const [value, least] of values) {
    const [encoded, turns] = await countingTurns(() => encodeInSlices(value, "the value"));
    expect(turns).toBeGreaterThanOrEqual(least);
    expect(encoded.equals(encode(value))).toBe(true);
    expect(await decodeInSlices(encoded)).toStrictEqual(value);
  }
  // A wrong one far behind, and a small one beside it.
  const ends = await Promise.allSettled([
    encodeInSlices([Array(1e5).fill(0), { far: [Symbol()] }], "it"),
    encodeInSlices(1, "it"),
  ]);
  expect(ends).toMatchObject([{ reason: { message: expect.stringContaining("it[1].far[0] is a symbol") } }, {}]);
});

test("a stack that a script has written costs the event loop little", async () => {
  const forged = "Object.defineProperty(new Error('x'), 'stack', { value: 'script.ts:1:9900 '.repeat(400) })";
  const source = `throw ${forged}; /*${"a".repeat(9_700)}é*/`;
  const done = await attack(source);
  if (done.ok) throw new Error("there is a value");
  // The first ones are counted in UTF-16 units, and the others are as they were.
  expect(done.error.stack?.match(/script\.ts:1:\d+/g)?.length).toBe(400);
  expect(new Set(done.error.stack?.match(/1:\d+/g))).toEqual(new Set([`1:${source.length + 1}`, "1:9900"]));
});
