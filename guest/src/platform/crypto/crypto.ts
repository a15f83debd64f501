/**
 * `Crypto` (Web Cryptography API, section 10): random values, and `crypto.subtle`. At the top level of a build the host refuses
 * random values, and the build may begin again with a seed (`polyfills/random-while-building.ts`).
 */
import { fillRandom, randomUuid } from "tenon:engine";
import { QuotaExceededError } from "./quota-exceeded.ts";
import type { SubtleCrypto } from "./subtle-crypto.ts";

const { isView } = ArrayBuffer;
const { getPrototypeOf, getOwnPropertyDescriptor } = Object;
/** Returns the name of a typed array's class, which code cannot change. */
const typeOf = getOwnPropertyDescriptor(getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag)?.get as (
  this: unknown,
) => string | undefined;

/** The argument without which the constructor throws. */
const internal = Symbol();

export class Crypto {
  readonly #subtle: SubtleCrypto;

  constructor(...given: unknown[]) {
    if (given[0] !== internal) throw new TypeError("Illegal constructor");
    this.#subtle = given[1] as SubtleCrypto;
  }

  get subtle(): SubtleCrypto {
    return this.#subtle;
  }

  getRandomValues<View>(array: View): View {
    this.#subtle;
    const type = isView(array) ? typeOf.call(array) : undefined;
    if (type === undefined && !isView(array))
      throw new TypeError("crypto.getRandomValues(): the argument must be a typed array");
    if (type === undefined || type.startsWith("Float"))
      throw new DOMException("crypto.getRandomValues(): the typed array must be one of integers", "TypeMismatchError");
    const view = array as unknown as Uint8Array<ArrayBuffer>;
    const { byteLength } = view;
    if (byteLength > 65_536)
      throw new QuotaExceededError(`crypto.getRandomValues(): ${byteLength} bytes are more than 65536`);
    fillRandom(type === "Uint8Array" ? view : new Uint8Array(view.buffer, view.byteOffset, byteLength));
    return array;
  }

  randomUUID(): string {
    this.#subtle;
    return randomUuid();
  }
}

export const makeCrypto = (subtle: SubtleCrypto): Crypto => new Crypto(internal, subtle);
