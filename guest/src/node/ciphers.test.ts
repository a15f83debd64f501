import * as nodeCrypto from "node:crypto";
import { describe, expect, test } from "vitest";
import { symmetric as module, seeded } from "../polyfills/subtle/modules.testing.ts";
import { ciphersBy } from "./ciphers.ts";
import { derivedBy } from "./crypto-derive.ts";
import { symmetricBy } from "./symmetric-by-module.ts";

const symmetric = symmetricBy(module);

const own = ciphersBy(symmetric);

/** The functions that both sides of the tests have. */
type Crypto = Pick<typeof nodeCrypto, "createCipheriv" | "createDecipheriv">;
const [component, node] = [own as unknown as Crypto, nodeCrypto as Crypto];

const codeOf = (call: () => unknown) => {
  try {
    return call();
  } catch (error) {
    return (error as { code?: string }).code ?? (error as Error).message;
  }
};

/** Cuts data into pieces, which are encrypted one by one. */
function pieces(data: Uint8Array, random: ReturnType<typeof seeded>): Uint8Array[] {
  const cut: Uint8Array[] = [];
  for (let at = 0; at < data.length; ) {
    const next = at + 1 + random.number(40);
    cut.push(data.subarray(at, next));
    at = next;
  }
  return cut;
}

describe.each(["gcm", "cbc", "ctr"])("AES in the mode %s", (mode) => {
  test("gives the pieces that Node gives, both ways", () => {
    const random = seeded(11);
    for (let round = 0; round < 80; round++) {
      const bits = [128, 192, 256][random.number(3)] as number;
      const name = `aes-${bits}-${mode}`;
      const [key, iv] = [random.bytes(bits / 8), random.bytes(mode === "gcm" ? 12 + random.number(9) : 16)];
      if (mode === "ctr") iv.fill(255, 1 + random.number(15));
      const [data, extra] = [random.bytes(random.number(200)), random.bytes(random.number(30))];
      const cut = pieces(data, random);
      const sealed = [component, node].map(({ createCipheriv }) => {
        const cipher = createCipheriv(name as "aes-256-gcm", key, iv);
        if (mode === "gcm") cipher.setAAD(extra);
        const output = [...cut.map((piece) => cipher.update(piece).toString("hex")), cipher.final("hex")];
        return { output, tag: mode === "gcm" ? cipher.getAuthTag().toString("hex") : "" };
      });
      expect(sealed[0]).toEqual(sealed[1]);
      const { output, tag } = sealed[0] as (typeof sealed)[0];
      const cutAgain = pieces(Buffer.from(output.join(""), "hex"), random);
      const opened = [component, node].map(({ createDecipheriv }) => {
        const decipher = createDecipheriv(name as "aes-256-gcm", key, iv);
        if (mode === "gcm") decipher.setAAD(extra).setAuthTag(Buffer.from(tag, "hex"));
        return [...cutAgain.map((piece) => decipher.update(piece).toString("hex")), decipher.final("hex")];
      });
      expect(opened[0]).toEqual(opened[1]);
      expect(opened[0]?.join("")).toBe(Buffer.from(data).toString("hex"));
    }
  });

  test("refuses what Node refuses", () => {
    const [key, iv] = [new Uint8Array(16), new Uint8Array(mode === "gcm" ? 12 : 16)];
    const name = `aes-128-${mode}`;
    for (const args of [
      ["aes-100-xyz", key, iv],
      [name, key.subarray(1), iv],
      [name, key, new Uint8Array(mode === "gcm" ? 0 : 12)],
    ] as never as Parameters<Crypto["createCipheriv"]>[])
      expect(codeOf(() => component.createCipheriv(...args))).toBe(codeOf(() => node.createCipheriv(...args)));
    const outcomes = [component, node].map(({ createDecipheriv }) => {
      const decipher = createDecipheriv(name as "aes-128-gcm", key, iv);
      if (mode === "gcm") decipher.setAuthTag(new Uint8Array(16));
      decipher.update("00112233445566778899aabbccddee", "hex");
      return codeOf(() => decipher.final("hex"));
    });
    expect(outcomes[0]).toBe(outcomes[1]);
  });
});

test("CBC without padding takes whole blocks, and bad padding is refused", () => {
  const [key, iv] = [new Uint8Array(32), new Uint8Array(16)];
  const outcomes = [component, node].map(({ createCipheriv, createDecipheriv }) => {
    const open = createCipheriv("aes-256-cbc", key, iv).setAutoPadding(false);
    const whole = open.update("00".repeat(32), "hex", "hex") + open.final("hex");
    const decipher = createDecipheriv("aes-256-cbc", key, iv);
    decipher.update(whole, "hex");
    const short = createCipheriv("aes-256-cbc", key, iv).setAutoPadding(false);
    short.update("00", "hex");
    return [whole, codeOf(() => decipher.final()), codeOf(() => short.final())];
  });
  expect(outcomes[0]).toEqual(outcomes[1]);
});

test("a cipher that has ended, or lacks its tag, is refused", () => {
  const cipher = component.createCipheriv("aes-128-gcm", new Uint8Array(16), new Uint8Array(12));
  expect(codeOf(() => cipher.getAuthTag())).toBe("ERR_CRYPTO_INVALID_STATE");
  cipher.final();
  expect(codeOf(() => cipher.update("x"))).toBe("ERR_CRYPTO_INVALID_STATE");
  const decipher = component.createDecipheriv("aes-128-gcm", new Uint8Array(16), new Uint8Array(12));
  expect(codeOf(() => decipher.final())).toMatch(/unable to authenticate/);
  expect(() => ciphersBy(undefined).createCipheriv("aes-128-gcm", new Uint8Array(16), "")).toThrow("createCipheriv");
});

test.each([
  ["with the module", derivedBy(symmetric)],
  ["without", derivedBy(undefined)],
])("keys are derived as by Node, %s", (_how, { pbkdf2Sync, scryptSync, hkdfSync }) => {
  const hex = (bytes: unknown) => Buffer.from(bytes as Uint8Array).toString("hex");
  for (const digest of ["sha1", "sha224", "sha256", "SHA-512", "sha384"]) {
    const given = ["secret", "salt", 7, 70, digest] as const;
    expect(hex(pbkdf2Sync(...given))).toBe(hex(nodeCrypto.pbkdf2Sync(...given)));
    const long = [digest, "secret", "salt", "info", 100] as const;
    expect(hex(hkdfSync(...long))).toBe(hex(nodeCrypto.hkdfSync(...long)));
  }
  const options = { N: 16, r: 3, p: 2 };
  expect(hex(scryptSync("p", "s", 33, options))).toBe(hex(nodeCrypto.scryptSync("p", "s", 33, options)));
  for (const wrong of [{ N: 15 }, { N: 2 ** 20 }, { N: 16, maxmem: 100 }])
    expect(codeOf(() => scryptSync("p", "s", 33, wrong))).toBe(
      codeOf(() => nodeCrypto.scryptSync("p", "s", 33, wrong)),
    );
});

test("scrypt without enough memory is refused, and the module goes on", () => {
  const { scryptSync } = derivedBy(symmetric);
  for (const N of [2 ** 21, 2 ** 22, 2 ** 30])
    expect(codeOf(() => scryptSync("p", "s", 33, { N, maxmem: 2 ** 50 }))).toBe("ERR_CRYPTO_INVALID_SCRYPT_PARAMS");
  expect(scryptSync("p", "s", 33)).toHaveLength(33);
});
