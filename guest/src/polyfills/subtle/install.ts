/**
 * Puts a `crypto.subtle` with more algorithms into the place of the engine's. `with-symmetric.ts`, `with-curves.ts` and
 * `with-rsa.ts` add those that a core module computes, and are in a component only when its code names them.
 */
import { EngineKeys, type EngineSubtle } from "./engine.ts";
import { hmac } from "./hmac.ts";
import { Algorithms, SubtleCrypto } from "./subtle-crypto.ts";

/** The engine's own. */
export const engine = crypto.subtle as unknown as EngineSubtle;
export const keys = new EngineKeys(engine);
export const algorithms = new Algorithms();

algorithms.add([hmac(keys)]);
Object.defineProperty(crypto, "subtle", {
  value: new SubtleCrypto(engine, algorithms),
  configurable: true,
  enumerable: true,
});
