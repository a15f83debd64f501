/** The engine's own `crypto.subtle`, which does some work faster than JavaScript or a module would. */
import type { Bytes } from "./core-module.ts";
import type { CryptoKey, Usage } from "./crypto-key.ts";

/** The part of the engine's `crypto.subtle` that is used. */
export interface EngineSubtle {
  digest(algorithm: unknown, data: Uint8Array): Promise<ArrayBuffer>;
  importKey(
    format: string,
    data: unknown,
    algorithm: unknown,
    extractable: boolean,
    usages: readonly Usage[],
  ): Promise<unknown>;
  sign(algorithm: unknown, key: unknown, data: Uint8Array): Promise<ArrayBuffer>;
  verify(algorithm: unknown, key: unknown, signature: Uint8Array, data: Uint8Array): Promise<boolean>;
}

/** Imports keys into the engine when they are first used. */
export class EngineKeys {
  readonly #engine: EngineSubtle;
  readonly #keys = new WeakMap<CryptoKey, Promise<unknown>>();

  constructor(engine: EngineSubtle) {
    this.#engine = engine;
  }

  async sign(key: CryptoKey, algorithm: object, encoded: () => Encoded, data: Bytes): Promise<Bytes> {
    const own = await this.#of(key, algorithm, encoded, "sign");
    return new Uint8Array(await this.#engine.sign(algorithm, own, data));
  }

  async verify(
    key: CryptoKey,
    algorithm: object,
    encoded: () => Encoded,
    signature: Bytes,
    data: Bytes,
  ): Promise<boolean> {
    const own = await this.#of(key, algorithm, encoded, "verify");
    return this.#engine.verify(algorithm, own, signature, data);
  }

  #of(key: CryptoKey, algorithm: object, encoded: () => Encoded, usage: Usage): Promise<unknown> {
    let own = this.#keys.get(key);
    if (own === undefined) {
      const { format, bytes } = encoded();
      // A secret key of HMAC does both.
      const usages: Usage[] = format === "raw" ? ["sign", "verify"] : [usage];
      own = this.#engine.importKey(format, bytes, algorithm, false, usages);
      this.#keys.set(key, own);
    }
    return own;
  }
}

/** A key as the engine imports it. */
export interface Encoded {
  readonly format: "raw" | "spki" | "pkcs8";
  readonly bytes: Bytes;
}
