import { expect, test } from "vitest";
import { failure, flip, hex, native, seeded, subtle, unhex } from "./modules.testing.ts";

type Key = Awaited<ReturnType<typeof native.importKey>> & CryptoKey;
type CryptoKey = import("node:crypto").webcrypto.CryptoKey;
const all = ["encrypt", "decrypt", "wrapKey", "unwrapKey"] as const;

/** The same key in both. */
async function both(raw: Uint8Array, algorithm: object | string, usages: readonly string[]): Promise<[Key, Key]> {
  const given = [raw, algorithm as string, true, usages as never] as const;
  return [(await subtle.importKey("raw", ...given)) as Key, (await native.importKey("raw", ...given)) as Key];
}

/** Encrypts in one, and decrypts in the other; both encrypt to the same bytes. */
async function exchanged(parameters: object, raw: Uint8Array, data: Uint8Array): Promise<void> {
  const { name } = parameters as { name: string };
  const [own, other] = await both(raw, name, ["encrypt", "decrypt"]);
  const sealed = await subtle.encrypt(parameters as never, own, data);
  expect(hex(sealed)).toBe(hex(await native.encrypt(parameters as never, other, data)));
  expect(hex(await native.decrypt(parameters as never, other, sealed))).toBe(hex(data));
  expect(hex(await subtle.decrypt(parameters as never, own, sealed))).toBe(hex(data));
}

test("AES of random keys, lengths and parameters is the same as Node's", async () => {
  const random = seeded(1);
  for (let round = 0; round < 150; round++) {
    const raw = random.bytes([16, 24, 32][random.number(3)] as number);
    const data = random.bytes(random.number(random.number(10) === 0 ? 5000 : 80));
    // Node takes nonces of 12 to 128 bytes.
    const iv = random.bytes([12, 12, 16, 13 + random.number(100)][random.number(4)] as number);
    const tagLength = [32, 64, 96, 104, 112, 120, 128][random.number(7)];
    const additionalData = random.bytes(random.number(50));
    await exchanged({ name: "AES-GCM", iv, additionalData, tagLength }, raw, data);
    await exchanged({ name: "AES-CBC", iv: random.bytes(16) }, raw, data);
    // Counters near their end begin again at 0.
    const counter = random.bytes(16);
    counter.fill(255, 8 + random.number(8));
    counter[15] = 256 - random.number(4);
    const length = [128, 64, 32, 8, 7, 127, 65][random.number(7)] as number;
    if (data.length < 16 * 2 ** Math.min(length, 16)) await exchanged({ name: "AES-CTR", counter, length }, raw, data);
  }
});

test("AES-KW is the same as Node's, and the vector of RFC 3394, section 4.6", async () => {
  const random = seeded(2);
  const [own, other] = await both(unhex("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"), "AES-KW", [
    "wrapKey",
    "unwrapKey",
  ]);
  const secret = unhex("00112233445566778899aabbccddeeff000102030405060708090a0b0c0d0e0f");
  const [wrapped, otherWrapped] = await both(secret, "AES-GCM", all);
  const result = await subtle.wrapKey("raw", wrapped, own, "AES-KW");
  expect(hex(result)).toBe("28c9f404c4b810f4cbccb35cfb87f8263f5786e2d80ed326cbc7f0e71a99f43bfb988b9b7a02dd21");
  expect(hex(await native.wrapKey("raw", otherWrapped, other, "AES-KW"))).toBe(hex(result));
  const back = await subtle.unwrapKey("raw", result, own, "AES-KW", "AES-GCM", true, ["encrypt"]);
  expect(hex(await subtle.exportKey("raw", back))).toBe(hex(secret));
  for (let round = 0; round < 20; round++) {
    const broken = new Uint8Array(result.slice(0));
    flip(broken, random.number(broken.length), random.number(8));
    const outcome = subtle.unwrapKey("raw", broken, own, "AES-KW", "AES-GCM", true, ["encrypt"]);
    expect(await failure(outcome)).toBe("OperationError");
  }
});

test.each([
  // NIST GCM, test cases 2, 3 (AES-128) and 14 (AES-256); test case 6 has a nonce of 60 bytes.
  [
    "0".repeat(32),
    "0".repeat(24),
    "0".repeat(32),
    "",
    "0388dace60b6a392f328c2b971b2fe78ab6e47d42cec13bdf53a67b21257bddf",
  ],
  [
    "0".repeat(64),
    "0".repeat(24),
    "0".repeat(32),
    "",
    "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919",
  ],
  [
    "feffe9928665731c6d6a8f9467308308",
    `9313225df88406e555909c5aff5269aa6a7a9538534f7da1e4c303d2a318a728c3c0c95156809539fcf0e2429a6b525416aedbf5a0de6a57a637b39b`,
    `d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39`,
    "feedfacedeadbeeffeedfacedeadbeefabaddad2",
    `8ce24998625615b603a033aca13fb894be9112a5c3a211a8ba262a3cca7e2ca701e4a9a4fba43c90ccdcb281d48c7c6fd62875d2aca417034c34aee5619cc5aefffe0bfa462af43c1699d050`,
  ],
])("AES-GCM has the published result %#", async (key, iv, data, extra, sealed) => {
  const [own] = await both(unhex(key), "AES-GCM", all);
  const parameters = { name: "AES-GCM", iv: unhex(iv), additionalData: unhex(extra) };
  expect(hex(await subtle.encrypt(parameters, own, unhex(data)))).toBe(sealed);
});

test("data that were changed are not decrypted", async () => {
  const random = seeded(3);
  const [own] = await both(random.bytes(32), "AES-GCM", all);
  const data = random.bytes(40);
  for (let round = 0; round < 60; round++) {
    const parameters = { name: "AES-GCM", iv: random.bytes(12), additionalData: random.bytes(5) };
    const sealed = new Uint8Array(await subtle.encrypt(parameters, own, data));
    const changed = [sealed, parameters.iv, parameters.additionalData][round % 3] as Uint8Array;
    flip(changed, random.number(changed.length), random.number(8));
    expect(await failure(subtle.decrypt(parameters, own, sealed))).toBe("OperationError");
  }
  const [short] = await both(random.bytes(16), "AES-CBC", all);
  for (const length of [0, 15, 17])
    expect(
      await failure(subtle.decrypt({ name: "AES-CBC", iv: new Uint8Array(16) }, short, new Uint8Array(length))),
    ).toBe("OperationError");
});

test.each([
  [{ name: "AES-GCM", iv: new Uint8Array() }],
  [{ name: "AES-GCM", iv: new Uint8Array(12), tagLength: 100 }],
  [{ name: "AES-CBC", iv: new Uint8Array(12) }],
  [{ name: "AES-CTR", counter: new Uint8Array(15), length: 64 }],
  [{ name: "AES-CTR", counter: new Uint8Array(16), length: 0 }],
  [{ name: "AES-CTR", counter: new Uint8Array(16), length: 1 }],
])("parameters that are not valid are refused: %j", async (parameters) => {
  const [own] = await both(new Uint8Array(16), parameters.name, all);
  expect(await failure(subtle.encrypt(parameters as never, own, new Uint8Array(100)))).toBe("OperationError");
});

test("HKDF and PBKDF2 of random inputs are the same as Node's", async () => {
  const random = seeded(4);
  for (let round = 0; round < 40; round++) {
    const hash = ["SHA-1", "SHA-256", "SHA-384", "SHA-512"][round % 4] as string;
    const secret = random.bytes(random.number(200));
    const length = 8 * (1 + random.number(150));
    const salt = random.bytes(random.number(150));
    for (const parameters of [
      { name: "HKDF", hash, salt, info: random.bytes(random.number(60)) },
      { name: "PBKDF2", hash, salt, iterations: 1 + random.number(20) },
    ]) {
      const given = ["raw", secret, parameters.name, false, ["deriveBits"]] as const;
      const [own, other] = [
        await subtle.importKey(...(given as never as Parameters<typeof subtle.importKey>)),
        await native.importKey(...(given as never as Parameters<typeof native.importKey>)),
      ];
      expect(hex(await subtle.deriveBits(parameters as never, own as never, length))).toBe(
        hex(await native.deriveBits(parameters as never, other as never, length)),
      );
    }
  }
});

test.each([
  // RFC 5869, test cases 1 and 4; RFC 6070, cases 1, 2 and 3; RFC 7914, section 11.
  [
    { name: "HKDF", hash: "SHA-256", salt: unhex("000102030405060708090a0b0c"), info: unhex("f0f1f2f3f4f5f6f7f8f9") },
    "0b".repeat(22),
    "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865",
  ],
  [
    { name: "HKDF", hash: "SHA-1", salt: unhex("000102030405060708090a0b0c"), info: unhex("f0f1f2f3f4f5f6f7f8f9") },
    "0b".repeat(11),
    "085a01ea1b10f36933068b56efa5ad81a4f14b822f5b091568a9cdd4f155fda2c22e422478d305f3f896",
  ],
  [
    { name: "PBKDF2", hash: "SHA-1", salt: Buffer.from("salt"), iterations: 1 },
    hex(Buffer.from("password")),
    "0c60c80f961f0e71f3a9b524af6012062fe037a6",
  ],
  [
    { name: "PBKDF2", hash: "SHA-1", salt: Buffer.from("salt"), iterations: 2 },
    hex(Buffer.from("password")),
    "ea6c014dc72d6f8ccd1ed92ace1d41f0d8de8957",
  ],
  [
    { name: "PBKDF2", hash: "SHA-1", salt: Buffer.from("salt"), iterations: 4096 },
    hex(Buffer.from("password")),
    "4b007901b765489abead49d926f721d065a429c1",
  ],
  [
    { name: "PBKDF2", hash: "SHA-256", salt: Buffer.from("salt"), iterations: 1 },
    hex(Buffer.from("passwd")),
    "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc",
  ],
])("%j has the published result", async (parameters, secret, expected) => {
  const key = await subtle.importKey("raw", unhex(secret), parameters.name, false, ["deriveBits"]);
  expect(hex(await subtle.deriveBits(parameters as never, key as never, expected.length * 4))).toBe(expected);
});

test("keys of AES and HMAC are generated, exported and imported in both formats, both ways", async () => {
  for (const name of ["AES-GCM", "AES-CBC", "AES-CTR", "AES-KW"]) {
    for (const length of [128, 192, 256]) {
      const usages = name === "AES-KW" ? (["wrapKey", "unwrapKey"] as const) : all;
      const key = (await subtle.generateKey({ name, length } as never, true, usages as never)) as unknown as Key;
      expect(key.algorithm).toEqual({ name, length });
      const [raw, jwk] = [await subtle.exportKey("raw", key), await subtle.exportKey("jwk", key)];
      const other = (await native.importKey("jwk", jwk, name, true, usages as never)) as Key;
      expect(hex(await native.exportKey("raw", other))).toBe(hex(raw));
      expect(await native.exportKey("jwk", other)).toEqual(jwk);
      const back = await subtle.importKey("jwk", await native.exportKey("jwk", other), name, true, usages as never);
      expect(hex(await subtle.exportKey("raw", back))).toBe(hex(raw));
    }
  }
  const data = new Uint8Array([1, 2, 3]);
  for (const hash of ["SHA-1", "SHA-256", "SHA-384", "SHA-512"]) {
    const algorithm = { name: "HMAC", hash };
    const key = (await subtle.generateKey(algorithm, true, ["sign", "verify"])) as Key;
    const other = await native.importKey("jwk", await subtle.exportKey("jwk", key), algorithm, true, [
      "sign",
      "verify",
    ]);
    expect(other.algorithm).toEqual(key.algorithm);
    const signature = await subtle.sign("HMAC", key, data);
    expect(await native.verify("HMAC", other, signature, data)).toBe(true);
    expect(await subtle.verify("HMAC", key, await native.sign("HMAC", other, data), data)).toBe(true);
    expect(await subtle.verify("HMAC", key, signature.slice(1), data)).toBe(false);
  }
});

test("a derived key is that of Node, also where its length has a default", async () => {
  const parameters = { name: "PBKDF2", hash: "SHA-256", salt: new Uint8Array(16), iterations: 10 };
  const derive = async (by: typeof subtle, type: object) => {
    const base = await by.importKey("raw", Buffer.from("secret"), "PBKDF2", false, ["deriveKey"]);
    const usages = "hash" in type ? ["sign"] : ["encrypt"];
    return hex(
      await by.exportKey("raw", await by.deriveKey(parameters as never, base, type as never, true, usages as never)),
    );
  };
  for (const type of [
    { name: "AES-GCM", length: 256 },
    { name: "AES-CBC", length: 128 },
    { name: "HMAC", hash: "SHA-256" },
    { name: "HMAC", hash: "SHA-512" },
    { name: "HMAC", hash: "SHA-256", length: 160 },
  ])
    expect(await derive(subtle, type), JSON.stringify(type)).toBe(await derive(native, type));
});
