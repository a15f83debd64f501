/** Compares Node's modules inside components with Node's own. */
import * as nodeAssert from "node:assert";
import * as nodeCrypto from "node:crypto";
import * as nodeUtil from "node:util";
import * as fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import assert from "./assert.ts";
import { AsyncLocalStorage, AsyncResource } from "./async-hooks.ts";
import { Buffer as OwnBuffer } from "./buffer.ts";
import * as crypto from "./crypto.ts";
import * as util from "./util.ts";

/** Returns a call's result, or the code of its error. */
const outcome = (call: () => unknown) => {
  try {
    return call();
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
};

describe("Buffer", () => {
  const encodings = ["utf8", "hex", "base64", "base64url", "latin1", "ascii", "utf16le"] as const;

  test("decodes and encodes as Node's", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), fc.constantFrom(...encodings), (bytes, encoding) => {
        const text = Buffer.from(bytes).toString(encoding);
        expect(OwnBuffer.from(bytes).toString(encoding)).toBe(text);
        expect([...OwnBuffer.from(text, encoding)]).toEqual([...Buffer.from(text, encoding)]);
        expect(OwnBuffer.byteLength(text, encoding)).toBe(Buffer.byteLength(text, encoding));
      }),
    );
  });

  test("knows base64url wherever an encoding may stand", () => {
    const target = OwnBuffer.alloc(4, "-_-_", "base64url");
    expect([...target]).toEqual([...Buffer.alloc(4, "-_-_", "base64url")]);
    expect(target.write("_w", 1, "base64url")).toBe(1);
    expect(target.indexOf("_w", "base64url")).toBe(1);
    expect(OwnBuffer.isEncoding("base64url")).toBe(true);
  });
});

describe("crypto", () => {
  const names = crypto.getHashes().filter((name) => name !== "rmd160");

  test.each(names)("%s", (name) => {
    const [text, key] = ["é".repeat(200), Buffer.from("key")];
    const expected = nodeCrypto.createHash(name).update("a").update(text).digest("hex");
    expect(crypto.createHash(name).update("a").update(text).digest("hex")).toBe(expected);
    expect(crypto.createHmac(name.toUpperCase(), key).update(text).digest("base64")).toBe(
      nodeCrypto.createHmac(name, key).update(text).digest("base64"),
    );
  });

  test("a hash is copied, and refuses more when it is done", () => {
    const hash = crypto.createHash("sha256").update("a");
    const copy = hash.copy().update("b");
    expect(hash.digest("hex")).toBe(nodeCrypto.createHash("sha256").update("a").digest("hex"));
    expect(copy.digest("hex")).toBe(nodeCrypto.createHash("sha256").update("ab").digest("hex"));
    expect(outcome(() => hash.update("c"))).toBe("ERR_CRYPTO_HASH_FINALIZED");
    expect(() => crypto.createHash("no-such")).toThrow("Digest method not supported");
  });

  test("derived keys", () => {
    const hex = (value: unknown) => Buffer.from(value as Uint8Array).toString("hex");
    expect(hex(crypto.pbkdf2Sync("p", "salt", 10, 20, "sha512"))).toBe(
      nodeCrypto.pbkdf2Sync("p", "salt", 10, 20, "sha512").toString("hex"),
    );
    const options = { N: 16, r: 2, p: 1 };
    expect(hex(crypto.scryptSync("p", "salt", 20, options))).toBe(
      nodeCrypto.scryptSync("p", "salt", 20, options).toString("hex"),
    );
    expect(hex(crypto.hkdfSync("sha256", "key", "salt", "info", 42))).toBe(
      hex(new Uint8Array(nodeCrypto.hkdfSync("sha256", "key", "salt", "info", 42))),
    );
  });

  test("timingSafeEqual", () => {
    const bytes = (...values: number[]) => Uint8Array.from(values);
    expect(crypto.timingSafeEqual(bytes(1, 2), bytes(1, 2))).toBe(true);
    expect(crypto.timingSafeEqual(bytes(1, 2), bytes(1, 3))).toBe(false);
    expect(outcome(() => crypto.timingSafeEqual(bytes(1), bytes(1, 2)))).toBe(
      outcome(() => nodeCrypto.timingSafeEqual(bytes(1), bytes(1, 2))),
    );
  });

  test("random values", async () => {
    const large = crypto.randomBytes(100_000) as Uint8Array;
    expect(new Set(large).size).toBe(256);
    const rolls = Array.from({ length: 200 }, () => crypto.randomInt(1, 7));
    expect(new Set(rolls)).toEqual(new Set([1, 2, 3, 4, 5, 6]));
    await expect(util.promisify(crypto.randomBytes as never)(...([8] as never[]))).resolves.toHaveLength(8);
    expect(outcome(() => crypto.randomInt(5, 5))).toBe("ERR_OUT_OF_RANGE");
  });
});

describe("util", () => {
  class Named {
    readonly a = 1;
  }
  const circular: Record<string, unknown> = { a: 1 };
  circular["self"] = circular;
  test.each([
    [1],
    [-0],
    ["it's"],
    [`it's "x"`],
    [null],
    [undefined],
    [10n],
    [Symbol("s")],
    [[]],
    [{}],
    [[1, "a", [2, [3, [4, [5]]]]]],
    [{ a: { b: { c: { d: 1 } } }, "b-c": [1] }],
    [new Map<unknown, unknown>([["k", { a: 1 }]])],
    [new Set([1, "a"])],
    [new Named()],
    [Object.create(null)],
    [new Date(0)],
    [/a\/b/g],
    [circular],
    [Object.assign(new Array(3), { 0: 1, 2: 3 })],
    [new Uint8Array([1, 2])],
    [class Foo {}],
    [function foo() {}],
    [() => {}],
    [Object.defineProperties({}, { a: { get: () => 1, enumerable: true }, b: { set: () => {}, enumerable: true } })],
    [{ [Symbol("k")]: 1 }],
    [Object.assign([1], { x: 2 })],
    [{ long: "x".repeat(50), other: "y".repeat(50) }],
    [Object(1)],
  ])("inspects %# as Node's does", (value) => {
    expect(util.inspect(value)).toBe(nodeUtil.inspect(value));
    expect(util.inspect(value, { depth: 0 })).toBe(nodeUtil.inspect(value, { depth: 0 }));
  });

  test.each([
    ["%s %d %i %f %j %%", "a", 1.5, 1.5, "2.5", { a: 1 }],
    ["%s", { a: { b: 1 } }],
    ["%s %s", 1n, Symbol("s")],
    ["no places", 1, "two", { a: 1 }],
    ["%O and %s"],
    [1, 2, "three"],
    ["%d", "x"],
    ["%s", new Error("e").message],
  ])("formats %# as Node's does", (...args) => {
    expect(util.format(...args)).toBe(nodeUtil.format(...args));
  });

  test("types", () => {
    const values = [1, "a", null, [], new Map(), new Set(), new Date(), /a/, new Uint8Array(1), new ArrayBuffer(1)];
    const more = [
      Promise.resolve(),
      async () => {},
      function* () {},
      new Error("e"),
      Object(1),
      new DataView(new ArrayBuffer(1)),
    ];
    const own = util.types as Record<string, (value: unknown) => boolean>;
    const theirs = nodeUtil.types as unknown as Record<string, (value: unknown) => boolean>;
    for (const value of [...values, ...more])
      for (const [name, is] of Object.entries(own)) expect([name, is(value)]).toEqual([name, theirs[name]?.(value)]);
  });

  test("callbacks and promises", async () => {
    const doubled = util.promisify(((x: number, done: (error: unknown, y?: number) => void) =>
      x < 0 ? done(new Error("negative")) : done(null, x * 2)) as never) as (x: number) => Promise<number>;
    await expect(doubled(2)).resolves.toBe(4);
    await expect(doubled(-1)).rejects.toThrow("negative");
    const called = util.callbackify((async (x: number) => x + 1) as never) as unknown as (
      x: number,
      done: (...args: unknown[]) => void,
    ) => void;
    expect(await new Promise((resolve) => called(1, (...args) => resolve(args)))).toEqual([null, 2]);
  });
});

describe("assert", () => {
  const pairs: [unknown, unknown][] = [
    [{ a: 1 }, { a: 1 }],
    [{ a: 1 }, { a: "1" }],
    [
      { a: 1, b: 2 },
      { b: 2, a: 1 },
    ],
    [
      [1, 2],
      [1, 2],
    ],
    [
      [1, 2],
      [2, 1],
    ],
    [[1], { 0: 1 }],
    [new Map([[{ a: 1 }, 1]]), new Map([[{ a: 1 }, 1]])],
    [new Set([1, { a: 1 }]), new Set([{ a: 1 }, 1])],
    [new Set([1]), new Set([2])],
    [new Date(0), new Date(0)],
    [new Date(0), new Date(1)],
    [/a/g, /a/i],
    [Number.NaN, Number.NaN],
    [0, -0],
    [null, undefined],
    [new Uint8Array([1]), new Uint8Array([1])],
    [new Uint8Array([1]), new Uint8Array([2])],
    [new Error("a"), new Error("a")],
    [new Error("a"), new Error("b")],
    [Object.create(null), {}],
    [Object(1), Object(2)],
  ];

  test.each(pairs)("compares %j and %j as Node's does", (a, b) => {
    for (const name of ["deepEqual", "deepStrictEqual", "notDeepStrictEqual", "strictEqual", "equal"] as const)
      expect([name, outcome(() => assert[name as "strictEqual"](a, b))]).toEqual([
        name,
        outcome(() => (nodeAssert.default[name] as (a: unknown, b: unknown) => void)(a, b)),
      ]);
  });

  test("arbitrary values", () => {
    // Only new versions of Node compare invalid dates as equal.
    const values = [fc.constant(null), fc.boolean(), fc.integer(), fc.double(), fc.string()];
    const dates = fc.date({ noInvalidDate: true });
    const value = fc.anything({ withMap: true, withSet: true, withTypedArray: true, values: [...values, dates] });
    fc.assert(
      fc.property(value, value, (a, b) => {
        expect(util.isDeepStrictEqual(a, b)).toBe(nodeUtil.isDeepStrictEqual(a, b));
        const copy = structuredClone(a);
        expect(util.isDeepStrictEqual(a, copy)).toBe(nodeUtil.isDeepStrictEqual(a, copy));
      }),
    );
  });

  test("what is thrown", () => {
    const thrower = () => {
      throw new TypeError("no way");
    };
    for (const expected of [TypeError, RangeError, /no/, /yes/, { message: "no way" }, { name: "x" }]) {
      const outcomeOf = (module: { throws(call: () => void, expected: never): void }) =>
        outcome(() => module.throws(thrower, expected as never));
      expect(outcomeOf(assert as never)).toEqual(outcomeOf(nodeAssert.default));
    }
  });
});

describe("AsyncLocalStorage", () => {
  const store = new AsyncLocalStorage<string>();
  afterEach(() => expect(store.getStore()).toBeUndefined());

  test("binds callbacks, and goes back to the store outside", () => {
    const resource = store.run("a", () => new AsyncResource("X"));
    store.run("b", () => {
      expect(resource.runInAsyncScope(() => store.getStore())).toBe("a");
      expect(store.getStore()).toBe("b");
      expect(store.exit(() => store.getStore())).toBeUndefined();
      expect(store.getStore()).toBe("b");
    });
  });
});
