import * as nodeCrypto from "node:crypto";
import { describe, expect, test } from "vitest";
import { failure, flip, hex, native, seeded, subtle, unhex } from "./modules.testing.ts";

type Key = import("node:crypto").webcrypto.CryptoKey;
type Pair = import("node:crypto").webcrypto.CryptoKeyPair;
type Usages = Parameters<typeof native.importKey>[4];

/** Algorithms with the parameters of their operations, and the formats of public keys. */
const curves = ["P-256", "P-384", "P-521"];
const hashes = ["SHA-1", "SHA-256", "SHA-384", "SHA-512"];
const exponent = new Uint8Array([1, 0, 1]);
const signing = [
  ...curves.flatMap((namedCurve) => hashes.map((hash) => ({ name: "ECDSA", namedCurve, hash }))),
  { name: "Ed25519" },
  ...hashes.map((hash) => ({ name: "RSASSA-PKCS1-v1_5", hash, modulusLength: 2048, publicExponent: exponent })),
  ...hashes.map((hash, at) => ({
    name: "RSA-PSS",
    hash,
    modulusLength: 2048,
    publicExponent: exponent,
    saltLength: [0, 32, 48, 20][at],
  })),
];
const agreeing = [...curves.map((namedCurve) => ({ name: "ECDH", namedCurve })), { name: "X25519" }];

const publicFormats = (name: string) => (name.startsWith("RSA") ? ["spki", "jwk"] : ["spki", "jwk", "raw"]);

/** Takes a key to the other implementation, in every format; both export the same. */
async function moved(key: Key, algorithm: object, from: typeof native, to: typeof native): Promise<Key> {
  const formats = key.type === "private" ? ["pkcs8", "jwk"] : publicFormats(key.algorithm.name);
  let last: Key | undefined;
  for (const format of formats) {
    const exported = await from.exportKey(format as "jwk", key);
    const given = [format as "jwk", exported, algorithm as never, true, key.usages as Usages] as const;
    last = (await to.importKey(...given)) as Key;
    expect([last.type, last.extractable, last.usages]).toEqual([key.type, true, key.usages]);
    expect({ ...last.algorithm }).toEqual({ ...key.algorithm });
    for (const again of formats) {
      const [own, other] = [await from.exportKey(again as "jwk", key), await to.exportKey(again as "jwk", last)];
      expect(again === "jwk" ? other : hex(other as never)).toEqual(again === "jwk" ? own : hex(own as never));
    }
  }
  return last as Key;
}

/** Keys of RSA, which take long to generate. */
const rsaKeys = new Map<typeof native, Promise<object>>();

/** Generates a pair of keys, whose numbers are the same for all algorithms of RSA. */
async function generated(by: typeof native, algorithm: { name: string }, usages: readonly string[]): Promise<Pair> {
  const pair = (parameters: object) => by.generateKey(parameters as never, true, usages as never) as Promise<unknown>;
  if (!algorithm.name.startsWith("RSA")) return (await pair(algorithm)) as Pair;
  if (!rsaKeys.has(by)) {
    const exported = async () => {
      const { privateKey } = (await pair(algorithm)) as Pair;
      const { key_ops: _, alg: __, ...jwk } = await by.exportKey("jwk", privateKey);
      return jwk;
    };
    rsaKeys.set(by, exported());
  }
  const { n, e, kty, ...secret } = (await rsaKeys.get(by)) as Record<string, string>;
  const [ofPublic, ofPrivate] = usages as Usages;
  const use = (jwk: object, usage: unknown) => by.importKey("jwk", jwk, algorithm as never, true, [usage] as Usages);
  return {
    publicKey: (await use({ n, e, kty }, ofPublic)) as Key,
    privateKey: (await use({ n, e, kty, ...secret }, ofPrivate)) as Key,
  };
}

const directions = [
  ["from a component to Node", subtle, native],
  ["from Node to a component", native, subtle],
] as const;

describe.each(directions)("keys and signatures go %s", (_direction, from, to) => {
  test.each(signing)("$name $namedCurve $hash", async (algorithm) => {
    const random = seeded(5);
    const pair = await generated(from, algorithm, ["verify", "sign"]);
    const there = {
      publicKey: await moved(pair.publicKey, algorithm, from, to),
      privateKey: await moved(pair.privateKey, algorithm, from, to),
    };
    for (const length of [0, 1, 100]) {
      const data = random.bytes(length);
      for (const [signer, verifier, signed, verified] of [
        [from, to, pair, there],
        [to, from, there, pair],
      ] as const) {
        const signature = new Uint8Array(await signer.sign(algorithm as never, signed.privateKey, data));
        const verify = (bytes: Uint8Array, text: Uint8Array) =>
          verifier.verify(algorithm as never, verified.publicKey, bytes, text);
        expect(await verify(signature, data)).toBe(true);
        expect(await verify(signature, new Uint8Array([...data, 0]))).toBe(false);
        // At the end: OpenSSL takes RSA-PSS signatures whose first byte is missing, when it is zero.
        expect(await verify(signature.subarray(0, -1), data)).toBe(false);
        flip(signature, random.number(signature.length));
        expect(await verify(signature, data)).toBe(false);
      }
    }
  });

  test.each(agreeing)("$name $namedCurve", async (algorithm) => {
    const own = await generated(from, algorithm, ["deriveBits"]);
    const other = await generated(to, algorithm, ["deriveBits"]);
    const ownThere = await moved(own.publicKey, algorithm, from, to);
    await moved(own.privateKey, algorithm, from, to);
    const otherHere = await moved(other.publicKey, algorithm, to, from);
    const bits = { "P-384": 384, "P-521": 528 }[(algorithm as { namedCurve: string }).namedCurve] ?? 256;
    const parameters = (publicKey: Key) => ({ name: algorithm.name, public: publicKey }) as never;
    for (const length of [bits, 128]) {
      const secret = await from.deriveBits(parameters(otherHere), own.privateKey, length);
      expect(hex(await to.deriveBits(parameters(ownThere), other.privateKey, length))).toBe(hex(secret));
    }
    expect(await failure(from.deriveBits(parameters(otherHere), own.privateKey, bits + 8))).toBe("OperationError");
  });

  test.each(hashes)("RSA-OAEP %s", async (hash) => {
    const random = seeded(6);
    const algorithm = { name: "RSA-OAEP", hash, modulusLength: 2048, publicExponent: exponent };
    const pair = await generated(from, algorithm, ["encrypt", "decrypt"]);
    const publicKey = await moved(pair.publicKey, algorithm, from, to);
    await moved(pair.privateKey, algorithm, from, to);
    for (const length of [0, 1, 100]) {
      const data = random.bytes(length);
      const label = random.bytes(random.number(20));
      const sealed = await to.encrypt({ name: "RSA-OAEP", label }, publicKey, data);
      expect(hex(await from.decrypt({ name: "RSA-OAEP", label }, pair.privateKey, sealed))).toBe(hex(data));
      const wrong = from.decrypt({ name: "RSA-OAEP", label: random.bytes(3) }, pair.privateKey, sealed);
      expect(await failure(wrong)).toBe("OperationError");
      const changed = new Uint8Array(sealed);
      flip(changed, random.number(changed.length));
      expect(await failure(from.decrypt({ name: "RSA-OAEP", label }, pair.privateKey, changed))).toBe("OperationError");
    }
    expect(await failure(to.encrypt("RSA-OAEP", publicKey, new Uint8Array(300)))).toBe("OperationError");
  });
});

test.each([
  // RFC 8032, section 7.1: tests 1, 2 and 3.
  [
    "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
    "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
    "",
    "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
  ],
  [
    "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
    "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
    "72",
    "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
  ],
  [
    "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
    "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
    "af82",
    "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
  ],
])("Ed25519 has the published result %#", async (seed, x, message, signature) => {
  const jwk = { kty: "OKP", crv: "Ed25519", d: base64url(seed), x: base64url(x) };
  const key = await subtle.importKey("jwk", jwk, "Ed25519", true, ["sign"]);
  expect(hex(await subtle.sign("Ed25519", key, unhex(message)))).toBe(signature);
  const publicKey = await subtle.importKey("raw", unhex(x), "Ed25519", true, ["verify"]);
  expect(await subtle.verify("Ed25519", publicKey, unhex(signature), unhex(message))).toBe(true);
});

const base64url = (text: string) => Buffer.from(text, "hex").toString("base64url");

test("RSA-OAEP refuses a padding with any byte changed, the first one too", async () => {
  const random = seeded(8);
  const { publicKey, privateKey } = nodeCrypto.generateKeyPairSync("rsa", { modulusLength: 1024 });
  const padding = nodeCrypto.constants.RSA_NO_PADDING;
  const algorithm = { name: "RSA-OAEP", hash: "SHA-1" };
  const pkcs8 = privateKey.export({ format: "der", type: "pkcs8" });
  const key = await subtle.importKey("pkcs8", pkcs8, algorithm, false, ["decrypt"]);
  const sealed = nodeCrypto.publicEncrypt({ key: publicKey, oaepHash: "sha1" }, Buffer.from("text"));
  const padded = nodeCrypto.privateDecrypt({ key: privateKey, padding }, sealed);
  const opened = (encoded: Uint8Array) =>
    subtle.decrypt("RSA-OAEP", key, nodeCrypto.publicEncrypt({ key: publicKey, padding }, encoded));
  expect(Buffer.from(await opened(padded)).toString()).toBe("text");
  for (const at of [0, 0, 1, 20, ...Array.from({ length: 20 }, () => 1 + random.number(127))]) {
    const changed = new Uint8Array(padded);
    flip(changed, at, at === 0 ? random.number(6) : random.number(8));
    expect(await failure(opened(changed)), `byte ${at}`).toBe("OperationError");
  }
});

test("X25519 refuses keys of small order", async () => {
  const { privateKey } = await generated(subtle, { name: "X25519" }, ["deriveBits"]);
  for (const point of [0, 1]) {
    const other = await subtle.importKey("raw", new Uint8Array(32).fill(point, 0, 1), "X25519", true, []);
    const derived = subtle.deriveBits({ name: "X25519", public: other } as never, privateKey, 256);
    expect(await failure(derived)).toBe("OperationError");
  }
});

test("Ed25519 refuses keys of small order, which Node accepts", async () => {
  // The neutral element signs everything.
  const point = new Uint8Array(32).fill(1, 0, 1);
  const signature = new Uint8Array(64).fill(1, 0, 1);
  const key = await subtle.importKey("raw", point, "Ed25519", true, ["verify"]);
  expect(await subtle.verify("Ed25519", key, signature, new Uint8Array(5))).toBe(false);
});

test.each(curves)("a compressed point of %s is imported, raw and as spki", async (namedCurve) => {
  const names = { "P-256": "prime256v1", "P-384": "secp384r1", "P-521": "secp521r1" };
  const algorithm = { name: "ECDSA", namedCurve };
  for (let round = 0; round < 6; round++) {
    const ecdh = nodeCrypto.createECDH(names[namedCurve as "P-256"]);
    ecdh.generateKeys();
    const compressed = ecdh.getPublicKey(null, "compressed");
    const key = await subtle.importKey("raw", compressed, algorithm, true, ["verify"]);
    expect(hex(await subtle.exportKey("raw", key))).toBe(ecdh.getPublicKey("hex"));
    // No point has such a coordinate.
    const wrong = Buffer.from(compressed).fill(255, 1);
    expect(await failure(subtle.importKey("raw", wrong, algorithm, true, ["verify"]))).toBe("DataError");
  }
});
