/** `jwt`: verifies JSON Web Tokens (RFC 7519). */
import { decodeBase64, decodeBase64Url } from "../encoding/base64.ts";
import { encodeHex } from "../encoding/hex.ts";
import { isBytes } from "../http/bytes.ts";
import type { Request } from "../http/request.ts";
import { decodeUtf8, encodeUtf8, type PlatformKey, platform } from "../platform.ts";
import { refuseUnknown } from "../schema/unknown.ts";
import { credentials, unauthorized } from "./authenticate.ts";
import { BEARER } from "./bearer.ts";
import { hmac } from "./hmac.ts";
import { isKeySet, type KeySetCache, remoteSet } from "./key-set.ts";
import { middleware } from "./middleware.ts";
import { safeEqual } from "./safe-equal.ts";
import { keyKindOf } from "./secret-key.ts";
import type { Middleware } from "./types.ts";

/** The algorithms that {@link jwt} verifies (RFC 7518, section 3.1). */
export type JwtAlgorithm = "HS256" | "HS384" | "HS512" | "RS256" | "ES256";

/** A public key of RSA or of the curve P-256, or a secret, as a JSON Web Key (RFC 7517). */
// All members are optional, as in the types of the Web's and Node's JSON Web Keys, so that those fit.
export interface JsonWebKey {
  readonly kty?: string | undefined;
  readonly kid?: string | undefined;
  readonly alg?: string | undefined;
  readonly use?: string | undefined;
  readonly key_ops?: readonly string[] | undefined;
  /** The modulus and the exponent of RSA. */
  readonly n?: string | undefined;
  readonly e?: string | undefined;
  /** The curve and the point of EC. */
  readonly crv?: string | undefined;
  readonly x?: string | undefined;
  readonly y?: string | undefined;
  /** The secret of HS256, HS384 and HS512. */
  readonly k?: string | undefined;
}

/** A key of `crypto.subtle`, from `importKey` or `generateKey`. */
export interface SubtleKey {
  readonly type: string;
  readonly algorithm: { readonly name: string };
  readonly usages: readonly string[];
}

/** A set of keys (RFC 7517, section 5). */
export interface JsonWebKeySet {
  readonly keys: readonly JsonWebKey[];
}

/**
 * A key for {@link jwt}. For HS256, HS384 and HS512 a text or bytes are the secret, and a key of another kind in them (PEM, DER, a
 * JSON Web Key) is refused. For RS256 and ES256 they are a public key in PEM (`-----BEGIN PUBLIC KEY-----`).
 */
export type JwtKey = string | Uint8Array | JsonWebKey | SubtleKey;

/** The claims of a verified token (RFC 7519, section 4). */
export interface JwtClaims {
  readonly iss?: string;
  readonly sub?: string;
  readonly aud?: string | readonly string[];
  readonly exp?: number;
  readonly nbf?: number;
  readonly iat?: number;
  readonly jti?: string;
  readonly [claim: string]: unknown;
}

/** Options of {@link jwt}: `key` or `jwks`, and the algorithms. */
export interface JwtOptions {
  /** The key, or a function that returns it, as for a secret: `() => secret("JWT_KEY")`. */
  readonly key?: JwtKey | ((req: Request) => JwtKey | Promise<JwtKey>);
  /** A set of keys, or its URL, which `[outbound] allow` has to permit. */
  readonly jwks?: string | JsonWebKeySet;
  /**
   * The client of the sidecar `cache`, to keep a URL's set between requests, because each request has an instance of
   * its own by default. Anyone who can write the key `jwks:<url>` there decides which tokens are valid.
   */
  readonly cache?: KeySetCache;
  /** The accepted algorithms; a token with any other is refused, and one whose algorithm does not fit the key's kind. */
  readonly algorithms: readonly JwtAlgorithm[];
  /** The `iss` that a token must have. */
  readonly issuer?: string;
  /** The audience that a token's `aud` must name; one of them, for a list. */
  readonly audience?: string | readonly string[];
  /** Seconds by which clocks may differ; 0 by default. */
  readonly leeway?: number;
  /** The scheme of the header `Authorization`; `Bearer` by default. */
  readonly scheme?: string;
  /** Lets requests without a token through, whose `claims` are undefined. A token that is not valid is still refused. */
  readonly optional?: boolean;
}

/** The context of {@link jwt} with `optional`. */
export interface WithOptionalClaims {
  claims: JwtClaims | undefined;
}

/** The context of {@link jwt}. */
export interface WithClaims {
  claims: JwtClaims;
}

/** An algorithm's parameters for `crypto.subtle`, and the type of its key. */
interface Algorithm {
  readonly kty: "oct" | "RSA" | "EC";
  readonly hash: "SHA-256" | "SHA-384" | "SHA-512";
  readonly name?: string;
}

/** The algorithms, for signing as well. */
export const ALGORITHMS: Readonly<Record<JwtAlgorithm, Algorithm>> = {
  HS256: { kty: "oct", hash: "SHA-256" },
  HS384: { kty: "oct", hash: "SHA-384" },
  HS512: { kty: "oct", hash: "SHA-512" },
  RS256: { kty: "RSA", hash: "SHA-256", name: "RSASSA-PKCS1-v1_5" },
  ES256: { kty: "EC", hash: "SHA-256", name: "ECDSA" },
};

/** The longest token that is parsed, in characters. */
const MAX_TOKEN = 16_384;

/**
 * Authenticates by a signed JSON Web Token (RFC 7519) of `Authorization: Bearer …`; handlers find its `claims` in their
 * context. Signature, `exp` and `nbf` are always checked, `iss` and `aud` if the options name them. A token is refused
 * when its algorithm is not listed or does not fit the key, or when it has critical extensions (RFC 8725).
 *
 * @example
 * const signedIn = use(jwt({ key: () => secret("JWT_KEY"), algorithms: ["HS256"], optional: true }));
 * @throws TypeError at definition, naming the invalid option.
 */
export function jwt(options: JwtOptions & { readonly optional: true }): Middleware<WithOptionalClaims>;
/**
 * Authenticates by a signed JSON Web Token (RFC 7519) of `Authorization: Bearer …`; handlers find its `claims` in their
 * context. Signature, `exp` and `nbf` are always checked, `iss` and `aud` if the options name them. A token is refused
 * when its algorithm is not listed or does not fit the key, or when it has critical extensions (RFC 8725).
 *
 * @example
 * const signedIn = use(jwt({ key: () => secret("JWT_KEY"), algorithms: ["HS256"] }));
 * @throws TypeError at definition, naming the invalid option.
 */
export function jwt(options: JwtOptions & { readonly optional?: false }): Middleware<WithClaims>;
export function jwt(options: JwtOptions): Middleware<WithOptionalClaims>;
export function jwt(options: JwtOptions): Middleware<WithOptionalClaims> {
  check(options);
  const { algorithms, issuer, audience, leeway = 0, optional = false, scheme = "Bearer" } = options;
  const audiences = audience === undefined ? undefined : [audience].flat();
  const keys = keySource(options);
  const form = scheme === "Bearer" ? BEARER : new RegExp(BEARER.source.replace("bearer", scheme), "i");
  // A header that presents such credentials, whether well-formed or not.
  const attempt = new RegExp(`^${scheme} +\\S`, "i");

  const run = middleware<WithOptionalClaims>(async (req, next) => {
    // The challenge has no error code when there is no token (RFC 6750, section 3.1).
    if (!req.headers.getAll("authorization").some((each) => attempt.test(each))) {
      return optional && !req.headers.has("authorization") ? next({ claims: undefined }) : unauthorized(scheme);
    }
    const token = credentials(req, form);
    const claims = token === undefined ? undefined : await verified(token, req);
    if (claims === undefined) return unauthorized(`${scheme} error="invalid_token"`, "The token is not valid.");
    return next({ claims });
  });
  const own = form !== BEARER && { scheme };
  return Object.freeze({ ...run, security: { kind: "jwt" as const, optional, issuer, ...own } });

  async function verified(token: string, req: Request): Promise<JwtClaims | undefined> {
    const parts = token.split(".");
    if (token.length > MAX_TOKEN || parts.length !== 3) return undefined;
    const [header, payload, signature] = parts as [string, string, string];
    const { alg, kid, crit, b64 } = parseObject(header) ?? {};
    const known = algorithms.find((each) => each === alg);
    if (known === undefined || crit !== undefined || b64 !== undefined) return undefined;
    if (kid !== undefined && typeof kid !== "string") return undefined;
    const given = decodeBase64Url(signature);
    if (given === undefined) return undefined;
    const signed = encodeUtf8(`${header}.${payload}`);
    let holds = false;
    for (const key of await keys(req, kid)) {
      holds = await verify(known, key, signed, given);
      if (holds) break;
    }
    const claims = holds ? (parseObject(payload) as JwtClaims | undefined) : undefined;
    return claims !== undefined && isCurrent(claims, leeway) && isMeant(claims) ? claims : undefined;
  }

  function isMeant({ iss, aud }: JwtClaims): boolean {
    if (issuer !== undefined && iss !== issuer) return false;
    return audiences === undefined || [aud].flat().some((each) => audiences.includes(each as string));
  }
}

/** Returns the keys that may have signed a token. */
type KeySource = (req: Request, kid: string | undefined) => Promise<readonly JwtKey[]>;

function keySource({ key, jwks, cache }: JwtOptions): KeySource {
  if (key !== undefined) return async (req) => [typeof key === "function" ? await key(req) : key];
  if (typeof jwks === "object") return async (_req, kid) => ofKid(jwks, kid);
  const set = remoteSet(jwks as string, cache);
  return async (_req, kid) => {
    const found = ofKid(await set(false), kid);
    // An unknown key may have been added since.
    return found.length > 0 ? found : ofKid(await set(true), kid);
  };
}

/** Keys without an id may have signed any token. */
function ofKid({ keys }: JsonWebKeySet, kid: string | undefined): readonly JsonWebKey[] {
  return keys.filter((key) => kid === undefined || key.kid === undefined || key.kid === kid);
}

async function verify(alg: JwtAlgorithm, key: JwtKey, signed: Uint8Array, signature: Uint8Array): Promise<boolean> {
  const { kty, hash, name } = ALGORITHMS[alg];
  const { subtle } = platform.crypto;
  const algorithm = { name, hash, namedCurve: "P-256" };
  // The key, never the token, determines the algorithms: a public key must not become a secret of HS256 (RFC 8725,
  // section 3.1).
  if (typeof key === "string" || isBytes(key)) {
    const pem = publicKeyOf(key);
    if (kty === "oct") return pem === undefined && isSignedBy(key);
    if (pem === undefined) return false;
    if (!encodeHex(pem).includes(KEY_OIDS[kty])) return false;
    return subtle.verify(algorithm, await imported("spki", pem), signature, signed);
  }
  if (isSubtleKey(key))
    return isFor(key, alg) && subtle.verify({ ...algorithm, name: key.algorithm.name }, key, signature, signed);
  if (key.kty !== kty || (key.alg ?? alg) !== alg || (key.use ?? "sig") !== "sig") return false;
  if (key.key_ops !== undefined && !key.key_ops.includes("verify")) return false;
  if (kty === "oct") {
    const secret = decodeBase64Url(String(key.k));
    return secret !== undefined && publicKeyOf(secret) === undefined && isSignedBy(secret);
  }
  if (kty === "EC" && key.crv !== "P-256") return false;
  const { n, e, crv, x, y } = key;
  // Imports the public members only: a private key does not verify.
  return subtle.verify(
    algorithm,
    await imported("jwk", kty === "RSA" ? { kty, n, e } : { kty, crv, x, y }),
    signature,
    signed,
  );

  async function isSignedBy(secret: string | Uint8Array): Promise<boolean> {
    return secret.length > 0 && safeEqual(await hmac(secret, signed, hash), signature);
  }

  async function imported(format: "jwk" | "spki", given: object): Promise<PlatformKey> {
    try {
      return await subtle.importKey(format, given, algorithm, false, ["verify"]);
    } catch (cause) {
      throw new Error("jwt: a key can't be used", { cause });
    }
  }
}

/** The types of public keys (RFC 5480 and RFC 8017), in DER: rsaEncryption, and prime256v1. */
const KEY_OIDS = { RSA: "06092a864886f70d010101", EC: "06082a8648ce3d030107" };

/**
 * The bytes of a public key in PEM (RFC 7468); `undefined` for a secret.
 *
 * @throws Error for any other key, which is neither
 */
function publicKeyOf(key: string | Uint8Array): Uint8Array | undefined {
  const kind = keyKindOf(key);
  if (kind === undefined) return undefined;
  const text = (typeof key === "string" ? key : (decodeUtf8(key) ?? "")).trim();
  const base64 = /^-----BEGIN PUBLIC KEY-----([\sA-Za-z0-9+/=]+)-----END PUBLIC KEY-----$/.exec(text)?.[1];
  const bytes = base64 === undefined ? undefined : decodeBase64(base64.replace(/\s/g, ""));
  if (bytes !== undefined) return bytes;
  throw new Error(`jwt: the key is ${kind}: it must be a secret, or a "PUBLIC KEY" in PEM and nothing else`);
}

function isSubtleKey(key: JsonWebKey | SubtleKey): key is SubtleKey {
  return Array.isArray((key as Partial<SubtleKey>).usages);
}

/** Reports whether a key of `crypto.subtle` fits this algorithm. */
function isFor({ algorithm, usages }: SubtleKey, alg: JwtAlgorithm): boolean {
  const { hash, name = "HMAC", kty } = ALGORITHMS[alg];
  const own = algorithm as {
    readonly name: string;
    readonly hash?: { readonly name: string };
    readonly namedCurve?: string;
  };
  const fits = kty === "EC" ? own.namedCurve === "P-256" : own.hash?.name === hash;
  return fits && own.name === name && usages.includes("verify");
}

/** Checks `exp` and `nbf` (RFC 7519, sections 4.1.4 and 4.1.5), which are numbers of seconds, if they are present. */
function isCurrent({ exp, nbf }: JwtClaims, leeway: number): boolean {
  const now = Date.now() / 1000;
  if (exp !== undefined && !(typeof exp === "number" && now < exp + leeway)) return false;
  return nbf === undefined || (typeof nbf === "number" && now >= nbf - leeway);
}

/** The JSON object in a part of a token. */
function parseObject(part: string): Readonly<Record<string, unknown>> | undefined {
  const bytes = decodeBase64Url(part);
  const text = bytes === undefined ? undefined : decodeUtf8(bytes);
  try {
    const value: unknown = JSON.parse(text ?? "");
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

const OPTIONS = ["key", "jwks", "cache", "algorithms", "issuer", "audience", "leeway", "optional", "scheme"];

function check(options: JwtOptions): void {
  if (typeof options !== "object" || options === null) throw new TypeError("jwt: expects { key, algorithms, … }");
  refuseUnknown("jwt", options, OPTIONS);
  const { key, jwks, cache, algorithms, issuer, audience, leeway = 0 } = options;
  if ((key === undefined) === (jwks === undefined)) throw new TypeError('jwt: expects either "key" or "jwks"');
  if (key === "" || (isBytes(key) && key.length === 0)) throw new TypeError('jwt: "key" is empty');
  if (key !== undefined && (key === null || !["string", "object", "function"].includes(typeof key))) {
    throw new TypeError('jwt: "key" must be a text, bytes, a JSON Web Key, or a function that gives one');
  }
  if (jwks !== undefined && typeof jwks !== "string" && !isKeySet(jwks)) {
    throw new TypeError('jwt: "jwks" must be a URL or a set of keys, { keys: […] }');
  }
  if (cache !== undefined && (typeof jwks !== "string" || typeof cache.set !== "function")) {
    throw new TypeError('jwt: "cache" must be the client of the sidecar, for "jwks" at a URL');
  }
  const known = Object.keys(ALGORITHMS);
  if (!Array.isArray(algorithms) || algorithms.length === 0 || !algorithms.every((each) => known.includes(each))) {
    throw new TypeError(`jwt: "algorithms" must have one or more of ${known.join(", ")}`);
  }
  if (issuer !== undefined && typeof issuer !== "string") throw new TypeError('jwt: "issuer" must be a text');
  const audiences: readonly unknown[] = audience === undefined ? [""] : [audience].flat();
  if (audiences.length === 0 || !audiences.every((each) => typeof each === "string")) {
    throw new TypeError('jwt: "audience" must be a text, or a list of one or more');
  }
  if (options.optional !== undefined && typeof options.optional !== "boolean") {
    throw new TypeError('jwt: "optional" must be true or false');
  }
  if (options.scheme !== undefined && !/^[A-Za-z][\w-]*$/.test(options.scheme)) {
    throw new TypeError('jwt: "scheme" must be a word');
  }
  // A text would be concatenated with `exp`, and a token would never expire.
  if (typeof leeway !== "number" || !(leeway >= 0))
    throw new RangeError('jwt: "leeway" must be a number of seconds, 0 or more');
}
