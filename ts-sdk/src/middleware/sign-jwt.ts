/** `signJwt`: signs JSON Web Tokens (RFC 7519). */
import { decodeBase64, decodeBase64Url, encodeBase64Url } from "../encoding/base64.ts";
import { isBytes } from "../http/bytes.ts";
import { decodeUtf8, encodeUtf8, type PlatformKey, platform } from "../platform.ts";
import { refuseUnknown } from "../schema/unknown.ts";
import { hmac } from "./hmac.ts";
import { ALGORITHMS, type JwtAlgorithm, type JwtClaims, type JwtKey } from "./jwt.ts";
import { keyKindOf } from "./secret-key.ts";

/** Seconds, or a number with a unit: `"15m"`, `"12h"`. */
export type Duration = number | `${number}${"s" | "m" | "h" | "d"}`;

/** Options of {@link signJwt}. */
export interface SignJwtOptions {
  /**
   * The key. For HS256, HS384 and HS512 a text or bytes are the secret. For RS256 and ES256 they are a private key in PEM
   * (`-----BEGIN PRIVATE KEY-----`). A JSON Web Key or a key of `crypto.subtle` fits all.
   */
  readonly key: JwtKey | JwtPrivateKey;
  readonly algorithm: JwtAlgorithm;
  /** The time from now until the token expires (`exp`); without it, and without the claim, the token never does. */
  readonly expiresIn?: Duration;
  /** The time from now until the token is valid (`nbf`). */
  readonly notBefore?: Duration;
  readonly issuer?: string;
  readonly subject?: string;
  readonly audience?: string | readonly string[];
  /** The claim `jti`. */
  readonly jwtId?: string;
  /** The header `kid`, by which a verifier finds the key. */
  readonly keyId?: string;
}

/** A private key of RSA or of the curve P-256, as a JSON Web Key (RFC 7518, section 6). */
export interface JwtPrivateKey {
  readonly kty?: string | undefined;
  readonly [member: string]: unknown;
}

const OPTIONS = "key algorithm expiresIn notBefore issuer subject audience jwtId keyId".split(" ");

/**
 * Signs claims as a JSON Web Token that `jwt` verifies. The claim `iat` is the time of the call, unless it is given.
 *
 * @example const token = await signJwt({ sub: "7" }, { key: secret("JWT_KEY"), algorithm: "HS256", expiresIn: "15m" });
 * @throws TypeError naming the invalid option, and for a key that does not fit the algorithm
 */
export async function signJwt(claims: JwtClaims, options: SignJwtOptions): Promise<string> {
  if (typeof claims !== "object" || claims === null || Array.isArray(claims)) {
    throw new TypeError("signJwt: the claims must be an object");
  }
  if (typeof options !== "object" || options === null) throw new TypeError("signJwt: expects { key, algorithm, … }");
  refuseUnknown("signJwt", options, OPTIONS);
  const { key, algorithm, expiresIn, notBefore, issuer, subject, audience, jwtId, keyId } = options;
  if (!Object.hasOwn(ALGORITHMS, algorithm)) {
    throw new TypeError(`signJwt: "algorithm" must be one of ${Object.keys(ALGORITHMS).join(", ")}`);
  }
  const now = Math.floor(Date.now() / 1000);
  const payload = {
    iat: now,
    ...claims,
    ...defined({ iss: issuer, sub: subject, aud: audience, jti: jwtId }),
    ...(expiresIn === undefined ? {} : { exp: now + seconds("expiresIn", expiresIn) }),
    ...(notBefore === undefined ? {} : { nbf: now + seconds("notBefore", notBefore) }),
  };
  for (const name of ["exp", "nbf", "iat"] as const) {
    const time: unknown = payload[name];
    if (time !== undefined && !Number.isFinite(time))
      throw new TypeError(`signJwt: the claim "${name}" must be a number`);
  }
  const header = { alg: algorithm, typ: "JWT", ...defined({ kid: keyId }) };
  const signed = `${encoded(header)}.${encoded(payload)}`;
  return `${signed}.${encodeBase64Url(await sign(algorithm, key as JwtKey, encodeUtf8(signed)))}`;
}

function defined(members: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

function encoded(part: object): string {
  return encodeBase64Url(encodeUtf8(JSON.stringify(part)));
}

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

function seconds(name: string, given: Duration): number {
  const [, count, unit = "s"] = /^(\d+(?:\.\d+)?)([smhd])?$/.exec(String(given)) ?? [];
  const value = Math.floor(Number(count) * (UNITS[unit] as number));
  if (count !== undefined && Number.isSafeInteger(value) && (typeof given === "number" || /\D$/.test(given)))
    return value;
  throw new TypeError(`signJwt: "${name}" must be a number of seconds, or one with a unit: "15m", "12h", "7d"`);
}

async function sign(alg: JwtAlgorithm, key: JwtKey, signed: Uint8Array): Promise<Uint8Array> {
  const { kty, hash, name } = ALGORITHMS[alg];
  const { subtle } = platform.crypto;
  const misfit = () => new TypeError(`signJwt: the key does not fit ${alg}`);
  const algorithm = { name: name ?? "HMAC", hash, namedCurve: "P-256" };
  const withKey = async (imported: PlatformKey) => new Uint8Array(await subtle.sign(algorithm, imported, signed));
  const imported = async (format: "jwk" | "pkcs8", given: object) => {
    try {
      return await subtle.importKey(format, given, algorithm, false, ["sign"]);
    } catch (cause) {
      throw new TypeError(`signJwt: the key does not fit ${alg}`, { cause });
    }
  };
  if (typeof key === "string" || isBytes(key)) {
    if (kty !== "oct") {
      const pem = privateKeyOf(key);
      if (pem === undefined) throw misfit();
      return withKey(await imported("pkcs8", pem));
    }
    if (key.length === 0) throw new TypeError('signJwt: "key" must not be empty');
    const kind = keyKindOf(key);
    if (kind !== undefined) throw new TypeError(`signJwt: the key is ${kind}, and ${alg} needs a secret`);
    return hmac(key, signed, hash);
  }
  if (typeof key !== "object" || key === null) throw misfit();
  if ("usages" in key) {
    const { algorithm: own, usages } = key as {
      algorithm: { name: string; hash?: { name: string }; namedCurve?: string };
      usages: readonly string[];
    };
    const fits = own.name === algorithm.name && (kty === "EC" ? own.namedCurve === "P-256" : own.hash?.name === hash);
    if (!fits || !usages.includes("sign")) throw misfit();
    return withKey(key as PlatformKey);
  }
  if (key.kty !== kty || (key.alg ?? alg) !== alg || (key.use ?? "sig") !== "sig") throw misfit();
  if (kty !== "oct") {
    const { key_ops: _operations, use: _use, alg: _alg, ...members } = key;
    return withKey(await imported("jwk", members));
  }
  const secret = decodeBase64Url(String(key.k));
  if (secret === undefined || secret.length === 0) throw misfit();
  return hmac(secret, signed, hash);
}

/** The bytes of a private key in PEM (RFC 5958 in RFC 7468); `undefined` for anything else. */
function privateKeyOf(key: string | Uint8Array): Uint8Array | undefined {
  const text = (typeof key === "string" ? key : (decodeUtf8(key) ?? "")).trim();
  const base64 = /^-----BEGIN PRIVATE KEY-----([\sA-Za-z0-9+/=]+)-----END PRIVATE KEY-----$/.exec(text)?.[1];
  return base64 === undefined ? undefined : decodeBase64(base64.replace(/\s/g, ""));
}
