/** The algorithms that this `SubtleCrypto` knows, and the parameters that several of them take. */
import { digest } from "tenon:engine";
import type { Bytes } from "./block.ts";
import { viewOf } from "./bytes.ts";
import type { CryptoKey, KeyPair, Usage } from "./crypto-key.ts";
import { notSupported, syntaxError } from "./errors.ts";
import type { JsonWebKey } from "./jwk.ts";

/** The parameters of a call: `AlgorithmIdentifier` as an object, with the standard's spelling of the name. */
export interface Parameters {
  readonly name: string;
  readonly [parameter: string]: unknown;
}

export type Format = "raw" | "pkcs8" | "spki" | "jwk";
/** A key's data in one of the formats. */
export type KeyData =
  | { readonly format: "raw" | "pkcs8" | "spki"; readonly bytes: Bytes }
  | { readonly format: "jwk"; readonly jwk: JsonWebKey };

/** The requested properties of a new key. */
export interface Wanted {
  readonly extractable: boolean;
  readonly usages: readonly Usage[];
}

/**
 * The operations of an algorithm; one that is absent is not supported. Their keys have been checked. Bytes of the caller are
 * not copied, because an operation has ended before other code runs.
 */
export interface Algorithm {
  readonly name: string;
  generateKey?(parameters: Parameters, wanted: Wanted): CryptoKey | KeyPair;
  importKey?(data: KeyData, parameters: Parameters, wanted: Wanted): CryptoKey;
  exportKey?(format: Format, key: CryptoKey): Bytes | JsonWebKey;
  encrypt?(parameters: Parameters, key: CryptoKey, data: Bytes): Bytes;
  decrypt?(parameters: Parameters, key: CryptoKey, data: Bytes): Bytes;
  sign?(parameters: Parameters, key: CryptoKey, data: Bytes): Bytes;
  verify?(parameters: Parameters, key: CryptoKey, signature: Bytes, data: Bytes): boolean;
  deriveBits?(parameters: Parameters, key: CryptoKey, length: number | null): Bytes;
  /** Returns how many bits a key of such parameters has, if `deriveKey` can make one; null when any number will do. */
  keyLength?(parameters: Parameters): number | null;
  wrapKey?(parameters: Parameters, key: CryptoKey, data: Bytes): Bytes;
  unwrapKey?(parameters: Parameters, key: CryptoKey, data: Bytes): Bytes;
}

const { hasOwn } = Object;

/** The hash functions, with their numbers in the engine, and the lengths of their output and of a block in bytes. */
const hashes = {
  "SHA-1": { number: 1, size: 20, block: 64 },
  "SHA-256": { number: 256, size: 32, block: 64 },
  "SHA-384": { number: 384, size: 48, block: 128 },
  "SHA-512": { number: 512, size: 64, block: 128 },
} as const;

export type HashName = keyof typeof hashes;

/** Returns the facts about a hash function. */
export const hashOf = (name: HashName): { readonly number: number; readonly size: number; readonly block: number } =>
  hashes[name];

/** Returns an identifier of an algorithm as an object. */
export function parametersOf(identifier: unknown): Parameters {
  const given = typeof identifier === "string" ? { name: identifier } : identifier;
  if (typeof given !== "object" || given === null || !("name" in given) || typeof given.name !== "string")
    throw new TypeError("an algorithm must be a name, or an object with one");
  return given as Parameters;
}

/** Reads the parameter `hash`. */
export function hashNamed({ hash }: Parameters): HashName {
  if (hash === undefined) throw new TypeError('the algorithm must have a "hash"');
  return hashOfIdentifier(hash);
}

/** Returns the hash function that an identifier of an algorithm names. */
export function hashOfIdentifier(identifier: unknown): HashName {
  const { name } = parametersOf(identifier);
  if (hasOwn(hashes, name)) return name as HashName;
  const wanted = name.toUpperCase();
  if (!hasOwn(hashes, wanted)) throw notSupported(`the hash function ${wanted} is not supported`);
  return wanted as HashName;
}

/** Hashes data. */
export const digestOf = (name: HashName, data: Uint8Array): Bytes => digest(hashes[name].number, data);

/** Reads a parameter of bytes; undefined when it is absent. */
export function optionalBytes(parameters: Parameters, name: string): Bytes | undefined {
  const given = parameters[name];
  return given === undefined ? undefined : viewOf(given, `"${name}" of ${parameters.name}`);
}

/** Reads a parameter of bytes. */
export function requiredBytes(parameters: Parameters, name: string): Bytes {
  const bytes = optionalBytes(parameters, name);
  if (bytes === undefined) throw new TypeError(`${parameters.name} needs "${name}"`);
  return bytes;
}

/** Reads a parameter that is a whole number. */
export function requiredNumber(parameters: Parameters, name: string, most: number): number {
  const given = Number(parameters[name]);
  if (!Number.isInteger(given) || given < 0 || given > most)
    throw new TypeError(`"${name}" of ${parameters.name} must be a whole number from 0 to ${most}`);
  return given;
}

/** Refuses usages that keys of an algorithm cannot have. */
export function requireUsages({ usages }: Wanted, possible: readonly Usage[], name: string): void {
  const impossible = usages.find((usage) => !possible.includes(usage));
  if (impossible !== undefined) throw syntaxError(`this key of ${name} cannot have the usage ${impossible}`);
}

export const wrongFormat = (format: string, name: string): Error =>
  notSupported(`keys of ${name} have no such format: ${format}`);
