/** AES-GCM, AES-CBC, AES-CTR and AES-KW (Web Cryptography API, sections 27 to 30). */
import {
  type Algorithm,
  optionalBytes,
  type Parameters,
  requiredBytes,
  requiredNumber,
  requireUsages,
} from "./algorithm.ts";
import { type Bytes, type CoreModule, type Part, withBlock } from "./core-module.ts";
import type { CryptoKey, Usage } from "./crypto-key.ts";
import { dataError, operationError } from "./errors.ts";
import { randomBytes } from "./random.ts";
import { encrypting, readSecret, secretKey, secretOf, writeSecret } from "./secret.ts";

/** The functions of `crates/bridge/crypto/symmetric` for AES. */
export interface AesModule extends CoreModule {
  gcm_encrypt(block: number, key: number, nonce: number, extra: number, data: number, tag: number): number;
  gcm_decrypt(block: number, key: number, nonce: number, extra: number, data: number, tag: number): number;
  gcm_counter(block: number, key: number, nonce: number): number;
  gcm_tag(block: number, key: number, nonce: number, extra: number, data: number, tag: number): number;
  cbc_encrypt(block: number, key: number, data: number, padded: number): number;
  cbc_decrypt(block: number, key: number, data: number, padded: number): number;
  ctr(block: number, key: number, bits: number, data: number, skipped: number): number;
  kw_wrap(block: number, key: number, data: number): number;
  kw_unwrap(block: number, key: number, data: number): number;
}

const lengths: readonly number[] = [128, 192, 256];

/** Returns the algorithms, computed by a module. */
export function aes(module: AesModule): Algorithm[] {
  return [
    { ...keysOf("AES-GCM", "GCM", encrypting), ...gcm(module) },
    { ...keysOf("AES-CBC", "CBC", encrypting), ...cbc(module) },
    { ...keysOf("AES-CTR", "CTR", encrypting), ...ctr(module) },
    { ...keysOf("AES-KW", "KW", ["wrapKey", "unwrapKey"]), ...kw(module) },
  ];
}

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
    async generateKey(parameters, wanted) {
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

function gcm(module: AesModule): Partial<Algorithm> {
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
    async encrypt(parameters, key, data) {
      const { nonce, extra, tag } = read(parameters);
      const secret = secretOf(key);
      const sizes = [secret.length, nonce.length, extra.length, data.length, tag] as const;
      // The tag stands behind the data.
      const length = data.length + tag;
      return computed(module, [secret, nonce, extra, data, tag], 3, length, (block) =>
        module.gcm_encrypt(block, ...sizes),
      );
    },
    async decrypt(parameters, key, sealed) {
      const { nonce, extra, tag } = read(parameters);
      if (sealed.length < tag) throw operationError("the data are shorter than a tag of AES-GCM");
      const secret = secretOf(key);
      const length = sealed.length - tag;
      const sizes = [secret.length, nonce.length, extra.length, length, tag] as const;
      return computed(module, [secret, nonce, extra, sealed], 3, length, (block) =>
        module.gcm_decrypt(block, ...sizes),
      );
    },
  };
}

function cbc(module: AesModule): Partial<Algorithm> {
  const read = (parameters: Parameters): Bytes => {
    const start = requiredBytes(parameters, "iv");
    if (start.length !== 16) throw operationError(`"iv" of AES-CBC has 16 bytes, not ${start.length}`);
    return start;
  };
  return {
    async encrypt(parameters, key, data) {
      const parts = [secretOf(key), read(parameters), data, 16];
      const length = data.length + 16 - (data.length % 16);
      return computed(module, parts, 2, length, (block) =>
        module.cbc_encrypt(block, secretOf(key).length, data.length, 1),
      );
    },
    async decrypt(parameters, key, data) {
      const parts = [secretOf(key), read(parameters), data];
      if (data.length === 0) throw operationError("the data of AES-CBC are whole blocks of 16 bytes");
      return computed(module, parts, 2, undefined, (block) =>
        module.cbc_decrypt(block, secretOf(key).length, data.length, 1),
      );
    },
  };
}

function ctr(module: AesModule): Partial<Algorithm> {
  const apply = async (parameters: Parameters, key: CryptoKey, data: Bytes) => {
    const counter = requiredBytes(parameters, "counter");
    const bits = requiredNumber(parameters, "length", 255);
    if (counter.length !== 16) throw operationError(`"counter" of AES-CTR has 16 bytes, not ${counter.length}`);
    if (bits < 1 || bits > 128) throw operationError('"length" of AES-CTR is a number of bits from 1 to 128');
    return computed(module, [secretOf(key), counter, data], 2, data.length, (block) =>
      module.ctr(block, secretOf(key).length, bits, data.length, 0),
    );
  };
  return { encrypt: apply, decrypt: apply };
}

function kw(module: AesModule): Partial<Algorithm> {
  const requireWhole = (data: Bytes) => {
    if (data.length % 8 !== 0) throw operationError("AES-KW wraps a multiple of 8 bytes");
  };
  return {
    async wrapKey(_parameters, key, data) {
      requireWhole(data);
      const out = data.length + 8;
      return computed(module, [secretOf(key), data, out], 2, out, (block) =>
        module.kw_wrap(block, secretOf(key).length, data.length),
      );
    },
    async unwrapKey(_parameters, key, data) {
      requireWhole(data);
      const out = Math.max(data.length - 8, 0);
      return computed(module, [secretOf(key), data, out], 2, out, (block) =>
        module.kw_unwrap(block, secretOf(key).length, data.length),
      );
    },
  };
}

/** Calls a function, and reads the output from a part on; without a length, the result is the length. */
function computed(
  module: AesModule,
  parts: readonly Part[],
  index: number,
  length: number | undefined,
  call: (block: number) => number,
): Bytes {
  const output = withBlock(module, parts, call, ({ result, part }) => part(index, length ?? result));
  if (output === undefined) throw operationError("the parameters of AES are not valid");
  return output;
}
