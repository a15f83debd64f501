/** RSASSA-PKCS1-v1_5, RSA-PSS and RSA-OAEP (Web Cryptography API, sections 20 to 22). */
import {
  oaepDecrypt,
  oaepEncrypt,
  pkcs1Sign,
  pkcs1Verify,
  pssSign,
  pssVerify,
  rsaCheckPrivate,
  rsaCheckPublic,
  rsaGenerate,
} from "tenon:engine";
import {
  type Algorithm,
  digestOf,
  type HashName,
  hashNamed,
  hashOf,
  optionalBytes,
  type Parameters,
  requiredBytes,
  requiredNumber,
  requireUsages,
  type Wanted,
} from "./algorithm.ts";
import { type Bytes, type Part, withBlock } from "./block.ts";
import { trimmed, widened } from "./bytes.ts";
import { type CryptoKey, makeKey } from "./crypto-key.ts";
import { dataError, notSupported, operationError } from "./errors.ts";
import { keyPair, type PairUsages, requireImport } from "./key-pairs.ts";
import { randomBytes } from "./random.ts";
import { numbersOf, type RsaNumbers, readRsa, writeRsa } from "./rsa-keys.ts";

/** An algorithm's usages, and its name in a JSON Web Key. */
interface Kind extends PairUsages {
  readonly alg: (hash: HashName) => string;
}

const shortHash = (hash: HashName) => hash.replace("SHA-", "");

const hashOfKey = (key: CryptoKey): HashName => (key.algorithm["hash"] as { name: HashName }).name;

function pkcs1Operations(): Partial<Algorithm> {
  return {
    sign(_parameters, key, data) {
      const hash = hashOfKey(key);
      const digest = digestOf(hash, data);
      const numbers = numbersOf(key);
      const [modulus, exponent] = [numbers.n.length, numbers.e.length];
      const parts = [...privateParts(numbers), digest, randomBytes(32, "sign()"), modulus];
      return computed(parts, 7, undefined, (block) =>
        pkcs1Sign(block, hashOf(hash).number, modulus, exponent, digest.length),
      );
    },
    verify(_parameters, key, signature, data) {
      const { n, e } = numbersOf(key);
      if (signature.length !== n.length) return false;
      const hash = hashOfKey(key);
      const digest = digestOf(hash, data);
      const call = (block: Uint8Array) => pkcs1Verify(block, hashOf(hash).number, n.length, e.length, digest.length);
      return withBlock([n, e, digest, signature], call, ({ result }) => result === 1) ?? false;
    },
  };
}

function pssOperations(): Partial<Algorithm> {
  const prepared = (parameters: Parameters, key: CryptoKey, data: Bytes) => {
    const hash = hashOfKey(key);
    const salt = requiredNumber(parameters, "saltLength", 65_535);
    const digest = digestOf(hash, data);
    return { ...numbersOf(key), salt, digest, hash: hashOf(hash).number };
  };
  return {
    sign(parameters, key, data) {
      const { hash, digest, salt, ...numbers } = prepared(parameters, key, data);
      const [modulus, exponent] = [numbers.n.length, numbers.e.length];
      const parts = [...privateParts(numbers), digest, randomBytes(32, "sign()"), modulus];
      return computed(parts, 7, undefined, (block) => pssSign(block, hash, modulus, exponent, digest.length, salt));
    },
    verify(parameters, key, signature, data) {
      const { hash, digest, salt, n, e } = prepared(parameters, key, data);
      if (signature.length !== n.length) return false;
      const call = (block: Uint8Array) => pssVerify(block, hash, n.length, e.length, digest.length, salt);
      return withBlock([n, e, digest, signature], call, ({ result }) => result === 1) ?? false;
    },
  };
}

function oaepOperations(): Partial<Algorithm> {
  const labelOf = (parameters: Parameters) => optionalBytes(parameters, "label") ?? new Uint8Array();
  return {
    encrypt(parameters, key, data) {
      const { n, e } = numbersOf(key);
      const { number } = hashOf(hashOfKey(key));
      const label = labelOf(parameters);
      const parts = [n, e, label, data, randomBytes(32, "encrypt()"), n.length];
      return computed(parts, 5, undefined, (block) =>
        oaepEncrypt(block, number, n.length, e.length, label.length, data.length),
      );
    },
    decrypt(parameters, key, data) {
      const numbers = numbersOf(key);
      const [modulus, exponent] = [numbers.n.length, numbers.e.length];
      if (data.length !== modulus) throw operationError(`the data have as many bytes as the key, ${modulus}`);
      const { number } = hashOf(hashOfKey(key));
      const label = labelOf(parameters);
      const parts = [...privateParts(numbers), label, data, randomBytes(32, "decrypt()")];
      return computed(parts, 6, "result", (block) => oaepDecrypt(block, number, modulus, exponent, label.length));
    },
  };
}

/** Calls a function, and reads a part of its block, whose length may be the result. */
function computed(
  parts: readonly Part[],
  index: number,
  length: "result" | undefined,
  call: (block: Uint8Array) => number,
): Bytes {
  const output = withBlock(parts, call, ({ result, part }) =>
    length === undefined ? part(index) : part(index, result),
  );
  if (output === undefined) throw operationError("the key of RSA is not valid");
  return output;
}

/** A private key as the engine reads it. */
function privateParts({ n, e, d, p, q }: RsaNumbers): Bytes[] {
  const half = Math.ceil(n.length / 2);
  const [wideD, wideP, wideQ] = [widened(d as Bytes, n.length), widened(p as Bytes, half), widened(q as Bytes, half)];
  if (wideD === undefined || wideP === undefined || wideQ === undefined)
    throw dataError("the primes of the key of RSA differ in length");
  return [n, e, wideD, wideP, wideQ];
}

/** The operations on keys, which all algorithms share. */
function keysOf(kind: Kind): Algorithm {
  const { name, alg } = kind;
  const made = (numbers: RsaNumbers, hash: HashName, { extractable, usages }: Wanted) => {
    const { n, e, d } = numbers;
    const modulusLength = n.length * 8 - (Math.clz32(n[0] as number) - 24);
    const algorithm = { name, modulusLength, publicExponent: e.slice(), hash: { name: hash } };
    return makeKey(d ? "private" : "public", extractable, algorithm, usages, { ...numbers });
  };
  return {
    name,
    generateKey(parameters, wanted) {
      const hash = hashNamed(parameters);
      requireUsages(wanted, [...kind.ofPrivate, ...kind.ofPublic], name);
      const wantedNumbers = readWanted(parameters);
      return keyPair(kind, wanted, (ofPublic, ofPrivate) => {
        const numbers = generate(wantedNumbers);
        const { n, e } = numbers;
        return { publicKey: made({ n, e }, hash, ofPublic), privateKey: made(numbers, hash, ofPrivate) };
      });
    },
    importKey(data, parameters, wanted) {
      const hash = hashNamed(parameters);
      requireImport(data, kind, wanted);
      const numbers = readRsa(data, name, { use: name === "RSA-OAEP" ? "enc" : "sig", alg: alg(hash) }, wanted);
      check(numbers);
      return made(numbers, hash, wanted);
    },
    exportKey: (format, key) => writeRsa(format, key, alg(hashOfKey(key))),
  };
}

/** Refuses a key that cannot be used. */
function check(numbers: RsaNumbers): void {
  const { n, e, d } = numbers;
  const [parts, call] = d
    ? [privateParts(numbers), (block: Uint8Array) => rsaCheckPrivate(block, n.length, e.length)]
    : [[n, e], (block: Uint8Array) => rsaCheckPublic(block, n.length, e.length)];
  if (withBlock(parts, call, () => true) === undefined)
    throw dataError("the key of RSA is not valid, or has less than 1024 or more than 8192 bits");
}

/** Reads the bits of a new key's modulus, and its exponent. */
function readWanted(parameters: Parameters): { readonly bits: number; readonly e: Bytes } {
  const bits = requiredNumber(parameters, "modulusLength", 2 ** 32 - 1);
  if (bits < 1024 || bits > 4096 || bits % 16 !== 0)
    throw notSupported('"modulusLength" of RSA is a multiple of 16, from 1024 to 4096');
  const e = trimmed(requiredBytes(parameters, "publicExponent"));
  const exponent = e.reduce((sum, byte) => sum * 256 + byte, 0);
  // No primes fit an even exponent.
  if (exponent < 3 || exponent % 2 === 0 || exponent >= 2 ** 33)
    throw operationError('"publicExponent" of RSA is odd, from 3 to 2^33');
  return { bits, e };
}

function generate({ bits, e }: { readonly bits: number; readonly e: Bytes }): Required<RsaNumbers> {
  const modulus = bits / 8;
  const half = modulus / 2;
  const parts = [randomBytes(32, "generateKey()"), e, modulus, modulus, half, half, half, half, half];
  const call = (block: Uint8Array) => rsaGenerate(block, modulus, e.length);
  const numbers = withBlock(parts, call, ({ part }) => {
    const [n, d, p, q, dp, dq, qi] = [2, 3, 4, 5, 6, 7, 8].map((index) => trimmed(part(index))) as [
      Bytes,
      Bytes,
      Bytes,
      Bytes,
      Bytes,
      Bytes,
      Bytes,
    ];
    return { n, e, d, p, q, dp, dq, qi };
  });
  if (numbers === undefined) throw operationError("no key of RSA could be made with these parameters");
  return numbers;
}

const signing = { ofPrivate: ["sign"], ofPublic: ["verify"] } as const;
const pkcs1: Kind = { name: "RSASSA-PKCS1-v1_5", ...signing, alg: (hash) => `RS${shortHash(hash)}` };
const pss: Kind = { name: "RSA-PSS", ...signing, alg: (hash) => `PS${shortHash(hash)}` };
const oaep: Kind = {
  name: "RSA-OAEP",
  ofPrivate: ["decrypt", "unwrapKey"],
  ofPublic: ["encrypt", "wrapKey"],
  alg: (hash) => (hash === "SHA-1" ? "RSA-OAEP" : `RSA-OAEP-${shortHash(hash)}`),
};

/** The algorithms. */
export const rsa: readonly Algorithm[] = [
  { ...keysOf(pkcs1), ...pkcs1Operations() },
  { ...keysOf(pss), ...pssOperations() },
  { ...keysOf(oaep), ...oaepOperations() },
];
