/** HKDF and PBKDF2 (Web Cryptography API, sections 32 and 33). */
import { hkdf, pbkdf2 } from "tenon:engine";
import {
  type Algorithm,
  hashNamed,
  hashOf,
  type Parameters,
  requiredBytes,
  requiredNumber,
  requireUsages,
  wrongFormat,
} from "./algorithm.ts";
import { type Bytes, withBlock } from "./block.ts";
import { operationError, syntaxError } from "./errors.ts";
import { secretKey, secretOf } from "./secret.ts";

function derivation(
  name: string,
  derive: (parameters: Parameters, secret: Bytes, length: number) => Bytes | undefined,
): Algorithm {
  return {
    name,
    keyLength: () => null,
    importKey(data, _parameters, wanted) {
      if (data.format !== "raw") throw wrongFormat(data.format, name);
      requireUsages(wanted, ["deriveKey", "deriveBits"], name);
      if (wanted.extractable) throw syntaxError(`a key of ${name} cannot be extractable`);
      return secretKey(data.bytes, { name }, wanted);
    },
    deriveBits(parameters, key, length) {
      if (length === null || length % 8 !== 0) throw operationError(`${name} derives whole bytes`);
      const output = derive(parameters, secretOf(key), length / 8);
      if (output === undefined) throw operationError(`the parameters of ${name} are not valid`);
      return output;
    },
  };
}

/** The algorithms. */
export const derivations: readonly Algorithm[] = [
  derivation("HKDF", (parameters, secret, length) => {
    const [salt, info] = [requiredBytes(parameters, "salt"), requiredBytes(parameters, "info")];
    const { number, size } = hashOf(hashNamed(parameters));
    if (length > 255 * size) throw operationError(`HKDF derives ${255 * size} bytes at most from this hash function`);
    return withBlock(
      [secret, salt, info, length],
      (block) => hkdf(block, number, secret.length, salt.length, info.length, length),
      ({ part }) => part(3),
    );
  }),
  derivation("PBKDF2", (parameters, secret, length) => {
    const salt = requiredBytes(parameters, "salt");
    const rounds = requiredNumber(parameters, "iterations", 2 ** 32 - 1);
    if (rounds === 0) throw operationError('"iterations" of PBKDF2 is 0');
    const { number } = hashOf(hashNamed(parameters));
    return withBlock(
      [secret, salt, length],
      (block) => pbkdf2(block, number, secret.length, salt.length, rounds, length),
      ({ part }) => part(2),
    );
  }),
];
