/** See `hashes.ts`. The engine computes the hashes that it has. */
import { copyDigest, finishDigest, type NativeDigest, newDigest, timingSafeEqual, updateDigest } from "tenon:engine";
import { begin as beginInJavaScript, type Running } from "./hashes.ts";

export { hashes, type Running } from "./hashes.ts";

/** The engine's numbers of hash functions. */
const numbers: Readonly<Record<string, number>> = {
  md5: 5,
  sha1: 1,
  sha224: 224,
  sha256: 256,
  sha384: 384,
  sha512: 512,
};

class NativeRunning implements Running {
  readonly #digest: NativeDigest;

  constructor(digest: NativeDigest) {
    this.#digest = digest;
  }

  update(data: Uint8Array): void {
    updateDigest(this.#digest, data);
  }

  digest(): Uint8Array {
    return finishDigest(this.#digest);
  }

  clone(): Running {
    return new NativeRunning(copyDigest(this.#digest));
  }
}

export function begin(name: string, key?: Uint8Array): Running {
  const number = numbers[name];
  return number === undefined ? beginInJavaScript(name, key) : new NativeRunning(newDigest(number, key));
}

export const isSame = timingSafeEqual;
