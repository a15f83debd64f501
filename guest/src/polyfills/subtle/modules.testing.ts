/** The core modules in Node, with the memory that an imported module has in a component. */
import { webcrypto } from "node:crypto";
import { fileURLToPath } from "node:url";
import { instantiate } from "../../../../ts-sdk/src/testing/wasm.ts";
import { type AesModule, aes } from "./aes.ts";
import type { Bytes } from "./core-module.ts";
import { type DeriveModule, derivations } from "./derive.ts";
import { EngineKeys, type EngineSubtle } from "./engine.ts";
import { hmac } from "./hmac.ts";
import { type MontgomeryModule, montgomery } from "./montgomery.ts";
import { type RsaModule, rsa } from "./rsa.ts";
import { Algorithms, SubtleCrypto } from "./subtle-crypto.ts";
import { type WeierstrassModule, weierstrass } from "./weierstrass.ts";

/** Instantiates a module, which imports nothing. */
async function coreModule<Module>(name: string): Promise<Module> {
  const file = new URL(`../../../../crates/bridge/crypto/${name}.wasm`, import.meta.url);
  return (await instantiate(fileURLToPath(file))) as Module;
}

export const symmetric = await coreModule<AesModule & DeriveModule>("symmetric");
export const curves = await coreModule<WeierstrassModule & MontgomeryModule>("curves");
export const rsaModule = await coreModule<RsaModule>("rsa");

/** Node's own. */
export const native = webcrypto.subtle;

const engine = native as unknown as EngineSubtle;
const keys = new EngineKeys(engine);
const algorithms = new Algorithms();
algorithms.add([hmac(keys), ...aes(symmetric), ...derivations(symmetric)]);
algorithms.add([...weierstrass(curves, engine), ...montgomery(curves), ...rsa(rsaModule, engine, keys)]);

/** The one of a component, with all algorithms. */
export const subtle = new SubtleCrypto(engine, algorithms) as unknown as typeof native;

/** Returns the name of the exception that a promise rejects with, or undefined. */
export const failure = (promise: Promise<unknown>): Promise<string | undefined> =>
  promise.then(
    () => undefined,
    (error: Error) => error.name,
  );

/** A generator of random values that repeats itself (mulberry32). */
export function seeded(seed: number): { number(below: number): number; bytes(length: number): Bytes } {
  let state = seed;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return (value ^ (value >>> 14)) >>> 0;
  };
  return {
    number: (below) => next() % below,
    bytes: (length) => Uint8Array.from({ length }, () => next() & 255),
  };
}

/** Changes one bit. */
export function flip(bytes: Uint8Array, index: number, bit = 0): void {
  bytes[index] = (bytes[index] as number) ^ (1 << bit);
}

export const hex = (data: ArrayBuffer | Uint8Array): string => Buffer.from(data as Uint8Array).toString("hex");
export const unhex = (text: string): Bytes => Uint8Array.from(Buffer.from(text.replace(/\s/g, ""), "hex"));
