/** Ed25519 and X25519 (Web Cryptography API, sections 25 and 26). */
import { isBuilding } from "../../node/building.ts";
import { firstBits, otherKey } from "./agreement.ts";
import type { Algorithm, Format, KeyData, Wanted } from "./algorithm.ts";
import { base64url, fromBase64url } from "./bytes.ts";
import { type Bytes, type CoreModule, withBlock } from "./core-module.ts";
import { CryptoKey, materialOf } from "./crypto-key.ts";
import { isSame, Reader, readPkcs8, readSpki, tags, value, writePkcs8, writeSpki } from "./der.ts";
import { dataError, operationError } from "./errors.ts";
import { common, type JsonWebKey, requireFit } from "./jwk.ts";
import { keyPair, type PairUsages, requireFormat, requireImport } from "./key-pairs.ts";
import { randomBytes } from "./random.ts";

/** The functions of `crates/bridge/crypto/curves` for these curves. */
export interface MontgomeryModule extends CoreModule {
  ed25519_public(block: number): number;
  ed25519_sign(block: number, message: number): number;
  ed25519_verify(block: number, message: number): number;
  x25519_public(block: number): number;
  x25519_agree(block: number): number;
}

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

/** Returns the algorithms, computed by a module. */
export function montgomery(module: MontgomeryModule): Algorithm[] {
  const publicBy = (call: (block: number) => number) => (d: Bytes) =>
    withBlock(module, [d, 32], call, ({ part }) => part(1)) as Bytes;
  const ed25519: Algorithm = {
    ...keysOf({
      name: "Ed25519",
      oid: Uint8Array.of(0x2b, 0x65, 0x70),
      use: "sig",
      alg: ["Ed25519", "EdDSA"],
      ofPrivate: ["sign"],
      ofPublic: ["verify"],
      publicOf: publicBy((block) => module.ed25519_public(block)),
    }),
    async sign(_parameters, key, data) {
      const call = (block: number) => module.ed25519_sign(block, data.length);
      return withBlock(module, [materialOf(key)["d"] as Bytes, data, 64], call, ({ part }) => part(2)) as Bytes;
    },
    async verify(_parameters, key, signature, data) {
      if (signature.length !== 64) return false;
      const call = (block: number) => module.ed25519_verify(block, data.length);
      const parts = [materialOf(key)["x"] as Bytes, data, signature];
      return withBlock(module, parts, call, ({ result }) => result === 1) ?? false;
    },
  };
  const x25519: Algorithm = {
    ...keysOf({
      name: "X25519",
      oid: Uint8Array.of(0x2b, 0x65, 0x6e),
      use: "enc",
      ofPrivate: ["deriveKey", "deriveBits"],
      ofPublic: [],
      publicOf: publicBy((block) => module.x25519_public(block)),
    }),
    async deriveBits(parameters, key, length) {
      const parts = [materialOf(key)["d"], materialOf(otherKey(parameters, key))["x"]] as Bytes[];
      const call = (block: number) => module.x25519_agree(block);
      const secret = withBlock(module, [...parts, 32], call, ({ part }) => part(2));
      if (secret === undefined) throw operationError("the keys agree on no secret");
      return firstBits(secret, length);
    },
  };
  return [ed25519, x25519];
}

/** The operations on keys, which both algorithms share. */
function keysOf(kind: Kind): Algorithm {
  const { name, publicOf } = kind;
  const made = ({ d, x }: Numbers, { extractable, usages }: Wanted) =>
    new CryptoKey(d ? "private" : "public", extractable, { name }, usages, { ...(d && { d }), ...(x && { x }) });
  return {
    name,
    async generateKey(_parameters, wanted) {
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
      // At the top level of a build the module cannot be called.
      if (!isBuilding() && !isSame(publicOf(d), x))
        throw dataError(`the private key of ${name} has another public one`);
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
