/**
 * The vectors of Project Wycheproof (C2SP/wycheproof on GitHub), which are too many for each run:
 * `TENON_WYCHEPROOF=<folder testvectors_v1> npx vitest run --project guest guest/src/platform/crypto/wycheproof.test.ts`.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { failure, hex, subtle, unhex } from "./modules.testing.ts";

type Json = Record<string, string> & { readonly result: "valid" | "invalid" | "acceptable" };
type Key = import("node:crypto").webcrypto.CryptoKey;

/** One kind of vectors, and the outcome of one: whether a signature holds, or bytes are those expected. */
interface Kind {
  readonly files: RegExp;
  /** A vector that the standard's interface cannot express. */
  leaves?(vector: Json, group: Json): boolean;
  run(vector: Json, group: Json): Promise<boolean>;
}

const hashOf = (name: string) => name.replace(/^(HMAC|HKDF|PBKDF2-HMAC)?-?SHA-?/, "SHA-");
const bytesEqual = (bytes: ArrayBuffer, expected: string | undefined) => hex(bytes) === expected;
const imported = (format: string, data: unknown, algorithm: unknown, usages: readonly string[]) =>
  subtle.importKey(format as "raw", data as Uint8Array, algorithm as string, false, usages as never) as Promise<Key>;

async function opens(parameters: object, key: string, sealed: string, expected: string): Promise<boolean> {
  const { name } = parameters as { name: string };
  const own = await imported("raw", unhex(key), name, ["decrypt"]);
  return bytesEqual(await subtle.decrypt(parameters as never, own, unhex(sealed)), expected);
}

const kinds: Record<string, Kind> = {
  "AES-GCM": {
    files: /^aes_gcm_test/,
    run: ({ key, iv, aad, msg, ct, tag }) => {
      const parameters = { name: "AES-GCM", iv: unhex(iv as string), additionalData: unhex(aad as string) };
      return opens(parameters, key as string, `${ct}${tag}`, msg as string);
    },
  },
  "AES-CBC": {
    files: /^aes_cbc_pkcs5_test/,
    run: ({ key, iv, msg, ct }) =>
      opens({ name: "AES-CBC", iv: unhex(iv as string) }, key as string, ct as string, msg as string),
  },
  "AES-KW": {
    files: /^aes_wrap_test/,
    // The wrapped key is imported as one of HMAC, which has any length.
    run: async ({ key, msg, ct }) => {
      const own = await imported("raw", unhex(key as string), "AES-KW", ["unwrapKey"]);
      const algorithm = { name: "HMAC", hash: "SHA-256" };
      const back = await subtle.unwrapKey("raw", unhex(ct as string), own, "AES-KW", algorithm, true, ["sign"]);
      return bytesEqual(await subtle.exportKey("raw", back), msg);
    },
  },
  HKDF: {
    files: /^hkdf_sha(1|256|384|512)_/,
    run: async ({ ikm, salt, info, size, okm }, { hash }) => {
      const parameters = { name: "HKDF", hash, salt: unhex(salt as string), info: unhex(info as string) };
      const own = await imported("raw", unhex(ikm as string), "HKDF", ["deriveBits"]);
      return bytesEqual(await subtle.deriveBits(parameters as never, own, Number(size) * 8), okm);
    },
  },
  PBKDF2: {
    files: /^pbkdf2_hmacsha(1|256|384|512)_/,
    run: async ({ password, salt, iterationCount, dkLen, dk }, { hash }) => {
      const parameters = { name: "PBKDF2", hash, salt: unhex(salt as string), iterations: Number(iterationCount) };
      const own = await imported("raw", unhex(password as string), "PBKDF2", ["deriveBits"]);
      return bytesEqual(await subtle.deriveBits(parameters as never, own, Number(dkLen) * 8), dk);
    },
  },
  ECDSA: {
    files: /^ecdsa_secp(256|384|521)r1_sha(1|256|384|512)_p1363/,
    run: async ({ msg, sig }, { publicKey, publicKeyDer, sha }) => {
      const namedCurve = { secp256r1: "P-256", secp384r1: "P-384", secp521r1: "P-521" }[
        (publicKey as unknown as { curve: string }).curve
      ];
      const algorithm = { name: "ECDSA", namedCurve, hash: hashOf(sha as string) };
      const own = await imported("spki", unhex(publicKeyDer as string), algorithm, ["verify"]);
      return subtle.verify(algorithm as never, own, unhex(sig as string), unhex(msg as string));
    },
  },
  ECDH: {
    files: /^ecdh_secp(256|384|521)r1_webcrypto/,
    run: async ({ public: other, private: own, shared }) => {
      const algorithm = { name: "ECDH", namedCurve: (own as never as { crv: string }).crv };
      const key = await imported("jwk", own, algorithm, ["deriveBits"]);
      const parameters = { name: "ECDH", public: await imported("jwk", other, algorithm, []) };
      return bytesEqual(await subtle.deriveBits(parameters as never, key, null as never), shared);
    },
  },
  Ed25519: {
    files: /^ed25519_test/,
    run: async ({ msg, sig }, { publicKeyDer }) => {
      const own = await imported("spki", unhex(publicKeyDer as string), "Ed25519", ["verify"]);
      return subtle.verify("Ed25519", own, unhex(sig as string), unhex(msg as string));
    },
  },
  X25519: {
    files: /^x25519_jwk_test/,
    run: async ({ public: other, private: own, shared }) => {
      const key = await imported("jwk", own, "X25519", ["deriveBits"]);
      const parameters = { name: "X25519", public: await imported("jwk", other, "X25519", []) };
      return bytesEqual(await subtle.deriveBits(parameters as never, key, 256), shared);
    },
  },
  HMAC: {
    files: /^hmac_sha(1|256|384|512)_test/,
    run: async ({ key, msg, tag }, { tagSize, hash }) => {
      const algorithm = { name: "HMAC", hash };
      const own = await imported("raw", unhex(key as string), algorithm, ["sign", "verify"]);
      const signed = hex(await subtle.sign("HMAC", own, unhex(msg as string)));
      return signed.slice(0, Number(tagSize) / 4) === tag;
    },
  },
  "RSASSA-PKCS1-v1_5": {
    files: /^rsa_signature_\d+_sha(1|256|384|512)_test/,
    run: async ({ msg, sig }, { publicKeyDer, publicKeyAsn, sha }) => {
      const algorithm = { name: "RSASSA-PKCS1-v1_5", hash: hashOf(sha as string) };
      const own = await imported("spki", unhex((publicKeyDer ?? publicKeyAsn) as string), algorithm, ["verify"]);
      return subtle.verify(algorithm.name, own, unhex(sig as string), unhex(msg as string));
    },
  },
  "RSA-PSS": {
    files: /^rsa_pss_\d+_sha(1|256|384|512)_mgf1_\d+_test/,
    leaves: (_vector, { sha, mgfSha }) => sha !== mgfSha,
    run: async ({ msg, sig }, { publicKeyDer, publicKeyAsn, sha, sLen }) => {
      const algorithm = { name: "RSA-PSS", hash: hashOf(sha as string), saltLength: Number(sLen) };
      expect(publicKeyDer ?? publicKeyAsn).toBeDefined();
      const own = await imported("spki", unhex((publicKeyDer ?? publicKeyAsn) as string), algorithm, ["verify"]);
      return subtle.verify(algorithm as never, own, unhex(sig as string), unhex(msg as string));
    },
  },
  "RSA-OAEP": {
    files: /^rsa_oaep_\d+_sha(1|256|384|512)_mgf1sha\d+_test/,
    leaves: (_vector, { sha, mgfSha }) => sha !== mgfSha,
    run: async ({ msg, ct, label }, { privateKeyPkcs8, sha }) => {
      const own = await imported(
        "pkcs8",
        unhex(privateKeyPkcs8 as string),
        { name: "RSA-OAEP", hash: hashOf(sha as string) },
        ["decrypt"],
      );
      const parameters = { name: "RSA-OAEP", label: unhex(label ?? "") };
      return bytesEqual(await subtle.decrypt(parameters, own, unhex(ct as string)), msg);
    },
  },
};

const folder = process.env["TENON_WYCHEPROOF"] ?? "";

test.skipIf(folder === "").each(Object.entries(kinds))(
  "%s",
  async (_name, { files, leaves, run }) => {
    const different: string[] = [];
    let count = 0;
    for (const file of readdirSync(folder).filter((each) => files.test(each))) {
      const { testGroups, algorithm } = JSON.parse(readFileSync(join(folder, file), "utf8"));
      for (const { tests, ...group } of testGroups) {
        for (const vector of tests as Json[]) {
          const facts = { ...group, hash: hashOf(algorithm) };
          if (leaves?.(vector, facts)) continue;
          count++;
          let outcome = false;
          const ran = run(vector, facts).then((holds) => {
            outcome = holds;
          });
          const error = await failure(ran);
          const isRight =
            vector.result === "acceptable" ? error !== "TypeError" : outcome === (vector.result === "valid");
          if (!isRight)
            different.push(`${file} ${vector["tcId"]} ${vector.result}: ${vector["comment"]} (${error ?? outcome})`);
        }
      }
    }
    expect(different).toEqual([]);
    expect(count).toBeGreaterThan(10);
  },
  240_000,
);
