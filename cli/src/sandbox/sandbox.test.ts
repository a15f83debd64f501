import { setMaxListeners } from "node:events";
import { field, list, oneOf, Type } from "@tenon/sdk";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { Runtime } from "../embed/runtime.ts";
import type { Evaluated, Sandbox, SandboxOptions } from "./sandbox.ts";
import { PublicError, tool } from "./tool.ts";

let runtime: Runtime;
beforeAll(async () => {
  runtime = await Runtime.create({ modules: {}, logLevel: "off" });
  // The engine is compiled once.
  await (await runtime.sandbox()).close();
}, 300_000);
afterAll(() => runtime.close());

const made = (options: SandboxOptions = {}) => runtime.sandbox(options);

/** The value of an evaluation that must have one. */
function resultOf(done: Evaluated): unknown {
  if (!done.ok) throw new Error(`${done.error.kind}: ${done.error.message}`);
  return done.value;
}

/** The error of an evaluation that must have one. */
function errorOf(done: Evaluated) {
  if (done.ok) throw new Error(`there is a value: ${JSON.stringify(done.value)}`);
  return done.error;
}

describe("a script's value", () => {
  test.each([
    ["1 + 1", undefined, 2],
    ["const x: number = 20; x + 1", undefined, 21],
    ["export default ({ n }: { n: number }) => n * 2", { n: 4 }, 8],
    ["export default async function (n) { await null; return [n] }", 1, [1]],
    ["async (n) => n + 1", 1, 2],
    ["export default 7", undefined, 7],
    ["const a = await Promise.resolve(5); a", undefined, 5],
    ["input.a", { a: [true] }, [true]],
    ["if (input) 'yes'; else 'no'", false, "no"],
    ["interface A { b: string }\ntype C = A;\n({ b: 'x' } satisfies A) as C", undefined, { b: "x" }],
    ["const m = new Map<string, number>([['a', 1]]); [...m]", undefined, [["a", 1]]],
    ["function f<T>(x: T): T { return x } f<number>(3)", undefined, 3],
    ["let x = 1;", undefined, undefined],
    ["", undefined, undefined],
    ["process.env", undefined, { MODE: "test" }],
    [
      "[typeof URL, typeof fetch, typeof require, typeof structuredClone, typeof TextDecoder]",
      undefined,
      expect.any(Array),
    ],
  ])("%s", async (source, input, expected) => {
    await using sandbox = await made({ env: { MODE: "test" } });
    expect(resultOf(await sandbox.evaluate(source, { input }))).toEqual(expected);
  });

  test("a refused fetch names the sandbox's option", async () => {
    await using sandbox = await made({});
    const done = await sandbox.evaluate("fetch('http://192.0.2.1/').catch((error) => error.message)", {});
    expect(resultOf(done)).toBe(
      "fetch failed: http://192.0.2.1 is refused: it must be in `outbound.allow`, unless it is a sidecar",
    );
    // The log has the script's own lines alone.
    expect(done.logs).toEqual([]);
  });

  test("values cross as structured clones, both ways", async () => {
    await using sandbox = await made({ limits: { outputBytes: 1 << 26 } });
    const json = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: "small" },
        fc.constantFrom(null, undefined, true, false, Number.NaN, -0, Number.POSITIVE_INFINITY),
        fc.double(),
        fc.string({ unit: "binary" }),
        fc.constant("a\ud800"),
        fc.uint8Array(),
        fc.date({ noInvalidDate: false }),
        fc.array(tie("value"), { maxLength: 4 }),
        fc.dictionary(fc.string(), tie("value"), { maxKeys: 4, noNullPrototype: true }),
      ),
    })).value;
    await fc.assert(
      fc.asyncProperty(fc.array(json, { maxLength: 20 }), async (input) => {
        const done = await sandbox.evaluate("export default (x) => x", { input });
        expect(resultOf(done)).toStrictEqual(structuredClone(input));
      }),
      { numRuns: 50 },
    );
  });

  test("what is no value stays inside", async () => {
    await using sandbox = await made();
    for (const [source, what] of [
      ["export default () => () => 1", "the value is a function"],
      ["({ a: [Symbol()] })", ".a[0] is a symbol"],
      ["({ m: new Map() })", ".m is a Map"],
      ["10n", "the value is a bigint"],
      ["new Response('x')", "the value is a Response"],
      ["({ at: [new URL('http://a')] })", ".at[0] is a URL"],
      ["new (class extends Headers {})()", "the value is a Headers"],
      ["new Blob(['x'])", "the value is a Blob"],
      ["const { signal } = new AbortController(); signal", "the value is an AbortSignal"],
      ["new Proxy({}, {})", "the value is a Proxy"],
      ["const a = []; a.push(a); a", "contains itself"],
    ] as const) {
      expect(errorOf(await sandbox.evaluate(source))).toMatchObject({
        kind: "thrown",
        message: expect.stringContaining(what),
      });
    }
  });

  test("values of 200 levels cross both ways, and deeper ones do not", async () => {
    await using sandbox = await made({ tools: { echo: tool({ run: (value) => value }) } });
    const nest = (levels: number) => `let a = 1; for (let i = 0; i < ${levels}; i++) a = [a];`;
    const measure = (value: unknown): number => (Array.isArray(value) ? 1 + measure(value[0]) : 0);
    const deepest = resultOf(await sandbox.evaluate(`${nest(200)} await echo(a)`));
    expect(measure(deepest)).toBe(200);
    expect(measure(resultOf(await sandbox.evaluate("input", { input: deepest })))).toBe(200);
    const message = expect.stringContaining("200 levels");
    for (const end of ["a", "await echo(a)"])
      expect(errorOf(await sandbox.evaluate(`${nest(201)} ${end}`))).toMatchObject({ kind: "thrown", message });
    await expect(sandbox.evaluate("1", { input: [deepest] })).rejects.toThrow("200 levels");
  });

  test("an argument that is no value is named by its own path", async () => {
    await using sandbox = await made({ tools: { echo: tool({ run: (value) => value }) } });
    const message = (argument: string) => sandbox.evaluate(`echo(${argument}).catch((e) => e.message)`).then(resultOf);
    expect(await message("{ a: [1, () => 1] }")).toBe("the value.a[1] is a function, which cannot leave the sandbox");
    expect(await message("10n")).toBe("the value is a bigint, which cannot leave the sandbox");
  });

  class Own {
    readonly name: string;
    readonly at = [1];
    constructor(name: string) {
      this.name = name;
    }
    get size() {
      return 1;
    }
  }
  class Hidden {
    readonly #amount = 1;
    get amount() {
      return this.#amount;
    }
  }
  class Decimal {
    readonly digits = [1, 2];
    toJSON() {
      return "1.2";
    }
  }
  const circle: Record<string, unknown> = { a: {} };
  circle["a"] = { b: [circle] };

  /** Values of the program, and their texts in errors. */
  const uncloneable: [value: unknown, text: string][] = [
    [new URL("http://a"), "a URL: only JSON's types, bytes and dates enter a sandbox; convert it to a string"],
    [new URLSearchParams("a=1"), "a URLSearchParams"],
    [new Headers({ a: "b" }), "a Headers"],
    [new Response("x"), "a Response"],
    [new Blob(["x"]), "a Blob"],
    [new (class Own extends URL {})("http://a"), "an Own"],
    [new Map([[1, 2]]), "a Map: only JSON's types, bytes and dates enter a sandbox; convert it by Object.fromEntries"],
    [new Set([1]), "a Set"],
    [new WeakMap(), "a weak collection"],
    [new WeakRef({}), "a WeakRef"],
    [/a/, "a RegExp"],
    [new Error("x"), "an Error: only JSON's types, bytes and dates enter a sandbox; copy its message"],
    [Promise.resolve(1), "a Promise: only JSON's types, bytes and dates enter a sandbox; await it"],
    [() => 1, "a function"],
    [class {}, "a function"],
    [10n, "a bigint: only JSON's types, bytes and dates enter a sandbox; convert it to a string or a number"],
    [Symbol("x"), "a symbol"],
    [Object(1n), "a boxed value"],
    [new Float64Array(1), "a Float64Array, not a Uint8Array"],
    [new DataView(new ArrayBuffer(1)), "a DataView, not a Uint8Array"],
    [new ArrayBuffer(1), "an ArrayBuffer"],
    [new SharedArrayBuffer(1), "an ArrayBuffer"],
    [new Proxy({}, {}), "a Proxy"],
    [(function* () {})(), "an object with a prototype"],
    [new Intl.NumberFormat("en"), "a NumberFormat"],
    [new Hidden(), "a Hidden: only JSON's types, bytes and dates enter a sandbox; copy its data to a plain object"],
    [new Decimal(), "a Decimal: only JSON's types, bytes and dates enter a sandbox; convert it as its toJSON does"],
    [Object.create({ inherited: 1 }), "an object with a prototype"],
  ];
  test.each(uncloneable)("%o does not enter a sandbox", async (value, text) => {
    const errors: unknown[] = [];
    await using sandbox = await made({
      tools: { give: tool({ run: () => ({ a: [value] }) }) },
      onToolError: (error) => void errors.push(error),
    });
    await expect(sandbox.evaluate("1", { input: { a: [value] } })).rejects.toThrow(`the input.a[0] is ${text}`);
    const done = await sandbox.evaluate("give().catch(String)");
    expect(resultOf(done)).toBe("ToolError: give failed");
    expect(errors).toMatchObject([
      { name: "DataCloneError", message: expect.stringContaining(`the result of give.a[0] is ${text}`) },
    ]);
  });

  test("an object of a class crosses with its own properties, in both directions", async () => {
    await using sandbox = await made({ tools: { give: tool({ run: () => [new Own("x"), Object.create(null)] }) } });
    expect(resultOf(await sandbox.evaluate("give()"))).toStrictEqual([{ name: "x", at: [1] }, {}]);
    expect(resultOf(await sandbox.evaluate("input", { input: new Own("y") }))).toStrictEqual({ name: "y", at: [1] });
    const inside =
      "class Own { a = 1; get b() { return 2 } } [new Own(), Object.create(null), new (class extends Array {})(1)]";
    expect(resultOf(await sandbox.evaluate(inside))).toStrictEqual([{ a: 1 }, {}, [undefined]]);
  });

  test("a circle is named by the place that contains itself", async () => {
    await using sandbox = await made();
    await expect(sandbox.evaluate("1", { input: { first: circle } })).rejects.toThrow(
      /^the input\.first contains itself$/,
    );
    // A wide one is not encoded again and again.
    let reads = 0;
    const wide: unknown[] = [
      {
        get read() {
          return reads++;
        },
      },
    ];
    wide.push(wide);
    await expect(sandbox.evaluate("1", { input: wide })).rejects.toThrow(/^the input contains itself$/);
    expect(reads).toBe(1);
    // The same object twice is no circle.
    const shared = {};
    expect(resultOf(await sandbox.evaluate("input", { input: [shared, { shared }, shared] }))).toStrictEqual([
      {},
      { shared: {} },
      {},
    ]);
  });

  test.each([
    ["new Map([[1, 2]])", "a Map"],
    ["new Set([1])", "a Set"],
    ["/a/", "a RegExp"],
    ["new Error('x')", "an Error"],
    ["Promise.resolve(1)", "a Promise"],
    ["[1].values()", "an Array Iterator"],
    ["(function* () {})()", "a Generator"],
    ["new WeakRef({})", "a WeakRef"],
    ["new Date(0).constructor", "a function"],
    ["new Float64Array(1)", "a Float64Array"],
    ["new URLSearchParams('a=1')", "a URLSearchParams"],
    ["new (class Own extends URL {})('http://a')", "a URL"],
    ["new (class Hidden { #amount = 1; get amount() { return this.#amount } })()", "a Hidden"],
    ["new (class Decimal { digits = [1]; toJSON() { return '1' } })()", "a Decimal"],
    ["Object.create({ inherited: 1 })", "an object with a prototype"],
  ])("%s does not leave a sandbox", async (source, text) => {
    await using sandbox = await made({ tools: { take: tool({ run: (value) => value }) } });
    const message = `the value.a[0] is ${text}, which cannot leave the sandbox`;
    expect(errorOf(await sandbox.evaluate(`({ a: [${source}] })`))).toMatchObject({ name: "DataCloneError", message });
    expect(resultOf(await sandbox.evaluate(`take({ a: [${source}] }).catch((e) => e.message)`))).toBe(message);
  });

  test("an input that cannot be cloned is an error of the program", async () => {
    await using sandbox = await made();
    await expect(sandbox.evaluate("1", { input: { f: () => 1 } })).rejects.toThrow("the input.f is a function");
    await expect(sandbox.evaluate("1", { input: new Map() })).rejects.toThrow("a Map");
    await expect(sandbox.evaluate(1 as never)).rejects.toMatchObject({ code: "CONFIG" });
  });
});

describe("errors", () => {
  test.each([
    ["\nthrow new TypeError('no')", { kind: "thrown", name: "TypeError", message: "no", line: 2, column: 7 }],
    ["\n\nfunction f(a: string) { throw new Error(a) }\nf('x')", { kind: "thrown", line: 3, column: 31 }],
    ["throw null", { kind: "thrown", message: "null" }],
    ["throw { toString() { throw 1 } }", { kind: "thrown" }],
    ["throw { code: 404, reason: ['no'] }", { kind: "thrown", message: '{"code":404,"reason":["no"]}' }],
    ["const a = {}; a.a = a; throw a", { kind: "thrown", message: "[object Object]" }],
    ["JSON.stringify = 5; throw { toJSON() { throw 1 } }", { kind: "thrown", message: "[object Object]" }],
    [
      "const é = '日本😀'; throw new Error('x')",
      { kind: "thrown", line: 1, column: 25, stack: expect.stringContaining("script.ts:1:25") },
    ],
    ["const a = 'é';\n\tconst b: '😀' = '😀' as any;\tthrow new Error('x')", { kind: "thrown", line: 2, column: 37 }],
    ["\tconst é = '日本😀';\tenum A {}", { kind: "syntax", line: 1, column: 20 }],
    ["\t\tlet x = ;", { kind: "syntax", line: 1, column: 11 }],
    ["/* e\u0301 */ @decorator class A {}", { kind: "syntax", line: 1, column: 10 }],
    ["let x = ;", { kind: "syntax", line: 1, column: 9 }],
    ["\nenum A { B }", { kind: "syntax", line: 2, message: expect.stringContaining("enum") }],
    ["\n\nnamespace N { export const x = 1 }", { kind: "syntax", line: 3 }],
    ["class A { constructor(private x: number) {} }", { kind: "syntax", line: 1 }],
    [
      "const é: string = '';\nimport fs from 'node:fs'",
      { kind: "syntax", message: expect.stringContaining('"node:fs"'), line: 2, column: 16 },
    ],
    [
      "import { startCall } from 'tenon:engine'",
      { kind: "syntax", message: expect.stringContaining('"tenon:engine"') },
    ],
    [
      "import { nope } from 'crm'",
      { kind: "syntax", message: "Could not find export 'nope' in module 'crm'", line: 1, column: 22 },
    ],
    ["await import('node:fs')", { kind: "thrown", message: expect.stringContaining('"node:fs"') }],
    ["new Promise(() => {})", { kind: "thrown", message: expect.stringContaining("never happens") }],
    [
      "setTimeout(() => { throw new Error('late') }, 1); new Promise((r) => setTimeout(r, 50))",
      { kind: "thrown", message: "Error: late" },
    ],
    ["(".repeat(100_000), { kind: "syntax", message: expect.stringContaining("too deeply") }],
    ["!".repeat(200_000), { kind: "syntax" }],
  ])("%s", async (source, expected) => {
    await using sandbox = await made({ tools: { crm: { find: tool({ run: () => 1 }) } } });
    expect(errorOf(await sandbox.evaluate(source))).toMatchObject(expected);
    expect(resultOf(await sandbox.evaluate("1"))).toBe(1);
  });

  test("an import has no place where two texts look like it", async () => {
    await using sandbox = await made();
    const done = await sandbox.evaluate("// from 'fs'\nimport fs from 'fs'");
    expect(errorOf(done)).toEqual({ kind: "syntax", name: "SyntaxError", message: expect.stringContaining('"fs"') });
  });

  test("a script that waits for nothing has no line of the engine in its log", async () => {
    await using sandbox = await made();
    const done = await sandbox.evaluate("console.log('a'); new Promise(() => {})");
    expect([done.ok, done.logs]).toEqual([false, [{ level: "info", message: "a" }]]);
  });

  test("logs are lines with levels", async () => {
    await using sandbox = await made();
    const done = await sandbox.evaluate("console.log('a', { b: 1 }); console.error('c\\nd'); throw new Error('e')");
    expect(done.ok).toBe(false);
    expect(done.logs).toEqual([
      { level: "info", message: "a { b: 1 }" },
      { level: "error", message: "c" },
      { level: "error", message: "d" },
    ]);
  });
});

test("an error that a script logs is in its log, with the stack", async () => {
  await using sandbox = await made();
  const { logs } = await sandbox.evaluate("console.error(new Error('boom')); 1");
  expect(logs[0]).toEqual({ level: "error", message: "Error: boom" });
  expect(logs.slice(1)).toContainEqual({ level: "error", message: expect.stringContaining("script.ts:1:") });
});

describe("tools", () => {
  const Find = Type("Find", { id: field.u32() });
  const Person = Type("Person", { id: field.u32(), name: field.string({ docs: "The name */ in full." }) });

  test("are globals and modules, and validated on the way in and out", async () => {
    const run = vi.fn(({ id }: { id: number }) => ({ id, name: id === 9 ? (7 as never) : "Ada" }));
    const onToolError = vi.fn();
    await using sandbox = await made({
      tools: { crm: { find: tool({ input: Find, output: Person, run }) } },
      onToolError,
    });
    const both =
      "import crm, { find } from 'crm'; [await find({ id: 1 }), await crm.find({ id: 2 }), globalThis.crm === crm]";
    expect(resultOf(await sandbox.evaluate(both))).toEqual([{ id: 1, name: "Ada" }, { id: 2, name: "Ada" }, true]);
    const wrong = errorOf(await sandbox.evaluate("\nawait crm.find({ id: 'x' })"));
    expect(wrong).toMatchObject({ kind: "tool", message: expect.stringMatching(/^crm\.find: .*id/) });
    expect(run).toHaveBeenCalledTimes(2);
    expect(errorOf(await sandbox.evaluate("crm.find({ id: 9 })"))).toMatchObject({
      kind: "tool",
      message: "crm.find failed",
    });
    expect(onToolError).toHaveBeenCalledWith(
      expect.objectContaining({ message: expect.stringContaining("name") }),
      "crm.find",
    );
  });

  test("of a group may have words as names", async () => {
    await using sandbox = await made({ tools: { crm: { delete: tool({ run: (id) => `deleted ${id}` }) } } });
    const source = "import { delete as remove } from 'crm'; [await crm.delete(1), await remove(2)]";
    expect(resultOf(await sandbox.evaluate(source))).toEqual(["deleted 1", "deleted 2"]);
    expect(sandbox.types()).toContain("delete(input?: unknown): Promise<unknown>;");
    for (const name of ["default", "then", "constructor", "prototype", "__proto__", "a-b"])
      await expect(made({ tools: { crm: { [name]: tool({ run: () => 1 }) } } })).rejects.toThrow("identifier");
  });

  test("a script learns the message of a public error alone", async () => {
    const fails = (error: unknown, publicErrors = false) =>
      tool({
        publicErrors,
        run: () => {
          throw error;
        },
      });
    await using sandbox = await made({
      tools: {
        secret: fails(new Error("password")),
        own: fails(new PublicError("no such person")),
        open: fails(new Error("open"), true),
        odd: fails({ toString: () => "odd" }),
      },
    });
    const caught = "[secret, own, open, odd].map((t) => t().catch((e) => [e.name, e.message, e instanceof Error]))";
    expect(resultOf(await sandbox.evaluate(`await Promise.all(${caught})`))).toEqual([
      ["ToolError", "secret failed", true],
      ["ToolError", "no such person", true],
      ["ToolError", "open", true],
      ["ToolError", "odd failed", true],
    ]);
    expect(errorOf(await sandbox.evaluate("secret()"))).toMatchObject({ kind: "tool", message: "secret failed" });
  });

  test("as many run at once as may, and each learns when its evaluation ends", async () => {
    let running = 0;
    let most = 0;
    const ended: boolean[] = [];
    const wait = tool({
      run: async (ms: number, { signal, context }) => {
        most = Math.max(most, ++running);
        await new Promise((resolve) => {
          const timer = setTimeout(resolve, ms);
          signal.addEventListener("abort", () => {
            clearTimeout(timer);
            resolve(undefined);
          });
        });
        running--;
        ended.push(signal.aborted);
        return context;
      },
    });
    await using sandbox = await made({ tools: { wait }, limits: { concurrentCalls: 3, calls: 20 } });
    const all = await sandbox.evaluate("await Promise.all(Array.from({ length: 12 }, () => wait(5)))", {
      context: "me",
    });
    expect([resultOf(all), most]).toEqual([Array(12).fill("me"), 3]);
    expect(all.usage.calls).toBe(12);
    ended.length = 0;
    const controller = new AbortController();
    const aborted = sandbox.evaluate("await wait(60_000)", { signal: controller.signal });
    await expect.poll(() => running).toBe(1);
    controller.abort();
    expect(errorOf(await aborted)).toMatchObject({ kind: "aborted" });
    await expect.poll(() => ended).toEqual([true]);
  });

  test("types() declares tools and input", async () => {
    const Cat = Type("Cat", { kind: field.enum("cat"), lives: field.u32({ default: 9 }) });
    const Dog = Type("Dog", { kind: field.enum("dog"), tags: list(field.string()).optional() });
    await using sandbox = await made({
      input: Find,
      tools: {
        crm: {
          find: tool({
            input: Find,
            output: Person,
            description: "Finds */ a person.",
            run: ({ id }) => ({ id, name: "" }),
          }),
        },
        pet: tool({ input: oneOf("kind", { cat: Cat, dog: Dog }), run: () => null }),
        zod: tool({
          input: z.object({ a: z.string(), b: z.number().default(1) }),
          output: z.object({ c: z.number().default(1) }),
          run: () => ({}) as never,
        }),
        any: tool({ run: () => 1 }),
      },
    });
    expect(sandbox.types()).toBe(`declare const crm: {
  /** Finds *\\/ a person. */
  find(input: { id: number }): Promise<{ id: number; /** The name *\\/ in full. */ name: string }>;
};

declare function pet(input: { kind: "cat"; lives?: number } | { kind: "dog"; tags?: Array<string> }): Promise<unknown>;

declare function zod(input: { a: string; b?: number }): Promise<{ c: number }>;

declare function any(input?: unknown): Promise<unknown>;

/** The argument of the default export. */
declare const input: { id: number };
`);
    await expect(sandbox.evaluate("1", { input: { id: -1 } })).rejects.toThrow("the input is wrong: id");
  });

  test("types() declares the input that a script gets, and what a library can express", async () => {
    const input = z.object({ page: z.number().default(1), text: z.string().transform((text) => text.length) });
    const since = tool({ input: z.object({ id: z.string(), at: z.date() }), run: () => null });
    await using sandbox = await made({ input: Type("Page", { page: field.u32({ default: 1 }) }), tools: { since } });
    expect(sandbox.types()).toContain("declare const input: { page: number };");
    expect(sandbox.types()).toContain("since(input: { id: string; at: unknown }): Promise<unknown>;");
    expect(resultOf(await sandbox.evaluate("input.page", { input: {} }))).toBe(1);
    await using other = await made({ input });
    expect(other.types()).toContain("declare const input: { page: number; text: unknown };");
    expect(resultOf(await other.evaluate("input", { input: { text: "abc" } }))).toEqual({ page: 1, text: 3 });
  });
});

describe("usage", () => {
  test("is what was used", async () => {
    await using sandbox = await made({ tools: { echo: tool({ run: (x) => x }) } });
    const { usage: little } = await sandbox.evaluate("1");
    expect(little).toMatchObject({ calls: 0, peakMemoryBytes: expect.any(Number) });
    const source =
      "const t = performance.now(); while (performance.now() - t < 60); await echo('x'.repeat(5_000)); new Uint8Array(8 << 20).length";
    const { usage: much } = await sandbox.evaluate(source);
    expect(much.calls).toBe(1);
    expect(much.bytesOut).toBeGreaterThan(5_000);
    expect(much.bytesIn).toBeGreaterThan(5_000 + source.length);
    expect(much.peakMemoryBytes).toBeGreaterThan(little.peakMemoryBytes + (7 << 20));
    expect(much.wallUs).toBeGreaterThanOrEqual(60_000);
    expect(much.cpuUs).toBeLessThanOrEqual(much.wallUs + 10_000);
    expect(much.cpuUs).toBeGreaterThan(little.cpuUs);
  });
});

test("an evaluation ends whenever its signal is aborted", async () => {
  const slow = { "~standard": { vendor: "x", version: 1, validate: async (value: unknown) => ({ value }) } } as const;
  await using sandbox = await made({ input: slow });
  for (const turns of [0, 1, 2, 3, 5, 8]) {
    const controller = new AbortController();
    const done = sandbox.evaluate("for (;;);", { signal: controller.signal });
    for (let turn = 0; turn < turns; turn++) await null;
    controller.abort();
    expect(errorOf(await done)).toMatchObject({ kind: "aborted" });
  }
  expect(errorOf(await sandbox.evaluate("1", { signal: AbortSignal.abort() }))).toMatchObject({ kind: "aborted" });
});

test("a signal without a limit of listeners is as good as another", async () => {
  const { signal } = new AbortController();
  setMaxListeners(0, signal);
  await using sandbox = await made({});
  expect(await sandbox.evaluate("1", { signal })).toMatchObject({ value: 1 });
});

test("many evaluations, and many calls, may listen to one signal, which must be one", async () => {
  const warnings: Error[] = [];
  const listen = (warning: Error) => warnings.push(warning);
  process.on("warning", listen);
  const wait = tool({
    run: (_, { signal }) => new Promise((resolve) => signal.addEventListener("abort", () => resolve(1))),
  });
  await using sandbox = await made({ tools: { wait } });
  const controller = new AbortController();
  const all = Array.from({ length: 30 }, () =>
    sandbox.evaluate("await Promise.all(Array.from({ length: 12 }, () => wait()))", { signal: controller.signal }),
  );
  setTimeout(() => controller.abort(), 200);
  for (const done of await Promise.all(all)) expect(errorOf(done).kind).toBe("aborted");
  await new Promise((resolve) => setImmediate(resolve));
  process.off("warning", listen);
  expect(warnings).toEqual([]);
  await expect(sandbox.evaluate("1", { signal: {} as never })).rejects.toMatchObject({ code: "CONFIG" });
});

test("a call with a large argument fails in the script", async () => {
  await using sandbox = await made({ tools: { size: tool({ run: (text: string) => text.length }) } });
  expect(resultOf(await sandbox.evaluate("size('x'.repeat(1_000_000))"))).toBe(1_000_000);
  expect(errorOf(await sandbox.evaluate("size('x'.repeat(1_100_000))"))).toMatchObject({
    kind: "tool",
    message: "size: the argument must be at most 1048576 bytes long (outputBytes)",
  });
});

test("wrong options are named", async () => {
  const wrong = (options: unknown) => runtime.sandbox(options as never);
  await expect(wrong({ tols: {} })).rejects.toThrow("unknown option `tols`");
  await expect(wrong({ limits: { cpu: 1 } })).rejects.toThrow("unknown limit `limits.cpu`");
  await expect(wrong({ limits: { cpuMs: 0 } })).rejects.toThrow("`limits.cpuMs` must be a whole number from 1");
  await expect(wrong({ tools: { "a-b": tool({ run: () => 1 }) } })).rejects.toThrow("identifier");
  await expect(wrong({ tools: { ["__proto__"]: tool({ run: () => 1 }) } })).rejects.toThrow("identifier");
  await expect(wrong({ tools: { crm: { find: () => 1 } } })).rejects.toThrow("`tools.crm.find` must be a tool");
  await expect(wrong({ outbound: { allow: "x" } })).rejects.toThrow("`outbound.allow`");
  await expect(wrong({ outbound: { hosts: [] } })).rejects.toThrow("outbound: unknown option `hosts`");
  await expect(wrong({ env: { A: 1 } })).rejects.toThrow("`env.A` must be a string");
  await expect(wrong({ env: { "A=B": "1" } })).rejects.toThrow("`A=B` is not a name for `env`");
  await expect(wrong({ signal: undefined })).rejects.toThrow("it is an option of `evaluate`");
  await using sandbox = await made();
  const evaluated = (options: unknown) => sandbox.evaluate("1", options as never);
  await expect(evaluated({ inputs: 1 })).rejects.toThrow("unknown option `inputs`; did you mean `input`?");
  await expect(evaluated({ limits: {} })).rejects.toThrow("it is an option of `runtime.sandbox`");
  await expect(evaluated({ tools: [] })).rejects.toThrow("`tools` must be an object of tools");
  await expect(evaluated(null)).rejects.toThrow("the options of `evaluate` must be an object");
  expect(() => tool({ run: () => 1, inputs: 1 } as never)).toThrow('tool: unknown "inputs"');
  expect(() => tool({ run: 1 as never })).toThrow('"run" must be a function');
});

test("a runtime evaluates in a sandbox without options", async () => {
  const own = await Runtime.create({ modules: {}, logLevel: "off" });
  const double = tool({ run: (n: number) => n * 2 });
  const all = ["1 + 1", "export default ({ n }: { n: number }) => double(n)", "throw new TypeError('no')"].map(
    (source) => own.evaluate(source, { input: { n: 4 }, tools: { double } }),
  );
  const [one, two, three] = await Promise.all(all);
  expect([one, two]).toMatchObject([
    { ok: true, value: 2, logs: [] },
    { ok: true, value: 8, usage: { calls: 1 } },
  ]);
  expect(three).toMatchObject({ ok: false, error: { kind: "thrown", name: "TypeError", message: "no" } });
  await expect(own.evaluate("1", { limits: {} } as never)).rejects.toThrow("it is an option of `runtime.sandbox`");
  await own.close();
  await expect(own.evaluate("1")).rejects.toMatchObject({ code: "REQUEST" });
});

test("closing ends evaluations, and the runtime closes its sandboxes", async () => {
  const own = await Runtime.create({ modules: {}, logLevel: "off" });
  const sandbox = await own.sandbox();
  const endless = sandbox.evaluate("await new Promise((r) => setTimeout(r, 20_000))");
  const other: Sandbox = await own.sandbox();
  await sandbox.evaluate("1");
  const parsing = other.evaluate("const never: number = 1; for (;;);");
  await own.close();
  const closed = { kind: "aborted", message: "the sandbox was closed" };
  expect(errorOf(await endless)).toMatchObject(closed);
  expect(errorOf(await parsing)).toMatchObject(closed);
  await expect(other.evaluate("1")).rejects.toMatchObject({ code: "REQUEST" });
  await expect(own.sandbox()).rejects.toMatchObject({ code: "REQUEST" });
});
