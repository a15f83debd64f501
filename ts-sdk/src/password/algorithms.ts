/** The functions that hash passwords, their parameters, and the limits of parameters that come from outside. */
import * as crypto from "node:crypto";
import { argon2id } from "@noble/hashes/argon2.js";
import type { Phc } from "./phc.ts";

/** The functions that hash passwords. */
export type PasswordAlgorithm = "scrypt" | "argon2id";

type Parameters = Readonly<Record<string, number>>;

/** OWASP's parameters ("Password Storage Cheat Sheet") that need the least memory: 16 MiB and 19 MiB. */
export const defaults: Readonly<Record<PasswordAlgorithm, Parameters>> = {
  scrypt: { ln: 14, r: 8, p: 5 },
  argon2id: { m: 19_456, t: 2, p: 1 },
};

/** The versions in PHC strings. */
export const VERSIONS: Readonly<Record<PasswordAlgorithm, string | undefined>> = { scrypt: undefined, argon2id: "19" };

/** Reports whether a hash has exactly the parameters of its algorithm, within limits of memory and time. */
export function isAllowed({ algorithm, parameters, salt, hash }: Phc): boolean {
  if (salt.length < 8 || salt.length > 64 || hash.length < 16 || hash.length > 64) return false;
  if (Object.keys(parameters).sort().join() !== Object.keys(defaults[algorithm]).sort().join()) return false;
  const { ln = 0, m = 0, p = 0, r = 0, t = 0 } = parameters;
  // At most 128 MiB, and some ten times the time of the defaults.
  if (algorithm === "scrypt") {
    return (
      isWithin(ln, 10, 17) &&
      isWithin(r, 1, 32) &&
      isWithin(p, 1, 64) &&
      2 ** ln * r <= 2 ** 20 &&
      2 ** ln * r * p <= 2 ** 22
    );
  }
  return isWithin(p, 1, 16) && isWithin(m, 8 * p, 131_072) && isWithin(t, 1, 32) && m * t <= 393_216;
}

function isWithin(value: number, least: number, most: number): boolean {
  return value >= least && value <= most;
}

/** Computes the hash of a password. */
export function derive(
  algorithm: PasswordAlgorithm,
  password: Uint8Array,
  salt: Uint8Array,
  { ln = 0, m = 0, p = 1, r = 0, t = 0 }: Parameters,
  length: number,
): Uint8Array {
  if (algorithm === "argon2id") {
    const options = { message: password, nonce: salt, parallelism: p, tagLength: length, memory: m, passes: t };
    // Node has it from 24.7 on, and components always.
    const { argon2Sync } = crypto as unknown as { argon2Sync?: (name: string, given: object) => Uint8Array };
    return new Uint8Array(argon2Sync?.(algorithm, options) ?? argon2id(password, salt, { m, t, p, dkLen: length }));
  }
  const N = 2 ** ln;
  return new Uint8Array(crypto.scryptSync(password, salt, length, { N, r, p, maxmem: 256 * N * r + 2 ** 20 }));
}
