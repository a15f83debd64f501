/**
 * DER (X.690) of public keys (`SubjectPublicKeyInfo`, RFC 5280) and private ones (`PrivateKeyInfo`, RFC 5208 and 5958), as far as
 * `spki` and `pkcs8` need it.
 */

import type { Bytes } from "./block.ts";
import { concatenated } from "./bytes.ts";
import { dataError } from "./errors.ts";

export const tags = { integer: 0x02, bits: 0x03, octets: 0x04, null: 0x05, oid: 0x06, sequence: 0x30 } as const;
/** The tag of an optional member, which stands around it. */
export const optional = (number: number): number => 0xa0 + number;

const invalid = () => dataError("the key is not valid DER");

/** Reads values one after the other. */
export class Reader {
  readonly #bytes: Bytes;
  #at = 0;

  constructor(bytes: Bytes) {
    this.#bytes = bytes;
  }

  /** The tag of the next value; undefined at the end. */
  get next(): number | undefined {
    return this.#bytes[this.#at];
  }

  /** Reads the content of a value. */
  read(tag: number): Bytes {
    if (this.next !== tag) throw invalid();
    this.#at++;
    const length = this.#length();
    const end = this.#at + length;
    if (end > this.#bytes.length) throw invalid();
    const content = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return content;
  }

  /** Reads a value that contains others. */
  inside(tag: number): Reader {
    return new Reader(this.read(tag));
  }

  /** Reads a number that is not negative, as its bytes without a leading zero. */
  integer(): Bytes {
    const content = this.read(tags.integer);
    const [first, second = 0x80] = content;
    if (first === undefined || first >= 0x80 || (first === 0 && content.length > 1 && second < 0x80)) throw invalid();
    return first === 0 && content.length > 1 ? content.subarray(1) : content;
  }

  /** Reads a string of whole bytes. */
  bits(): Bytes {
    const content = this.read(tags.bits);
    if (content[0] !== 0) throw invalid();
    return content.subarray(1);
  }

  end(): void {
    if (this.next !== undefined) throw invalid();
  }

  #length(): number {
    const first = this.#bytes[this.#at++];
    if (first === undefined) throw invalid();
    if (first < 0x80) return first;
    const count = first - 0x80;
    if (count < 1 || count > 3) throw invalid();
    let length = 0;
    for (let i = 0; i < count; i++) length = length * 256 + (this.#bytes[this.#at++] ?? 0);
    // A shorter form must not be possible.
    if (length < 0x80 || length < 2 ** (8 * (count - 1))) throw invalid();
    return length;
  }
}

/** Encodes a value. */
export function value(tag: number, ...contents: readonly Uint8Array[]): Bytes {
  const content = concatenated(contents);
  const { length } = content;
  const sizes = [length >>> 16, (length >>> 8) & 255, length & 255];
  while (sizes[0] === 0) sizes.shift();
  const head = length < 0x80 ? [tag, length] : [tag, 0x80 + sizes.length, ...sizes];
  return concatenated([Uint8Array.from(head), content]);
}

export const sequence = (...contents: readonly Uint8Array[]): Bytes => value(tags.sequence, ...contents);

/** Encodes a number that is not negative, given without leading zeros. */
export function integer(number: Uint8Array): Bytes {
  const isHigh = (number[0] ?? 0) >= 0x80;
  return value(
    tags.integer,
    isHigh ? Uint8Array.of(0) : new Uint8Array(),
    number.length > 0 ? number : Uint8Array.of(0),
  );
}

/** Encodes a string of whole bytes. */
export const bits = (content: Uint8Array): Bytes => value(tags.bits, Uint8Array.of(0), content);

/** A key in one of the two formats, taken apart. */
export interface Encoded {
  /** The object identifier of the algorithm, encoded. */
  readonly oid: Bytes;
  /** The parameters of the algorithm. */
  readonly parameters: Reader;
  readonly key: Bytes;
}

export function readSpki(bytes: Bytes): Encoded {
  const outer = new Reader(bytes);
  const info = outer.inside(tags.sequence);
  outer.end();
  const parameters = info.inside(tags.sequence);
  const oid = parameters.read(tags.oid);
  const key = info.bits();
  info.end();
  return { oid, parameters, key };
}

export function readPkcs8(bytes: Bytes): Encoded {
  const outer = new Reader(bytes);
  const info = outer.inside(tags.sequence);
  outer.end();
  const [version = 2] = info.integer();
  if (version > 1) throw invalid();
  const parameters = info.inside(tags.sequence);
  const oid = parameters.read(tags.oid);
  const key = info.read(tags.octets);
  // Attributes and a public key may follow.
  return { oid, parameters, key };
}

/** @param algorithm the object identifier and the parameters, encoded */
export const writeSpki = (algorithm: readonly Uint8Array[], key: Uint8Array): Bytes =>
  sequence(sequence(...algorithm), bits(key));

/** @param algorithm the object identifier and the parameters, encoded */
export const writePkcs8 = (algorithm: readonly Uint8Array[], key: Uint8Array): Bytes =>
  sequence(integer(Uint8Array.of(0)), sequence(...algorithm), value(tags.octets, key));

/** Reports whether two values are the same. Only for public ones: the time depends on the content. */
export const isSame = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, index) => byte === b[index]);
