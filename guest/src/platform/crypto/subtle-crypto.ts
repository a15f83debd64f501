/** `SubtleCrypto` (Web Cryptography API, section 14): the rules that hold for all algorithms. */
import { utf8Decode, utf8Encode } from "tenon:engine";
import {
  type Algorithm,
  digestOf,
  type Format,
  hashOfIdentifier,
  type KeyData,
  type Parameters,
  parametersOf,
} from "./algorithm.ts";
import { findAlgorithm } from "./algorithms.ts";
import type { Bytes } from "./block.ts";
import { bytesOf, viewOf } from "./bytes.ts";
import { type CryptoKey, isKey, isUsage, type KeyPair, type Usage } from "./crypto-key.ts";
import { dataError, invalidAccess, notSupported } from "./errors.ts";
import type { JsonWebKey } from "./jwk.ts";

const formats: readonly string[] = ["raw", "pkcs8", "spki", "jwk"];

/** An operation of an algorithm, and the parameters with the standard's spelling of the name. */
interface Found<Operation extends keyof Algorithm> {
  readonly algorithm: Algorithm;
  readonly parameters: Parameters;
  readonly run: NonNullable<Algorithm[Operation]>;
}

/** The argument without which the constructor throws. */
const internal = Symbol();

/** All work is done at once, so every promise is settled when it is returned. */
export class SubtleCrypto {
  readonly #isOne = true;

  constructor(...given: unknown[]) {
    if (given[0] !== internal) throw new TypeError("Illegal constructor");
  }

  async digest(algorithm: unknown, data: unknown): Promise<ArrayBuffer> {
    this.#isOne;
    return digestOf(hashOfIdentifier(algorithm), viewOf(data, "the data")).buffer;
  }

  async generateKey(algorithm: unknown, extractable: unknown, usages: unknown): Promise<CryptoKey | KeyPair> {
    this.#isOne;
    const { parameters, run } = required("generateKey", algorithm);
    return run(parameters, wanted(extractable, usages));
  }

  async importKey(
    format: unknown,
    data: unknown,
    algorithm: unknown,
    extractable: unknown,
    usages: unknown,
  ): Promise<CryptoKey> {
    this.#isOne;
    return imported(format, data, algorithm, extractable, usages);
  }

  async exportKey(format: unknown, key: unknown): Promise<ArrayBuffer | JsonWebKey> {
    this.#isOne;
    const written = exported(format, key);
    return written instanceof Uint8Array ? written.buffer : written;
  }

  async encrypt(algorithm: unknown, key: unknown, data: unknown): Promise<ArrayBuffer> {
    this.#isOne;
    const { parameters, run } = required("encrypt", algorithm);
    const bytes = viewOf(data, "the data");
    return run(parameters, usable(key, parameters, "encrypt"), bytes).buffer;
  }

  async decrypt(algorithm: unknown, key: unknown, data: unknown): Promise<ArrayBuffer> {
    this.#isOne;
    const { parameters, run } = required("decrypt", algorithm);
    const bytes = viewOf(data, "the data");
    return run(parameters, usable(key, parameters, "decrypt"), bytes).buffer;
  }

  async sign(algorithm: unknown, key: unknown, data: unknown): Promise<ArrayBuffer> {
    this.#isOne;
    const { parameters, run } = required("sign", algorithm);
    const bytes = viewOf(data, "the data");
    return run(parameters, usable(key, parameters, "sign"), bytes).buffer;
  }

  async verify(algorithm: unknown, key: unknown, signature: unknown, data: unknown): Promise<boolean> {
    this.#isOne;
    const { parameters, run } = required("verify", algorithm);
    const [given, bytes] = [viewOf(signature, "the signature"), viewOf(data, "the data")];
    return run(parameters, usable(key, parameters, "verify"), given, bytes);
  }

  async deriveBits(algorithm: unknown, baseKey: unknown, length: unknown = null): Promise<ArrayBuffer> {
    this.#isOne;
    const { parameters, run } = required("deriveBits", algorithm);
    return run(parameters, usable(baseKey, parameters, "deriveBits"), bitsOf(length)).buffer;
  }

  async deriveKey(
    algorithm: unknown,
    baseKey: unknown,
    derivedKeyType: unknown,
    extractable: unknown,
    usages: unknown,
  ): Promise<CryptoKey> {
    this.#isOne;
    const { parameters, run } = required("deriveBits", algorithm);
    const derived = required("importKey", derivedKeyType);
    const length = required("keyLength", derivedKeyType).run(derived.parameters);
    const key = usable(baseKey, parameters, "deriveKey");
    const bytes = run(parameters, key, length);
    return derived.run({ format: "raw", bytes }, derived.parameters, wanted(extractable, usages));
  }

  async wrapKey(format: unknown, key: unknown, wrappingKey: unknown, algorithm: unknown): Promise<ArrayBuffer> {
    this.#isOne;
    const { parameters, run } = either("wrapKey", "encrypt", algorithm);
    const by = usable(wrappingKey, parameters, "wrapKey");
    const written = exported(format, key);
    const bytes = written instanceof Uint8Array ? written : utf8Encode(JSON.stringify(written));
    return run(parameters, by, bytes as Bytes).buffer;
  }

  async unwrapKey(
    format: unknown,
    wrappedKey: unknown,
    unwrappingKey: unknown,
    algorithm: unknown,
    unwrappedKeyAlgorithm: unknown,
    extractable: unknown,
    usages: unknown,
  ): Promise<CryptoKey> {
    this.#isOne;
    const { parameters, run } = either("unwrapKey", "decrypt", algorithm);
    const wrapped = viewOf(wrappedKey, "the wrapped key");
    const by = usable(unwrappingKey, parameters, "unwrapKey");
    const bytes = run(parameters, by, wrapped);
    const data = format === "jwk" ? parsed(bytes) : bytes;
    return imported(format, data, unwrappedKeyAlgorithm, extractable, usages);
  }
}

export const makeSubtle = (): SubtleCrypto => new SubtleCrypto(internal);

function required<Operation extends keyof Algorithm>(operation: Operation, identifier: unknown): Found<Operation> {
  const given = parametersOf(identifier);
  const { name } = given;
  const algorithm = findAlgorithm(name);
  if (algorithm === undefined)
    throw notSupported(`crypto.subtle has no ${name} here: the build adds the algorithms that the code names`);
  const run = algorithm[operation];
  if (run === undefined) throw notSupported(`crypto.subtle has no ${operation} of ${name}`);
  const parameters = name === algorithm.name ? given : { ...given, name: algorithm.name };
  return { algorithm, parameters, run };
}

/** Finds an operation, or another one that takes its place. */
function either<Operation extends "wrapKey" | "unwrapKey">(
  operation: Operation,
  other: "encrypt" | "decrypt",
  identifier: unknown,
) {
  const hasOwn = findAlgorithm(parametersOf(identifier).name)?.[operation] !== undefined;
  return hasOwn ? required(operation, identifier) : required(other, identifier);
}

function imported(
  format: unknown,
  data: unknown,
  algorithm: unknown,
  extractable: unknown,
  usages: unknown,
): CryptoKey {
  const { parameters, run } = required("importKey", algorithm);
  return run(keyData(format, data), parameters, wanted(extractable, usages));
}

function exported(format: unknown, key: unknown): Bytes | JsonWebKey {
  const checked = requireKey(key);
  const { run } = required("exportKey", checked.algorithm);
  if (!checked.extractable) throw invalidAccess("the key is not extractable");
  return run(formatOf(format), checked);
}

/** Returns a key that allows an operation of an algorithm. */
function usable(key: unknown, { name }: Parameters, usage: Usage): CryptoKey {
  const checked = requireKey(key);
  if (checked.algorithm.name !== name)
    throw invalidAccess(`the key is one of ${checked.algorithm.name}, not of ${name}`);
  if (!checked.usages.includes(usage)) throw invalidAccess(`the key does not have the usage ${usage}`);
  return checked;
}

function requireKey(key: unknown): CryptoKey {
  if (isKey(key)) return key;
  throw new TypeError("the key must be a CryptoKey");
}

function usagesOf(usages: unknown): Usage[] {
  const list = [...(usages as Iterable<unknown>)];
  const unknown = list.find((usage) => !isUsage(usage));
  if (unknown !== undefined) throw new TypeError(`"${String(unknown)}" is not a key usage`);
  return list as Usage[];
}

const wanted = (extractable: unknown, usages: unknown) => ({
  extractable: Boolean(extractable),
  usages: usagesOf(usages),
});

function formatOf(format: unknown): Format {
  if (!formats.includes(format as string)) throw new TypeError(`"${String(format)}" is not a key format`);
  return format as Format;
}

/** Copies a key's data, because a key keeps parts of them. */
function keyData(format: unknown, data: unknown): KeyData {
  const known = formatOf(format);
  if (known !== "jwk") return { format: known, bytes: bytesOf(data, "the key") };
  if (typeof data !== "object" || data === null || data instanceof ArrayBuffer || ArrayBuffer.isView(data))
    throw new TypeError("a key of the format jwk must be an object");
  return { format: known, jwk: data as JsonWebKey };
}

/** Reads a JSON Web Key that was encrypted. */
function parsed(bytes: Bytes): unknown {
  try {
    return JSON.parse(utf8Decode(bytes, true));
  } catch {
    throw dataError("the unwrapped key is not JSON");
  }
}

/** Reads a number of bits; null for all of them. */
function bitsOf(length: unknown): number | null {
  if (length === null || length === undefined) return null;
  const bits = Number(length);
  if (!Number.isInteger(bits) || bits < 0 || bits >= 2 ** 32)
    throw new TypeError("a length in bits must be a whole number");
  return bits;
}
