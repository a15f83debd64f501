/** AES-GCM, AES-CBC, AES-CTR and AES-KW (Web Cryptography API, sections 27 to 30). */
import { cbcDecrypt, cbcEncrypt, ctr, gcmDecrypt, gcmEncrypt, kwUnwrap, kwWrap } from "tenon:engine";
import {
  type Algorithm,
  optionalBytes,
  type Parameters,
  requiredBytes,
  requiredNumber,
  requireUsages,
} from "./algorithm.ts";
import { type Bytes, type Part, withBlock } from "./block.ts";
import type { CryptoKey, Usage } from "./crypto-key.ts";
import { dataError, operationError } from "./errors.ts";
import { randomBytes } from "./random.ts";
import { encrypting, readSecret, secretKey, secretOf, writeSecret } from "./secret.ts";

const lengths: readonly number[] = [128, 192, 256];

/** The operations on keys, which all modes share. */
function keysOf(name: string, mode: string, usages: readonly Usage[]): Algorithm {
  const alg = (bytes: number) => `A${bytes * 8}${mode}`;
  const lengthOf = (parameters: Parameters): number => {
    const length = requiredNumber(parameters, "length", 65_535);
    if (!lengths.includes(length)) throw operationError(`a key of ${name} has 128, 192 or 256 bits, not ${length}`);
    return length;
  };
  return {
    name,
    keyLength: lengthOf,
    generateKey(parameters, wanted) {
      requireUsages(wanted, usages, name);
      const length = lengthOf(parameters);
      return secretKey(randomBytes(length / 8, "generateKey()"), { name, length }, wanted);
    },
    importKey(data, _parameters, wanted) {
      requireUsages(wanted, usages, name);
      const bytes = readSecret(data, name, wanted, (length) => ({ use: "enc", alg: alg(length) }));
      const length = bytes.length * 8;
      if (!lengths.includes(length)) throw dataError(`a key of ${name} has 128, 192 or 256 bits, not ${length}`);
      return secretKey(bytes, { name, length }, wanted);
    },
    exportKey: (format, key) => writeSecret(format, key, alg(secretOf(key).length)),
  };
}

function gcmOperations(): Partial<Algorithm> {
  const tagLengths = [32, 64, 96, 104, 112, 120, 128];
  const read = (parameters: Parameters) => {
    const nonce = requiredBytes(parameters, "iv");
    const extra = optionalBytes(parameters, "additionalData") ?? new Uint8Array();
    const tag = parameters["tagLength"] === undefined ? 128 : requiredNumber(parameters, "tagLength", 255);
    if (!tagLengths.includes(tag)) throw operationError(`"tagLength" of AES-GCM is one of ${tagLengths.join(", ")}`);
    if (nonce.length === 0) throw operationError('"iv" of AES-GCM is empty');
    return { nonce, extra, tag: tag / 8 };
  };
  return {
    encrypt(parameters, key, data) {
      const { nonce, extra, tag } = read(parameters);
      const secret = secretOf(key);
      const sizes = [secret.length, nonce.length, extra.length, data.length, tag] as const;
      // The tag follows the data.
      const length = data.length + tag;
      return computed([secret, nonce, extra, data, tag], 3, length, (block) => gcmEncrypt(block, ...sizes));
    },
    decrypt(parameters, key, sealed) {
      const { nonce, extra, tag } = read(parameters);
      if (sealed.length < tag) throw operationError("the data are shorter than a tag of AES-GCM");
      const secret = secretOf(key);
      const length = sealed.length - tag;
      const sizes = [secret.length, nonce.length, extra.length, length, tag] as const;
      return computed([secret, nonce, extra, sealed], 3, length, (block) => gcmDecrypt(block, ...sizes));
    },
  };
}

function cbcOperations(): Partial<Algorithm> {
  const read = (parameters: Parameters): Bytes => {
    const start = requiredBytes(parameters, "iv");
    if (start.length !== 16) throw operationError(`"iv" of AES-CBC has 16 bytes, not ${start.length}`);
    return start;
  };
  return {
    encrypt(parameters, key, data) {
      const parts = [secretOf(key), read(parameters), data, 16];
      const length = data.length + 16 - (data.length % 16);
      return computed(parts, 2, length, (block) => cbcEncrypt(block, secretOf(key).length, data.length, 1));
    },
    decrypt(parameters, key, data) {
      const parts = [secretOf(key), read(parameters), data];
      if (data.length === 0) throw operationError("the data of AES-CBC are whole blocks of 16 bytes");
      return computed(parts, 2, undefined, (block) => cbcDecrypt(block, secretOf(key).length, data.length, 1));
    },
  };
}

function ctrOperations(): Partial<Algorithm> {
  const apply = (parameters: Parameters, key: CryptoKey, data: Bytes) => {
    const counter = requiredBytes(parameters, "counter");
    const bits = requiredNumber(parameters, "length", 255);
    if (counter.length !== 16) throw operationError(`"counter" of AES-CTR has 16 bytes, not ${counter.length}`);
    if (bits < 1 || bits > 128) throw operationError('"length" of AES-CTR is a number of bits from 1 to 128');
    return computed([secretOf(key), counter, data], 2, data.length, (block) =>
      ctr(block, secretOf(key).length, bits, data.length, 0),
    );
  };
  return { encrypt: apply, decrypt: apply };
}

function kwOperations(): Partial<Algorithm> {
  const requireWhole = (data: Bytes) => {
    if (data.length % 8 !== 0) throw operationError("AES-KW wraps a multiple of 8 bytes");
  };
  return {
    wrapKey(_parameters, key, data) {
      requireWhole(data);
      const out = data.length + 8;
      return computed([secretOf(key), data, out], 2, out, (block) => kwWrap(block, secretOf(key).length, data.length));
    },
    unwrapKey(_parameters, key, data) {
      requireWhole(data);
      const out = Math.max(data.length - 8, 0);
      return computed([secretOf(key), data, out], 2, out, (block) =>
        kwUnwrap(block, secretOf(key).length, data.length),
      );
    },
  };
}

/** Calls a function, and reads the output from a part on; without a length, the result is the length. */
function computed(
  parts: readonly Part[],
  index: number,
  length: number | undefined,
  call: (block: Uint8Array) => number,
): Bytes {
  const output = withBlock(parts, call, ({ result, part }) => part(index, length ?? result));
  if (output === undefined) throw operationError("the parameters of AES are not valid");
  return output;
}

/** The algorithms. */
export const aes: readonly Algorithm[] = [
  { ...keysOf("AES-GCM", "GCM", encrypting), ...gcmOperations() },
  { ...keysOf("AES-CBC", "CBC", encrypting), ...cbcOperations() },
  { ...keysOf("AES-CTR", "CTR", encrypting), ...ctrOperations() },
  { ...keysOf("AES-KW", "KW", ["wrapKey", "unwrapKey"]), ...kwOperations() },
];
