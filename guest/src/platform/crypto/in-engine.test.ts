/** Rules that only code in the engine can see: classes, promises, the top level of a build. */
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";
import { describe, expect, test } from "vitest";
import { startEngine } from "../../../testing/engine.ts";
import { engineFile } from "./modules.testing.ts";

/** Evaluates an expression in the engine after the modules, and returns its value, or its error as a text. */
function evaluated(
  expression: string,
  modules: readonly string[] = ["install"],
  top = "",
  host: Parameters<typeof startEngine>[2] = {},
): unknown {
  const folder = fileURLToPath(new URL(".", import.meta.url));
  const imports = modules.map((each) => `import "./${each}.ts";`).join("\n");
  const contents = `${imports}
    import { utf8Encode } from "tenon:engine";
    ${top}
    const caught = (call) => { try { return call(); } catch (error) { return String(error); } };
    export const handler = { async handle() {
      let value;
      try { value = await (async () => (${expression}))(); } catch (error) { value = String(error); }
      return { status: 200, headers: [], body: utf8Encode(JSON.stringify(value ?? null)) };
    } };`;
  const { outputFiles } = buildSync({
    stdin: { contents, resolveDir: folder, loader: "ts" },
    bundle: true,
    write: false,
    minify: true,
    format: "esm",
    target: "es2023",
    external: ["tenon:engine"],
  });
  const engine = startEngine(fileURLToPath(engineFile), outputFiles[0]?.text ?? "", host);
  const { body } = engine.handle({});
  if (body === undefined) throw new Error(engine.printed());
  return JSON.parse(Buffer.from(body).toString());
}

test("the global and its classes have the shape that Web IDL demands", () => {
  const shape = evaluated(`[
    Object.getOwnPropertyDescriptor(globalThis, "crypto").enumerable,
    Object.getOwnPropertyDescriptor(globalThis, "Crypto").enumerable,
    [crypto, crypto.subtle].map((each) => Object.prototype.toString.call(each)),
    [Crypto, SubtleCrypto, CryptoKey].map((each) => each.name + each.length),
    [() => new Crypto(), () => new SubtleCrypto(), () => new CryptoKey()].map(caught),
    Object.keys(Crypto.prototype), Object.keys(SubtleCrypto.prototype).map((each) => each + SubtleCrypto.prototype[each].length),
    Object.keys(CryptoKey.prototype),
    caught(() => Crypto.prototype.subtle), caught(() => crypto.getRandomValues.call({}, new Uint8Array(1))),
    caught(() => crypto.randomUUID.call({})), await SubtleCrypto.prototype.digest.call({}, "SHA-1", new Uint8Array()).catch(String),
  ]`);
  const refused = "TypeError: Illegal constructor";
  expect(shape).toEqual([
    true,
    false,
    ["[object Crypto]", "[object SubtleCrypto]"],
    ["Crypto0", "SubtleCrypto0", "CryptoKey0"],
    [refused, refused, refused],
    ["subtle", "getRandomValues", "randomUUID"],
    [
      "digest2",
      "generateKey3",
      "importKey5",
      "exportKey2",
      "encrypt3",
      "decrypt3",
      "sign3",
      "verify4",
      "deriveBits2",
      "deriveKey5",
      "wrapKey4",
      "unwrapKey7",
    ],
    ["type", "extractable", "algorithm", "usages"],
    ...Array.from({ length: 4 }, () => expect.stringMatching(/^TypeError/)),
  ]);
});

test("a key shows its properties, but not its bytes", () => {
  const shown = evaluated(`(async () => {
    const key = await crypto.subtle.importKey("raw", new Uint8Array(16), { name: "HMAC", hash: "SHA-1" }, false, ["verify", "sign"]);
    return [key instanceof CryptoKey, String(key), Reflect.ownKeys(key), key.algorithm, key.usages,
      caught(() => key.usages.push("decrypt")), caught(() => Object.assign(key.algorithm, { name: "x" })),
      caught(() => new key.constructor("secret", true, {}, [], {}))];
  })()`);
  const isRefused = expect.stringMatching(/^TypeError/);
  const algorithm = { name: "HMAC", hash: { name: "SHA-1" }, length: 128 };
  expect(shown).toEqual([
    true,
    "[object CryptoKey]",
    [],
    algorithm,
    ["sign", "verify"],
    isRefused,
    isRefused,
    isRefused,
  ]);
});

describe("random values", () => {
  test("fill any typed array of integers", () => {
    const drawn = evaluated(`(() => {
      const wide = new Uint32Array(300);
      const part = new Uint8Array(wide.buffer, 4, 8);
      return [crypto.getRandomValues(part) === part, wide[0], wide[1] !== 0, wide[3],
        new Set(crypto.getRandomValues(wide)).size > 290, crypto.getRandomValues(new BigInt64Array(1))[0] !== 0n,
        crypto.getRandomValues(new Uint8Array(65_536)).some((each) => each !== 0), crypto.getRandomValues(new Uint8Array()).length];
    })()`);
    expect(drawn).toEqual([true, 0, true, 0, true, true, true, 0]);
  });

  test.each([
    ["new Float32Array(1)", "TypeMismatchError"],
    ["new DataView(new ArrayBuffer(1))", "TypeMismatchError"],
    ["new ArrayBuffer(1)", "TypeError"],
    ["[1]", "TypeError"],
    ["new Uint8Array(65_537)", "QuotaExceededError"],
  ])("refuse %s with %s", (view, name) => {
    const caught = `(() => { try { crypto.getRandomValues(${view}) } catch (error) { return error.name } })()`;
    expect(evaluated(caught)).toBe(name);
  });

  test("refuse too many bytes with the class of that error", () => {
    const caught = `(() => { try { crypto.getRandomValues(new Uint8Array(65_537)) } catch (error) {
      return [error instanceof QuotaExceededError, error instanceof DOMException, error.code, error.quota, String(error)];
    } })()`;
    const text = expect.stringMatching(/^QuotaExceededError: crypto.getRandomValues\(\): 65537 bytes/);
    expect(evaluated(caught)).toEqual([true, true, 22, null, text]);
    const made = `(() => { const { name, quota, requested } = new QuotaExceededError("x", { quota: 1, requested: 2 });
      return [name, quota, requested, caught(() => new QuotaExceededError("x", { quota: 3, requested: 2 }))]; })()`;
    expect(evaluated(made)).toEqual(["QuotaExceededError", 1, 2, expect.stringMatching(/^RangeError/)]);
  });

  test("are unique as UUIDs of version 4", () => {
    const all = evaluated("Array.from({ length: 100 }, () => crypto.randomUUID())") as string[];
    expect(new Set(all).size).toBe(100);
    for (const each of all) expect(each).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  });

  test.each([
    'await crypto.subtle.generateKey({ name: "AES-GCM", length: 128 }, true, ["encrypt"])',
    'await crypto.subtle.generateKey("Ed25519", true, ["sign"])',
  ])("do not become keys at the top level: %s", (call) => {
    const top = `let text;
      globalThis[Symbol.for("tenon.building")] = true;
      try { ${call}; } catch (error) { text = error.message; }
      delete globalThis[Symbol.for("tenon.building")];`;
    expect(evaluated("text", ["install", "with-curves", "with-symmetric"], top)).toMatch(
      /works in a handler, not at top level$/,
    );
  });
});

test.each([
  "crypto.getRandomValues(new Uint8Array(100))",
  "crypto.randomUUID()",
  "crypto.getRandomValues(new Uint8Array(1))",
])("the host may refuse a top level: %s", (call) => {
  const random = () => {
    if (isDrawing) throw new Error("refused by the host");
  };
  // The engine draws a seed as it starts.
  let isDrawing = false;
  expect(evaluated("1", ["install"], "", { random })).toBe(1);
  isDrawing = true;
  expect(() => evaluated("1", ["install"], call, { random })).toThrow("refused by the host");
});

test("what needs no random values works at the top level", () => {
  const top = `globalThis[Symbol.for("tenon.building")] = true;
    const key = await crypto.subtle.importKey("raw", new Uint8Array(16), "AES-GCM", false, ["encrypt", "decrypt"]);
    const parameters = { name: "AES-GCM", iv: new Uint8Array(12) };
    const sealed = await crypto.subtle.encrypt(parameters, key, new Uint8Array(3));
    delete globalThis[Symbol.for("tenon.building")];`;
  const opened = "new Uint8Array(await crypto.subtle.decrypt(parameters, key, sealed)).length";
  expect(evaluated(opened, ["install", "with-symmetric"], top)).toBe(3);
});

test("every promise is settled at once", () => {
  const order = evaluated(`(async () => {
    const order = [];
    const key = await crypto.subtle.importKey("raw", new Uint8Array(16), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
    const done = [
      crypto.subtle.digest("SHA-256", new Uint8Array()).then(() => order.push("digest")),
      crypto.subtle.sign("HMAC", key, new Uint8Array()).then(() => order.push("sign")),
      Promise.resolve().then(() => order.push("resolved")),
    ];
    await Promise.all(done);
    return order;
  })()`);
  expect(order).toEqual(["digest", "sign", "resolved"]);
});

test("data are those of the call's time, and a detached buffer has none", () => {
  const digests = evaluated(`(async () => {
    const hex = (bytes) => new Uint8Array(bytes).toHex();
    const changing = new Uint8Array(3);
    const pending = crypto.subtle.digest("SHA-1", changing);
    changing.fill(9);
    const detached = new ArrayBuffer(3);
    detached.transfer();
    return [hex(await pending), hex(await crypto.subtle.digest("SHA-1", new Uint8Array(3))),
      hex(await crypto.subtle.digest("SHA-1", detached)), hex(await crypto.subtle.digest("SHA-1", new Uint8Array()))];
  })()`) as string[];
  expect(digests[0]).toBe(digests[1]);
  expect(digests[2]).toBe(digests[3]);
});

test("a program that hashes and signs with HMAC does not get the rest", () => {
  const found = evaluated(
    `[await crypto.subtle.importKey("raw", new Uint8Array(16), "AES-GCM", false, ["encrypt"]).catch(String)]`,
  );
  expect(found).toEqual([expect.stringMatching(/^NotSupportedError: crypto.subtle has no AES-GCM here/)]);
});
