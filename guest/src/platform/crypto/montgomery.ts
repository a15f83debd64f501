/** Ed25519 and X25519 (Web Cryptography API, sections 25 and 26). */
import { ed25519Public, ed25519Sign, ed25519Verify, x25519Agree, x25519Public } from "tenon:engine";
import { firstBits, otherKey } from "./agreement.ts";
import type { Algorithm, Format, KeyData, Wanted } from "./algorithm.ts";
import { type Bytes, withBlock } from "./block.ts";
import { base64url, fromBase64url } from "./bytes.ts";
import { type CryptoKey, makeKey, materialOf } from "./crypto-key.ts";
import { isSame, Reader, readPkcs8, readSpki, tags, value, writePkcs8, writeSpki } from "./der.ts";
import { dataError, operationError } from "./errors.ts";
import { common, type JsonWebKey, requireFit } from "./jwk.ts";
import { keyPair, type PairUsages, requireFormat, requireImport } from "./key-pairs.ts";
import { randomBytes } from "./random.ts";

/** An algorithm, whose keys are of one curve. */
interface Kind extends PairUsages {
  /** The object identifier (RFC 8410). */
  readonly oid: Uint8Array;
  readonly use: "sig" | "enc";
  /** The values of `alg` in a JSON Web Key; undefined when any one will do. */
  readonly alg?: readonly string[];
  /** Computes the public key of a private one. */
  readonly publicOf: (d: Bytes) => Bytes;
}

/** The operations on keys, which both algorithms share. */
function keysOf(kind: Kind): Algorithm {
  const { name, publicOf } = kind;
  const made = ({ d, x }: Numbers, { extractable, usages }: Wanted) =>
    makeKey(d ? "private" : "public", extractable, { name }, usages, { ...(d && { d }), ...(x && { x }) });
  return {
    name,
    generateKey(_parameters, wanted) {
      return keyPair(kind, wanted, (ofPublic, ofPrivate) => {
        const d = randomBytes(32, "generateKey()");
        const x = publicOf(d);
        return { publicKey: made({ x }, ofPublic), privateKey: made({ d, x }, ofPrivate) };
      });
    },
    importKey(data, _parameters, wanted) {
      requireImport(data, kind, wanted);
      return made(read(data, kind, wanted), wanted);
    },
    exportKey: (format, key) => write(format, key, kind),
  };
}

interface Numbers {
  readonly d?: Bytes;
  /** Absent in private keys of `pkcs8`. */
  readonly x?: Bytes;
}

function read(data: KeyData, { name, oid: expected, use, alg, publicOf }: Kind, wanted: Wanted): Numbers {
  const checked = (bytes: Bytes) => {
    if (bytes.length !== 32) throw dataError(`a key of ${name} has 32 bytes, not ${bytes.length}`);
    return bytes;
  };
  switch (data.format) {
    case "raw":
      return { x: checked(data.bytes) };
    case "spki":
    case "pkcs8": {
      const { oid, parameters, key } = data.format === "spki" ? readSpki(data.bytes) : readPkcs8(data.bytes);
      if (!isSame(oid, expected)) throw dataError(`the key is not one of ${name}`);
      parameters.end();
      if (data.format === "spki") return { x: checked(key) };
      const inner = new Reader(key);
      const d = checked(inner.read(tags.octets));
      inner.end();
      return { d };
    }
    case "jwk": {
      const { jwk } = data;
      requireFit(jwk, { kty: "OKP", use, alg }, wanted);
      if (jwk["crv"] !== name) throw dataError(`the member "crv" of the JSON Web Key is not "${name}"`);
      const x = checked(fromBase64url(jwk["x"], "x"));
      if (jwk["d"] === undefined) return { x };
      const d = checked(fromBase64url(jwk["d"], "d"));
      if (!isSame(publicOf(d), x)) throw dataError(`the private key of ${name} has another public one`);
      return { d, x };
    }
  }
}

function write(format: Format, key: CryptoKey, { name, oid, alg, publicOf }: Kind): Bytes | JsonWebKey {
  const { d, x = publicOf(d as Bytes) } = materialOf(key);
  if (format === "jwk")
    return {
      kty: "OKP",
      crv: name,
      x: base64url(x),
      ...(d && { d: base64url(d) }),
      ...(alg && { alg: alg[0] }),
      ...common(key),
    };
  requireFormat(format, key);
  const algorithm = [value(tags.oid, oid)];
  if (d !== undefined) return writePkcs8(algorithm, value(tags.octets, d));
  return format === "raw" ? x.slice() : writeSpki(algorithm, x);
}

const publicBy = (call: (block: Uint8Array) => number) => (d: Bytes) =>
  withBlock([d, 32], call, ({ part }) => part(1)) as Bytes;
const ed25519: Algorithm = {
  ...keysOf({
    name: "Ed25519",
    oid: Uint8Array.of(0x2b, 0x65, 0x70),
    use: "sig",
    alg: ["Ed25519", "EdDSA"],
    ofPrivate: ["sign"],
    ofPublic: ["verify"],
    publicOf: publicBy(ed25519Public),
  }),
  sign(_parameters, key, data) {
    const call = (block: Uint8Array) => ed25519Sign(block, data.length);
    return withBlock([materialOf(key)["d"] as Bytes, data, 64], call, ({ part }) => part(2)) as Bytes;
  },
  verify(_parameters, key, signature, data) {
    if (signature.length !== 64) return false;
    const call = (block: Uint8Array) => ed25519Verify(block, data.length);
    const parts = [materialOf(key)["x"] as Bytes, data, signature];
    return withBlock(parts, call, ({ result }) => result === 1) ?? false;
  },
};
const x25519: Algorithm = {
  ...keysOf({
    name: "X25519",
    oid: Uint8Array.of(0x2b, 0x65, 0x6e),
    use: "enc",
    ofPrivate: ["deriveKey", "deriveBits"],
    ofPublic: [],
    publicOf: publicBy(x25519Public),
  }),
  deriveBits(parameters, key, length) {
    const parts = [materialOf(key)["d"], materialOf(otherKey(parameters, key))["x"]] as Bytes[];
    const secret = withBlock([...parts, 32], x25519Agree, ({ part }) => part(2));
    if (secret === undefined) throw operationError("the keys agree on no secret");
    return firstBits(secret, length);
  },
};

/** The algorithms. */
export const montgomery: readonly Algorithm[] = [ed25519, x25519];
