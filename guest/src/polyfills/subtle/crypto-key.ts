/** Keys of the Web Cryptography API (section 13). */

/** Uses of a key, in the order in which a key lists them. */
const allUsages = ["encrypt", "decrypt", "sign", "verify", "deriveKey", "deriveBits", "wrapKey", "unwrapKey"] as const;

export type Usage = (typeof allUsages)[number];
export type KeyType = "secret" | "public" | "private";

/** The parameters that a key was made with, and its algorithm's name. */
export interface KeyAlgorithm {
  readonly name: string;
  readonly [parameter: string]: unknown;
}

/** The numbers of a key; their names depend on the algorithm. */
export type Material = Readonly<Record<string, Uint8Array<ArrayBuffer>>>;

/** A key. Its material stays in JavaScript: the modules that compute with it keep nothing between calls. */
export class CryptoKey {
  readonly #type: KeyType;
  readonly #extractable: boolean;
  readonly #algorithm: KeyAlgorithm;
  readonly #usages: readonly Usage[];
  readonly #material: Material;

  constructor(
    type: KeyType,
    extractable: boolean,
    algorithm: KeyAlgorithm,
    usages: readonly Usage[],
    material: Material,
  ) {
    this.#type = type;
    this.#extractable = extractable;
    this.#algorithm = Object.freeze(algorithm);
    this.#usages = Object.freeze(allUsages.filter((usage) => usages.includes(usage)));
    this.#material = material;
  }

  get type(): KeyType {
    return this.#type;
  }

  get extractable(): boolean {
    return this.#extractable;
  }

  get algorithm(): KeyAlgorithm {
    return this.#algorithm;
  }

  get usages(): readonly Usage[] {
    return this.#usages;
  }

  get [Symbol.toStringTag](): string {
    return "CryptoKey";
  }

  /** Tells whether a value is such a key, and none of the engine's. */
  static isOne(value: unknown): value is CryptoKey {
    return typeof value === "object" && value !== null && #material in value;
  }

  static materialOf(key: CryptoKey): Material {
    return key.#material;
  }
}

export interface KeyPair {
  readonly publicKey: CryptoKey;
  readonly privateKey: CryptoKey;
}

/** Returns the material of a key. Code outside this folder has no way to it. */
export const { isOne: isKey, materialOf } = CryptoKey;

/** Tells whether a value is the name of a usage. */
export const isUsage = (value: unknown): value is Usage => allUsages.includes(value as Usage);

// The engine's class is the one that programs compare with; both have the same properties.
const engineClass = (globalThis as { CryptoKey?: { readonly prototype: object } }).CryptoKey;
if (engineClass !== undefined) Object.setPrototypeOf(CryptoKey.prototype, engineClass.prototype);
for (const member of ["isOne", "materialOf"]) Reflect.deleteProperty(CryptoKey, member);
// The constructor is not reachable from a key either.
Object.defineProperty(CryptoKey.prototype, "constructor", { value: engineClass ?? Object, configurable: true });
