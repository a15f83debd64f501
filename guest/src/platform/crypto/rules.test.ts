/** The rules for keys and parameters, compared with Node's where it follows the standard. */
import { beforeAll, describe, expect, test } from "vitest";
import { failure, native, seeded, subtle } from "./modules.testing.ts";

type Key = import("node:crypto").webcrypto.CryptoKey;
type Pair = import("node:crypto").webcrypto.CryptoKeyPair;

const iv = new Uint8Array(12);
const data = new Uint8Array([1, 2, 3]);
const gcm = { name: "AES-GCM", iv };
const raw = (length: number) => new Uint8Array(length).fill(7);

/** Calls an operation of both implementations with arguments that TypeScript would refuse. */
const outcomes = async (operation: keyof typeof subtle, ...args: unknown[]) =>
  Promise.all(
    [subtle, native].map((each) =>
      failure((each[operation] as (...args: unknown[]) => Promise<unknown>).call(each, ...args)),
    ),
  );

describe("keys that cannot be made are refused as in Node", () => {
  test.each<[keyof typeof subtle, string, ...unknown[]]>([
    ["generateKey", "NotSupportedError", { name: "AES-XYZ", length: 128 }, true, ["encrypt"]],
    ["generateKey", "OperationError", { name: "AES-GCM", length: 100 }, true, ["encrypt"]],
    ["generateKey", "SyntaxError", { name: "AES-GCM", length: 128 }, true, []],
    ["generateKey", "SyntaxError", { name: "AES-GCM", length: 128 }, true, ["sign"]],
    ["generateKey", "SyntaxError", { name: "ECDSA", namedCurve: "P-256" }, true, ["verify"]],
    ["generateKey", "NotSupportedError", { name: "ECDSA", namedCurve: "P-255" }, true, ["sign"]],
    ["generateKey", "SyntaxError", { name: "Ed25519" }, true, []],
    ["generateKey", "TypeError", { name: "AES-GCM", length: 128 }, true, ["paint"]],
    ["importKey", "DataError", "raw", raw(15), "AES-GCM", true, ["encrypt"]],
    ["importKey", "SyntaxError", "raw", raw(16), "AES-GCM", true, ["sign"]],
    ["importKey", "SyntaxError", "raw", raw(16), "AES-GCM", true, []],
    ["importKey", "NotSupportedError", "spki", raw(16), "AES-GCM", true, ["encrypt"]],
    ["importKey", "TypeError", "paper", raw(16), "AES-GCM", true, ["encrypt"]],
    ["importKey", "SyntaxError", "raw", raw(16), "PBKDF2", true, ["deriveBits"]],
    ["importKey", "DataError", "jwk", { kty: "RSA", k: "AAAA" }, "AES-GCM", true, ["encrypt"]],
    ["importKey", "DataError", "jwk", { kty: "oct" }, "AES-GCM", true, ["encrypt"]],
    ["importKey", "DataError", "jwk", { kty: "oct", k: "A".repeat(22), alg: "A256GCM" }, "AES-GCM", true, ["encrypt"]],
    ["importKey", "DataError", "jwk", { kty: "oct", k: "A".repeat(22), use: "sig" }, "AES-GCM", true, ["encrypt"]],
    ["importKey", "DataError", "jwk", { kty: "oct", k: "A".repeat(22), ext: false }, "AES-GCM", true, ["encrypt"]],
    [
      "importKey",
      "DataError",
      "jwk",
      { kty: "oct", k: "A".repeat(22), key_ops: ["sign"] },
      "AES-GCM",
      true,
      ["encrypt"],
    ],
    ["importKey", "DataError", "raw", raw(0), { name: "HMAC", hash: "SHA-256" }, true, ["sign"]],
    ["importKey", "DataError", "raw", raw(4), { name: "HMAC", hash: "SHA-256", length: 40 }, true, ["sign"]],
    ["importKey", "DataError", "raw", raw(65), { name: "ECDSA", namedCurve: "P-256" }, true, ["verify"]],
    ["importKey", "DataError", "raw", raw(64), { name: "ECDSA", namedCurve: "P-256" }, true, ["verify"]],
    ["importKey", "SyntaxError", "raw", raw(65), { name: "ECDH", namedCurve: "P-256" }, true, ["deriveBits"]],
    ["importKey", "DataError", "spki", raw(65), { name: "ECDSA", namedCurve: "P-256" }, true, ["verify"]],
    ["importKey", "DataError", "pkcs8", raw(65), { name: "RSA-PSS", hash: "SHA-256" }, true, ["sign"]],
    ["importKey", "DataError", "raw", raw(31), "Ed25519", true, ["verify"]],
    ["importKey", "DataError", "raw", raw(33), "X25519", true, []],
    ["importKey", "NotSupportedError", "raw", raw(33), { name: "RSA-PSS", hash: "SHA-256" }, true, ["verify"]],
  ])("%s: %s %#", async (operation, name, ...args) => {
    expect(await outcomes(operation, ...args)).toEqual([name, name]);
  });
});

describe("a key is used as it allows", () => {
  let key: Key;
  let pair: Pair;
  beforeAll(async () => {
    key = await subtle.importKey("raw", raw(16), "AES-GCM", false, ["encrypt"]);
    pair = await subtle.generateKey({ name: "ECDH", namedCurve: "P-256" }, true, ["deriveBits"]);
  });

  test.each<[string, () => Promise<unknown>]>([
    ["InvalidAccessError", () => subtle.decrypt(gcm, key, data)],
    ["InvalidAccessError", () => subtle.encrypt({ name: "AES-CBC", iv: raw(16) }, key, data)],
    ["InvalidAccessError", () => subtle.exportKey("raw", key)],
    ["InvalidAccessError", () => subtle.wrapKey("raw", key, key, gcm)],
    ["InvalidAccessError", () => subtle.exportKey("raw", pair.privateKey)],
    ["InvalidAccessError", () => subtle.exportKey("pkcs8", pair.publicKey)],
    [
      "InvalidAccessError",
      () => subtle.deriveBits({ name: "ECDH", public: pair.privateKey } as never, pair.privateKey, 8),
    ],
    ["InvalidAccessError", () => subtle.deriveBits({ name: "ECDH", public: key } as never, pair.privateKey, 8)],
    ["TypeError", () => subtle.deriveBits({ name: "ECDH", public: {} } as never, pair.privateKey, 8)],
    ["TypeError", () => subtle.encrypt(gcm, {} as never, data)],
    ["TypeError", () => subtle.encrypt(gcm, key, "text" as never)],
    ["TypeError", () => subtle.encrypt({ name: "AES-GCM" } as never, key, data)],
    ["NotSupportedError", () => subtle.sign("AES-GCM", key, data)],
    ["NotSupportedError", () => subtle.encrypt("RSAES-PKCS1-v1_5", key, data)],
  ])("%s %#", async (name, call) => expect(await failure(call())).toBe(name));

  test("names of algorithms are read without their case", async () => {
    expect(new Uint8Array(await subtle.encrypt({ name: "aes-gcm", iv } as never, key, data))).toHaveLength(19);
  });
});

test("keys are wrapped and unwrapped in every format, also by Node", async () => {
  const wrapping = { name: "AES-GCM", iv };
  const given: Parameters<typeof native.importKey> = ["raw", raw(32), "AES-GCM", true, ["wrapKey", "unwrapKey"]];
  const [own, other] = [await subtle.importKey(...given), await native.importKey(...given)] as [Key, Key];
  const pair = await subtle.generateKey({ name: "ECDSA", namedCurve: "P-384" }, true, ["sign", "verify"]);
  for (const [format, key, usage] of [
    ["jwk", pair.privateKey, "sign"],
    ["pkcs8", pair.privateKey, "sign"],
    ["spki", pair.publicKey, "verify"],
    ["raw", pair.publicKey, "verify"],
  ] as const) {
    const wrapped = await subtle.wrapKey(format, key, own, wrapping);
    for (const [by, unwrapping] of [
      [subtle, own],
      [native, other],
    ] as const) {
      const algorithm = { name: "ECDSA", namedCurve: "P-384" };
      const back = await by.unwrapKey(format, wrapped, unwrapping, wrapping, algorithm, true, [usage]);
      expect(await by.exportKey("jwk", back)).toEqual(await subtle.exportKey("jwk", key));
    }
  }
  const noKey = await native.encrypt(
    wrapping,
    (await native.importKey("raw", raw(32), "AES-GCM", true, ["encrypt"])) as Key,
    data,
  );
  const unwrapped = subtle.unwrapKey("jwk", noKey, own, wrapping, "AES-GCM", true, ["encrypt"]);
  expect(await failure(unwrapped)).toBe("DataError");
});

test("damaged keys are refused with DataError, and never end the module", async () => {
  const random = seeded(7);
  const pairs: [object, Pair][] = [];
  for (const algorithm of [
    { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" },
    { name: "Ed25519" },
    { name: "RSA-PSS", hash: "SHA-256", modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]) },
  ])
    pairs.push([
      algorithm,
      (await native.generateKey(algorithm as never, true, ["sign", "verify"])) as unknown as Pair,
    ]);
  const names = new Set<string | undefined>();
  for (const [algorithm, { publicKey, privateKey }] of pairs) {
    for (const [format, key, usage] of [
      ["spki", publicKey, "verify"],
      ["pkcs8", privateKey, "sign"],
    ] as const) {
      const encoded = new Uint8Array(await native.exportKey(format, key));
      for (let round = 0; round < 150; round++) {
        let damaged = encoded.slice();
        if (round % 3 === 0) damaged = damaged.slice(0, random.number(damaged.length));
        else damaged[random.number(damaged.length)] = round % 3 === 1 ? random.number(256) : 0;
        const imported = subtle.importKey(format, damaged, algorithm as never, true, [usage]);
        names.add(await failure(imported));
      }
    }
  }
  names.delete(undefined);
  expect([...names]).toEqual(["DataError"]);
});

test("a key of RSA can be generated, with any odd exponent", async () => {
  const publicExponent = new Uint8Array([0, 3]);
  const algorithm = { name: "RSA-PSS", hash: "SHA-256", modulusLength: 1024, publicExponent };
  const { privateKey, publicKey } = (await subtle.generateKey(algorithm, true, ["sign", "verify"])) as unknown as Pair;
  expect(privateKey.algorithm).toMatchObject({ modulusLength: 1024, publicExponent: new Uint8Array([3]) });
  const signature = await subtle.sign({ name: "RSA-PSS", saltLength: 32 }, privateKey, data);
  expect(await subtle.verify({ name: "RSA-PSS", saltLength: 32 }, publicKey, signature, data)).toBe(true);
  for (const wrong of [{ modulusLength: 512 }, { modulusLength: 8192 }, { modulusLength: 1030 }])
    expect(await failure(subtle.generateKey({ ...algorithm, ...wrong }, true, ["sign"]))).toBe("NotSupportedError");
  const even = subtle.generateKey({ ...algorithm, publicExponent: new Uint8Array([4]) }, true, ["sign"]);
  expect(await failure(even)).toBe("OperationError");
});
