/** The numbers of a key of RSA, and their formats. */
import type { Format, KeyData, Wanted } from "./algorithm.ts";
import { wrongFormat } from "./algorithm.ts";
import type { Bytes } from "./block.ts";
import { base64url, fromBase64url, trimmed } from "./bytes.ts";
import { type CryptoKey, materialOf } from "./crypto-key.ts";
import { integer, isSame, Reader, readPkcs8, readSpki, sequence, tags, value, writePkcs8, writeSpki } from "./der.ts";
import { dataError, notSupported } from "./errors.ts";
import { common, type Expected, type JsonWebKey, requireFit } from "./jwk.ts";
import { requireFormat } from "./key-pairs.ts";

/** The names of the numbers in a JSON Web Key; those after the exponent belong to a private key. */
const members = ["n", "e", "d", "p", "q", "dp", "dq", "qi"] as const;
const publicMembers = ["n", "e"] as const;

/** Numbers without leading zeros. */
export type RsaNumbers = { readonly n: Bytes; readonly e: Bytes } & {
  readonly [member in Exclude<(typeof members)[number], "n" | "e">]?: Bytes;
};

/** `rsaEncryption` (RFC 8017), with its parameters. */
const oid = Uint8Array.of(0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1);
const algorithm = [value(tags.oid, oid), value(tags.null)];

/** The numbers of a key. */
export const numbersOf = (key: CryptoKey): RsaNumbers => materialOf(key) as unknown as RsaNumbers;

export function readRsa(data: KeyData, name: string, expected: Omit<Expected, "kty">, wanted: Wanted): RsaNumbers {
  switch (data.format) {
    case "spki":
    case "pkcs8": {
      const isPrivate = data.format === "pkcs8";
      const encoded = isPrivate ? readPkcs8(data.bytes) : readSpki(data.bytes);
      if (!isSame(encoded.oid, oid)) throw dataError("the key is not one of RSA");
      const outer = new Reader(encoded.key);
      const numbers = outer.inside(tags.sequence);
      outer.end();
      if (isPrivate && numbers.integer()[0] !== 0) throw notSupported("a key of RSA has two primes");
      const names = isPrivate ? members : publicMembers;
      const read = Object.fromEntries(names.map((member) => [member, numbers.integer()]));
      numbers.end();
      return read as RsaNumbers;
    }
    case "jwk": {
      const { jwk } = data;
      requireFit(jwk, { kty: "RSA", ...expected }, wanted);
      if (jwk["oth"] !== undefined) throw notSupported("a key of RSA has two primes");
      const names = jwk["d"] === undefined ? publicMembers : members;
      const read = names.map((member) => {
        const bytes = fromBase64url(jwk[member], member);
        if (bytes.length === 0) throw dataError(`the member "${member}" of the JSON Web Key is empty`);
        return [member, trimmed(bytes)];
      });
      return Object.fromEntries(read) as RsaNumbers;
    }
    case "raw":
      throw wrongFormat(data.format, name);
  }
}

export function writeRsa(format: Format, key: CryptoKey, alg: string): Bytes | JsonWebKey {
  const numbers = numbersOf(key);
  const isPrivate = key.type === "private";
  const names = isPrivate ? members : publicMembers;
  if (format === "jwk") {
    const written = names.map((member) => [member, base64url(numbers[member] as Bytes)]);
    return { kty: "RSA", alg, ...Object.fromEntries(written), ...common(key) };
  }
  if (format === "raw") throw wrongFormat(format, key.algorithm.name);
  requireFormat(format, key);
  const encoded = names.map((member) => integer(numbers[member] as Bytes));
  if (!isPrivate) return writeSpki(algorithm, sequence(...encoded));
  return writePkcs8(algorithm, sequence(integer(Uint8Array.of(0)), ...encoded));
}
