/** ECDSA and ECDH over P-256, P-384 and P-521 (Web Cryptography API, sections 23 and 24). */
import { ecAgree, ecCheck, ecExpand, ecPublic, ecSign, ecVerify } from "tenon:engine";
import { firstBits, otherKey } from "./agreement.ts";
import {
  type Algorithm,
  digestOf,
  type Format,
  hashNamed,
  type KeyData,
  type Parameters,
  type Wanted,
  wrongFormat,
} from "./algorithm.ts";
import { type Bytes, type Part, withBlock } from "./block.ts";
import { base64url, concatenated, fromBase64url } from "./bytes.ts";
import { type CryptoKey, makeKey, materialOf } from "./crypto-key.ts";
import {
  bits,
  isSame,
  optional,
  Reader,
  readPkcs8,
  readSpki,
  sequence,
  tags,
  value,
  writePkcs8,
  writeSpki,
} from "./der.ts";
import { dataError, notSupported, operationError } from "./errors.ts";
import { common, type JsonWebKey, requireFit } from "./jwk.ts";
import { keyPair, type PairUsages, requireFormat, requireImport } from "./key-pairs.ts";
import { randomBytes } from "./random.ts";

/** A curve: its number in the engine, the bytes of a field element, and its object identifier. */
interface Curve {
  readonly name: string;
  readonly number: number;
  readonly width: number;
  readonly oid: Uint8Array;
  /** The `alg` of its signatures in a JSON Web Key. */
  readonly alg: string;
}

const curves: readonly Curve[] = [
  { name: "P-256", number: 256, width: 32, alg: "ES256", oid: Uint8Array.of(0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7) },
  { name: "P-384", number: 384, width: 48, alg: "ES384", oid: Uint8Array.of(0x2b, 0x81, 4, 0, 0x22) },
  { name: "P-521", number: 521, width: 66, alg: "ES512", oid: Uint8Array.of(0x2b, 0x81, 4, 0, 0x23) },
];

/** `id-ecPublicKey` (RFC 5480). */
const keyOid = Uint8Array.of(0x2a, 0x86, 0x48, 0xce, 0x3d, 2, 1);

/** Calls a function, and reads a part of its block. */
function computed(parts: readonly Part[], index: number, call: (block: Uint8Array) => number) {
  const output = withBlock(parts, call, ({ part }) => part(index));
  if (output === undefined) throw operationError("the key is not valid for its curve");
  return output;
}

/** Public keys as points. */
class Points {
  readonly #derived = new WeakMap<CryptoKey, Bytes>();

  /** Returns a key's point; for a private key that was imported without one, computes it. */
  of(key: CryptoKey): Bytes {
    const { point, d } = materialOf(key);
    if (point !== undefined) return point;
    let derived = this.#derived.get(key);
    if (derived === undefined) {
      derived = this.from(d as Bytes, curveOf(key));
      if (derived === undefined) throw operationError("the private key is not valid for its curve");
      this.#derived.set(key, derived);
    }
    return derived;
  }

  /** Computes the point of a private key; undefined when it is not valid. */
  from(d: Bytes, { number, width }: Curve): Bytes | undefined {
    const call = (block: Uint8Array) => ecPublic(block, number);
    return withBlock([d, 1 + 2 * width], call, ({ part }) => part(1));
  }

  /** Refuses a key that is not valid. */
  check(d: Bytes | undefined, point: Bytes | undefined, curve: Curve): void {
    const invalid = () => dataError(`the key is not valid for the curve ${curve.name}`);
    if (d !== undefined) {
      const own = this.from(d, curve);
      if (own === undefined || (point !== undefined && !isSame(own, point))) throw invalid();
    } else if (point !== undefined) {
      const call = (block: Uint8Array) => ecCheck(block, curve.number);
      if (withBlock([point], call, () => true) === undefined) throw invalid();
    }
  }
}

/** The operations on keys, which both algorithms share. */
function keysOf(pair: PairUsages, points: Points): Algorithm {
  const { name } = pair;
  const made = (curve: Curve, d: Bytes | undefined, point: Bytes | undefined, { extractable, usages }: Wanted) => {
    const material = { ...(d && { d }), ...(point && { point }) };
    const algorithm = { name, namedCurve: curve.name };
    return makeKey(d ? "private" : "public", extractable, algorithm, usages, material);
  };
  return {
    name,
    generateKey(parameters, wanted) {
      const curve = curveNamed(parameters);
      return keyPair(pair, wanted, (ofPublic, ofPrivate) => {
        const { d, point } = generate(curve, points);
        return { publicKey: made(curve, undefined, point, ofPublic), privateKey: made(curve, d, point, ofPrivate) };
      });
    },
    importKey(data, parameters, wanted) {
      const curve = curveNamed(parameters);
      requireImport(data, pair, wanted);
      const { d, point } = read(data, curve, name, wanted);
      points.check(d, point, curve);
      return made(curve, d, point, wanted);
    },
    exportKey: (format, key) => write(format, key, points),
  };
}

function generate(curve: Curve, points: Points): { d: Bytes; point: Bytes } {
  for (;;) {
    const d = randomBytes(curve.width, "generateKey()");
    // The order of P-521 has 521 bits; those of the others fill their bytes.
    if (curve.number === 521) d[0] = (d[0] as number) & 1;
    const point = points.from(d, curve);
    if (point !== undefined) return { d, point };
  }
}

function curveNamed({ namedCurve }: Parameters): Curve {
  const found = curves.find(({ name }) => name === namedCurve);
  if (found === undefined) throw notSupported(`the curve ${String(namedCurve)} is not supported`);
  return found;
}

const curveOf = (key: CryptoKey): Curve => curveNamed(key.algorithm);

interface Numbers {
  readonly d?: Bytes;
  readonly point?: Bytes;
}

function read(data: KeyData, curve: Curve, name: string, wanted: Wanted): Numbers {
  switch (data.format) {
    case "raw":
      return { point: checkedPoint(data.bytes, curve) };
    case "spki": {
      const { oid, parameters, key } = readSpki(data.bytes);
      requireCurve(oid, parameters, curve);
      return { point: checkedPoint(key, curve) };
    }
    case "pkcs8": {
      const { oid, parameters, key } = readPkcs8(data.bytes);
      requireCurve(oid, parameters, curve);
      return readPrivate(key, curve);
    }
    case "jwk": {
      const { jwk } = data;
      const isSigning = name === "ECDSA";
      requireFit(jwk, { kty: "EC", use: isSigning ? "sig" : "enc", alg: isSigning ? curve.alg : undefined }, wanted);
      if (jwk["crv"] !== curve.name) throw dataError(`the member "crv" of the JSON Web Key is not "${curve.name}"`);
      const number = (member: string) => {
        const bytes = fromBase64url(jwk[member], member);
        if (bytes.length !== curve.width) throw dataError(`the member "${member}" has ${curve.width} bytes`);
        return bytes;
      };
      const point = concatenated([Uint8Array.of(4), number("x"), number("y")]);
      return jwk["d"] === undefined ? { point } : { point, d: number("d") };
    }
  }
}

/** Reads `ECPrivateKey` (RFC 5915). */
function readPrivate(key: Bytes, curve: Curve): Numbers {
  const outer = new Reader(key);
  const inner = outer.inside(tags.sequence);
  outer.end();
  if (inner.integer()[0] !== 1) throw dataError("the private key has an unknown version");
  const d = inner.read(tags.octets);
  if (d.length !== curve.width) throw dataError(`a private key of ${curve.name} has ${curve.width} bytes`);
  if (inner.next === optional(0)) {
    const named = inner.inside(optional(0));
    if (!isSame(named.read(tags.oid), curve.oid)) throw dataError(`the key is not one of ${curve.name}`);
  }
  if (inner.next !== optional(1)) return { d };
  return { d, point: checkedPoint(inner.inside(optional(1)).bits(), curve) };
}

function requireCurve(oid: Bytes, parameters: Reader, curve: Curve): void {
  if (!isSame(oid, keyOid) || !isSame(parameters.read(tags.oid), curve.oid))
    throw dataError(`the key is not one of ${curve.name}`);
}

/** Reads a point, and expands one that is compressed: it has a coordinate and the other one's sign (SEC 1, section 2.3.4). */
function checkedPoint(bytes: Bytes, { name, number, width }: Curve): Bytes {
  if (bytes.length === 1 + 2 * width && bytes[0] === 4) return bytes;
  if (bytes.length === 1 + width && (bytes[0] === 2 || bytes[0] === 3)) {
    const call = (block: Uint8Array) => ecExpand(block, number);
    const expanded = withBlock([bytes, 1 + 2 * width], call, ({ part }) => part(1));
    if (expanded === undefined) throw dataError(`the key is not valid for the curve ${name}`);
    return expanded;
  }
  throw dataError(
    `a public key of ${name} is a point of ${1 + 2 * width} bytes, or of ${1 + width} when it is compressed`,
  );
}

function write(format: Format, key: CryptoKey, points: Points): Bytes | JsonWebKey {
  const curve = curveOf(key);
  const point = points.of(key);
  const algorithm = [value(tags.oid, keyOid), value(tags.oid, curve.oid)];
  const d = materialOf(key)["d"];
  if (format === "jwk") {
    const [x, y] = [point.subarray(1, 1 + curve.width), point.subarray(1 + curve.width)].map(base64url);
    return { kty: "EC", crv: curve.name, x, y, ...(d && { d: base64url(d) }), ...common(key) };
  }
  requireFormat(format, key);
  if (format === "raw") return point.slice();
  if (format === "spki") return writeSpki(algorithm, point);
  if (d === undefined) throw wrongFormat(format, key.algorithm.name);
  const version = value(tags.integer, Uint8Array.of(1));
  return writePkcs8(algorithm, sequence(version, value(tags.octets, d), value(optional(1), bits(point))));
}

const points = new Points();

const ecdsa: Algorithm = {
  ...keysOf({ name: "ECDSA", ofPrivate: ["sign"], ofPublic: ["verify"] }, points),
  sign(parameters, key, data) {
    const { number, width } = curveOf(key);
    const digest = digestOf(hashNamed(parameters), data);
    const parts = [materialOf(key)["d"] as Bytes, digest, randomBytes(32, "sign()"), 2 * width];
    return computed(parts, 3, (block) => ecSign(block, number, digest.length));
  },
  verify(parameters, key, signature, data) {
    const { number, width } = curveOf(key);
    const digest = digestOf(hashNamed(parameters), data);
    if (signature.length !== 2 * width) return false;
    const parts = [points.of(key), digest, signature];
    const call = (block: Uint8Array) => ecVerify(block, number, digest.length);
    return withBlock(parts, call, ({ result }) => result === 1) ?? false;
  },
};
const ecdh: Algorithm = {
  ...keysOf({ name: "ECDH", ofPrivate: ["deriveKey", "deriveBits"], ofPublic: [] }, points),
  deriveBits(parameters, key, length) {
    const other = otherKey(parameters, key);
    const { number, width } = curveOf(key);
    const parts = [materialOf(key)["d"] as Bytes, points.of(other), width];
    return firstBits(
      computed(parts, 2, (block) => ecAgree(block, number)),
      length,
    );
  },
};

/** The algorithms. */
export const weierstrass: readonly Algorithm[] = [ecdsa, ecdh];
