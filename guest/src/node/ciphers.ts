/** Ciphers of `node:crypto`: AES in the modes GCM, CBC and CTR, computed by compiled functions. They are no streams. */
import { Buffer } from "./buffer.ts";
import { type Bytes, bytesOf, type Data, type KeyObject, outputOf, timingSafeEqual } from "./crypto-data.ts";
import { symmetric as compiled, type Symmetric } from "./symmetric.ts";

const nameOf = /^aes-?(128|192|256)-(gcm|cbc|ctr)$/;

export const getCiphers = (): string[] =>
  ["cbc", "ctr", "gcm"].flatMap((mode) => [128, 192, 256].map((bits) => `aes-${bits}-${mode}`));

const refused = (error: Error, code: string) => Object.assign(error, { code: `ERR_${code}` });

/** A cipher's state: one mode, one key, one direction. */
interface Mode {
  update(data: Bytes): Uint8Array;
  final(): Uint8Array;
  /** Sets the additional data of GCM. */
  extra?: Uint8Array;
  /** The tag: computed when a cipher ends, and set before a decipher ends. */
  tag?: Uint8Array;
  padded?: boolean;
}

/** The part of Node's options that is used. */
export interface CipherOptions {
  readonly authTagLength?: number;
}

interface Arguments {
  readonly symmetric: Symmetric;
  readonly key: Bytes;
  readonly start: Bytes;
  readonly isSealing: boolean;
  readonly tagLength: number;
}

/** A cipher in progress. */
class Running {
  readonly #mode: Mode;
  readonly #isSealing: boolean;
  #isFinal = false;

  constructor(mode: Mode, isSealing: boolean) {
    this.#mode = mode;
    this.#isSealing = isSealing;
  }

  update(data: Data, inputEncoding?: string, outputEncoding?: string): unknown {
    this.#requireOpen("update");
    return outputOf(this.#mode.update(bytesOf(data, inputEncoding)), outputEncoding);
  }

  final(outputEncoding?: string): unknown {
    this.#requireOpen("final");
    this.#isFinal = true;
    return outputOf(this.#mode.final(), outputEncoding);
  }

  setAutoPadding(padded = true): this {
    this.#requireOpen("setAutoPadding");
    this.#mode.padded = padded;
    return this;
  }

  setAAD(extra: Data): this {
    this.#requireOpen("setAAD");
    this.#mode.extra = bytesOf(extra).slice();
    return this;
  }

  getAuthTag(): Bytes {
    if (!this.#isFinal || !this.#isSealing || this.#mode.tag === undefined) throw this.#invalid("getAuthTag");
    return Buffer.from(this.#mode.tag);
  }

  setAuthTag(tag: Data, encoding?: string): this {
    this.#requireOpen("setAuthTag");
    if (this.#isSealing) throw this.#invalid("setAuthTag");
    this.#mode.tag = bytesOf(tag, encoding).slice();
    return this;
  }

  #requireOpen(what: string): void {
    if (this.#isFinal) throw this.#invalid(what);
  }

  #invalid(what: string): Error {
    return refused(new Error(`Invalid state for operation ${what}`), "CRYPTO_INVALID_STATE");
  }
}

export class Cipheriv extends Running {}
export class Decipheriv extends Running {}

/** Returns the functions, computed by compiled ones. */
export function ciphersBy(symmetric: Symmetric | undefined) {
  const begin = (
    name: string,
    key: Data | KeyObject,
    iv: Data | null,
    isSealing: boolean,
    options: CipherOptions,
  ): Mode => {
    const [, bits, mode] = nameOf.exec(String(name).toLowerCase()) ?? [];
    if (mode === undefined) throw refused(new RangeError(`Unknown cipher: ${name}`), "CRYPTO_UNKNOWN_CIPHER");
    if (symmetric === undefined)
      throw new Error("the build brings ciphers of node:crypto where code names createCipheriv or createDecipheriv");
    const [secret, start] = [bytesOf(key).slice(), bytesOf(iv ?? new Uint8Array()).slice()];
    if (secret.length * 8 !== Number(bits))
      throw refused(new RangeError("Invalid key length"), "CRYPTO_INVALID_KEYLEN");
    const isRight = mode === "gcm" ? start.length > 0 : start.length === 16;
    if (!isRight) throw refused(new TypeError("Invalid initialization vector"), "CRYPTO_INVALID_IV");
    const tagLength = options.authTagLength ?? 16;
    if (mode === "gcm" && ![4, 8, 12, 13, 14, 15, 16].includes(tagLength))
      throw refused(new TypeError(`Invalid authentication tag length: ${tagLength}`), "CRYPTO_INVALID_AUTH_TAG");
    const given = { symmetric, key: secret, start, isSealing, tagLength };
    return mode === "gcm"
      ? gcm(given)
      : mode === "cbc"
        ? cbc(given)
        : { ...counting(given, start, 128), final: nothing };
  };
  return {
    createCipheriv: (name: string, key: Data | KeyObject, iv: Data | null, options: CipherOptions = {}): Cipheriv =>
      new Cipheriv(begin(name, key, iv, true, options), true),
    createDecipheriv: (name: string, key: Data | KeyObject, iv: Data | null, options: CipherOptions = {}): Decipheriv =>
      new Decipheriv(begin(name, key, iv, false, options), false),
  };
}

export const { createCipheriv, createDecipheriv } = ciphersBy(compiled);

const nothing = () => new Uint8Array();

/** Encrypts and decrypts with a counter, which goes on from piece to piece. */
function counting({ symmetric, key }: Arguments, start: Bytes, bits: number): Pick<Mode, "update"> {
  let done = 0;
  return {
    update(data) {
      const counter = advanced(start, Math.floor(done / 16), bits);
      const skipped = done % 16;
      done += data.length;
      const call = (block: Uint8Array) => symmetric.ctr(block, key.length, bits, data.length, skipped);
      return symmetric.withBlock([key, counter, data], call, ({ part }) => part(2)) as Bytes;
    },
  };
}

/** Adds to the counter in the last bits of a block. */
function advanced(block: Bytes, count: number, bits: number): Bytes {
  const next = block.slice();
  let carry = count;
  for (let at = 15; at >= 16 - bits / 8 && carry > 0; at--) {
    const sum = (next[at] as number) + (carry % 256);
    next[at] = sum & 255;
    carry = Math.floor(carry / 256) + (sum >> 8);
  }
  return next;
}

function gcm(given: Arguments): Mode {
  const { symmetric, key, start, isSealing, tagLength } = given;
  const call = (block: Uint8Array) => symmetric.gcmCounter(block, key.length, start.length);
  const first = symmetric.withBlock([key, start, 16], call, ({ part }) => part(2)) as Bytes;
  const stream = counting(given, advanced(first, 1, 32), 32);
  const sealed: Uint8Array[] = [];
  const tagOf = (extra: Uint8Array, length: number) => {
    const data = Buffer.concat(sealed);
    const sizes = [key.length, start.length, extra.length, data.length, length] as const;
    const parts = [key, start, extra, data, length];
    return symmetric.withBlock(
      parts,
      (block) => symmetric.gcmTag(block, ...sizes),
      ({ part }) => part(4),
    ) as Bytes;
  };
  return {
    update(data) {
      const output = stream.update(data);
      sealed.push(isSealing ? output : data.slice());
      return output;
    },
    final() {
      const extra = this.extra ?? new Uint8Array();
      if (isSealing) {
        this.tag = tagOf(extra, tagLength);
        return nothing();
      }
      const given = this.tag ?? new Uint8Array();
      const isOne = given.length >= 4 && given.length <= 16;
      if (!isOne || !timingSafeEqual(tagOf(extra, given.length), given))
        throw new Error("Unsupported state or unable to authenticate data");
      return nothing();
    },
  };
}

function cbc({ symmetric, key, start, isSealing }: Arguments): Mode {
  let vector = start;
  let left: Bytes = new Uint8Array();
  const call = (data: Bytes, padded: boolean): Uint8Array => {
    const parts = isSealing ? [key, vector, data, 16] : [key, vector, data];
    const run = isSealing ? symmetric.cbcEncrypt : symmetric.cbcDecrypt;
    const own = (block: Uint8Array) => run(block, key.length, data.length, padded ? 1 : 0);
    // The padding follows the data.
    return symmetric.withBlock(parts, own, ({ result, part }) => part(2, result)) as Bytes;
  };
  return {
    padded: true,
    update(data) {
      const all: Bytes = Buffer.concat([left, data]);
      // The last block has the padding.
      const isKept = !isSealing && this.padded;
      const whole = Math.max(0, Math.floor((all.length - (isKept ? 1 : 0)) / 16)) * 16;
      left = all.slice(whole);
      if (whole === 0) return nothing();
      const input = all.slice(0, whole);
      const output = call(input, false);
      vector = (isSealing ? output : input).slice(-16) as Bytes;
      return output;
    },
    final() {
      const isWhole = left.length % 16 === 0;
      if (isSealing ? !(this.padded || isWhole) : !isWhole || (this.padded && left.length === 0))
        throw refused(new Error("wrong final block length"), "OSSL_WRONG_FINAL_BLOCK_LENGTH");
      if (left.length === 0 && !this.padded) return nothing();
      try {
        return call(left, this.padded === true);
      } catch {
        throw refused(new Error("bad decrypt"), "OSSL_BAD_DECRYPT");
      }
    },
  };
}
