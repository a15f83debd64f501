/**
 * `SubtleCrypto` (Web Cryptography API, section 14): the rules that hold for all algorithms. An algorithm that was not
 * added is left to the engine, with keys of the engine.
 */
import { requireRequest } from "../../node/building.ts";
import { type Algorithm, type Format, type KeyData, type Parameters, parametersOf } from "./algorithm.ts";
import { bytesOf } from "./bytes.ts";
import type { Bytes } from "./core-module.ts";
import { type CryptoKey, isKey, isUsage, type KeyPair, type Usage } from "./crypto-key.ts";
import type { EngineSubtle } from "./engine.ts";
import { dataError, invalidAccess, notSupported } from "./errors.ts";
import type { JsonWebKey } from "./jwk.ts";

/** Operations that call a module, which cannot be done at the top level of a build. */
const computing: readonly (keyof Algorithm)[] = [
  "decrypt",
  "deriveBits",
  "encrypt",
  "generateKey",
  "unwrapKey",
  "wrapKey",
];

const formats: readonly string[] = ["raw", "pkcs8", "spki", "jwk"];

/** The algorithms of an instance, apart from it, so that only `install.ts` can add some. */
export class Algorithms {
  readonly #known = new Map<string, Algorithm>();

  add(algorithms: readonly Algorithm[]): void {
    for (const algorithm of algorithms) this.#known.set(algorithm.name.toUpperCase(), algorithm);
  }

  find(name: string): Algorithm | undefined {
    return this.#known.get(name.toUpperCase());
  }
}

/** An operation of an algorithm, and the parameters with the standard's spelling of the name. */
interface Found<Operation extends keyof Algorithm> {
  readonly algorithm: Algorithm;
  readonly parameters: Parameters;
  readonly run: NonNullable<Algorithm[Operation]>;
}

export class SubtleCrypto {
  readonly #engine: EngineSubtle;
  readonly #algorithms: Algorithms;

  constructor(engine: EngineSubtle, algorithms: Algorithms) {
    this.#engine = engine;
    this.#algorithms = algorithms;
  }

  get [Symbol.toStringTag](): string {
    return "SubtleCrypto";
  }

  async digest(algorithm: unknown, data: unknown): Promise<ArrayBuffer> {
    return this.#engine.digest(algorithm, data as Uint8Array);
  }

  async generateKey(algorithm: unknown, extractable: unknown, usages: unknown): Promise<CryptoKey | KeyPair> {
    const { parameters, run } = this.#require("generateKey", algorithm);
    return run(parameters, wanted(extractable, usages));
  }

  async importKey(
    format: unknown,
    data: unknown,
    algorithm: unknown,
    extractable: unknown,
    usages: unknown,
  ): Promise<CryptoKey> {
    const { name } = parametersOf(algorithm);
    if (this.#algorithms.find(name) === undefined) {
      const imported = this.#engine.importKey(
        format as string,
        data,
        algorithm,
        Boolean(extractable),
        usagesOf(usages),
      );
      return (await imported) as CryptoKey;
    }
    const { parameters, run } = this.#require("importKey", algorithm);
    return run(keyData(format, data), parameters, wanted(extractable, usages));
  }

  async exportKey(format: unknown, key: unknown): Promise<ArrayBuffer | JsonWebKey> {
    const exported = this.#exported(format, key);
    return exported instanceof Uint8Array ? exported.buffer : exported;
  }

  async encrypt(algorithm: unknown, key: unknown, data: unknown): Promise<ArrayBuffer> {
    const { parameters, run } = this.#require("encrypt", algorithm);
    const bytes = bytesOf(data, "the data");
    return (await run(parameters, usable(key, parameters, "encrypt"), bytes)).buffer;
  }

  async decrypt(algorithm: unknown, key: unknown, data: unknown): Promise<ArrayBuffer> {
    const { parameters, run } = this.#require("decrypt", algorithm);
    const bytes = bytesOf(data, "the data");
    return (await run(parameters, usable(key, parameters, "decrypt"), bytes)).buffer;
  }

  async sign(algorithm: unknown, key: unknown, data: unknown): Promise<ArrayBuffer> {
    if (this.#isOfEngine(algorithm, key)) return this.#engine.sign(algorithm, key, data as Uint8Array);
    const { parameters, run } = this.#require("sign", algorithm);
    const bytes = bytesOf(data, "the data");
    return (await run(parameters, usable(key, parameters, "sign"), bytes)).buffer;
  }

  async verify(algorithm: unknown, key: unknown, signature: unknown, data: unknown): Promise<boolean> {
    if (this.#isOfEngine(algorithm, key))
      return this.#engine.verify(algorithm, key, signature as Uint8Array, data as Uint8Array);
    const { parameters, run } = this.#require("verify", algorithm);
    const [given, bytes] = [bytesOf(signature, "the signature"), bytesOf(data, "the data")];
    return run(parameters, usable(key, parameters, "verify"), given, bytes);
  }

  async deriveBits(algorithm: unknown, baseKey: unknown, length: unknown = null): Promise<ArrayBuffer> {
    const { parameters, run } = this.#require("deriveBits", algorithm);
    return (await run(parameters, usable(baseKey, parameters, "deriveBits"), bitsOf(length))).buffer;
  }

  async deriveKey(
    algorithm: unknown,
    baseKey: unknown,
    derivedKeyType: unknown,
    extractable: unknown,
    usages: unknown,
  ): Promise<CryptoKey> {
    const { parameters, run } = this.#require("deriveBits", algorithm);
    const derived = this.#require("importKey", derivedKeyType);
    const length = this.#require("keyLength", derivedKeyType).run(derived.parameters);
    const key = usable(baseKey, parameters, "deriveKey");
    const bytes = await run(parameters, key, length);
    return derived.run({ format: "raw", bytes }, derived.parameters, wanted(extractable, usages));
  }

  async wrapKey(format: unknown, key: unknown, wrappingKey: unknown, algorithm: unknown): Promise<ArrayBuffer> {
    const { parameters, run } = this.#either("wrapKey", "encrypt", algorithm);
    const by = usable(wrappingKey, parameters, "wrapKey");
    const exported = this.#exported(format, key);
    const bytes = exported instanceof Uint8Array ? exported : new TextEncoder().encode(JSON.stringify(exported));
    return (await run(parameters, by, bytes as Bytes)).buffer;
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
    const { parameters, run } = this.#either("unwrapKey", "decrypt", algorithm);
    const wrapped = bytesOf(wrappedKey, "the wrapped key");
    const by = usable(unwrappingKey, parameters, "unwrapKey");
    const bytes = await run(parameters, by, wrapped);
    const data = format === "jwk" ? parsed(bytes) : bytes;
    return this.importKey(format, data, unwrappedKeyAlgorithm, extractable, usages);
  }

  #require<Operation extends keyof Algorithm>(operation: Operation, identifier: unknown): Found<Operation> {
    const given = parametersOf(identifier);
    const algorithm = this.#algorithms.find(given.name);
    const run = algorithm?.[operation];
    if (algorithm === undefined)
      throw notSupported(`crypto.subtle has no ${given.name} here: the build adds the algorithms that the code names`);
    if (run === undefined) throw notSupported(`crypto.subtle has no ${operation} of ${given.name}`);
    if (computing.includes(operation)) requireRequest(`crypto.subtle.${operation}() of ${algorithm.name}`);
    return { algorithm, parameters: { ...given, name: algorithm.name }, run };
  }

  /** Finds an operation, or another one that takes its place. */
  #either<Operation extends "wrapKey" | "unwrapKey">(
    operation: Operation,
    other: "encrypt" | "decrypt",
    identifier: unknown,
  ) {
    const hasOwn = this.#algorithms.find(parametersOf(identifier).name)?.[operation] !== undefined;
    return hasOwn ? this.#require(operation, identifier) : this.#require(other, identifier);
  }

  #isOfEngine(algorithm: unknown, key: unknown): boolean {
    return !isKey(key) && this.#algorithms.find(parametersOf(algorithm).name) === undefined;
  }

  #exported(format: unknown, key: unknown): Bytes | JsonWebKey {
    const checked = requireKey(key);
    const { run } = this.#require("exportKey", checked.algorithm);
    if (!checked.extractable) throw invalidAccess("the key is not extractable");
    return run(formatOf(format), checked);
  }
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
  throw new TypeError("the key is not a CryptoKey that crypto.subtle made for this algorithm");
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

function keyData(format: unknown, data: unknown): KeyData {
  const known = formatOf(format);
  if (known !== "jwk") return { format: known, bytes: bytesOf(data, "the key") };
  if (typeof data !== "object" || data === null || data instanceof ArrayBuffer || ArrayBuffer.isView(data))
    throw new TypeError("a key of the format jwk is an object");
  return { format: known, jwk: data as JsonWebKey };
}

/** Reads a JSON Web Key that was encrypted. */
function parsed(bytes: Bytes): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw dataError("the unwrapped key is not JSON");
  }
}

/** Reads a number of bits; null for all of them. */
function bitsOf(length: unknown): number | null {
  if (length === null || length === undefined) return null;
  const bits = Number(length);
  if (!Number.isInteger(bits) || bits < 0 || bits >= 2 ** 32) throw new TypeError("a length in bits is a whole number");
  return bits;
}
