/** `@tenon/sdk/password`: hashes of passwords, as PHC strings (https://github.com/P-H-C/phc-string-format). */
import { randomBytes } from "node:crypto";
import { safeEqual } from "../middleware/safe-equal.ts";
import { encodeUtf8 } from "../platform.ts";
import { refuseUnknown } from "../schema/unknown.ts";
import { defaults, derive, isAllowed, type PasswordAlgorithm } from "./algorithms.ts";
import { parsePhc, writePhc } from "./phc.ts";

export type { PasswordAlgorithm } from "./algorithms.ts";

/** Options of {@link hash} and {@link needsRehash}. */
export interface PasswordOptions {
  /** The function; `scrypt` by default, which components compute with compiled code. */
  readonly algorithm?: PasswordAlgorithm;
}

/** The longest password, in bytes of UTF-8. */
const MAX_BYTES = 4096;
const SALT_BYTES = 16;
const HASH_BYTES = 32;

/**
 * Hashes a password with a random salt, by the parameters that OWASP recommends. The result is a text for a database,
 * with the algorithm and its parameters in it.
 *
 * @throws TypeError for a password that is not a text, an unknown algorithm or option, and RangeError for a password of more than
 *   4,096 bytes
 * @example
 * await db.exec("INSERT INTO users (name, password) VALUES ($1, $2)", [body.name, await hash(body.password)]);
 */
export async function hash(password: string, options: PasswordOptions = {}): Promise<string> {
  const algorithm = algorithmOf("hash", options);
  const secret = bytesOf(password);
  if (secret.length > MAX_BYTES) throw new RangeError(`hash: a password must have at most ${MAX_BYTES} bytes`);
  const parameters = defaultsOf(algorithm);
  const salt = new Uint8Array(randomBytes(SALT_BYTES));
  return writePhc({ algorithm, parameters, salt, hash: derive(algorithm, secret, salt, parameters, HASH_BYTES) });
}

/**
 * Reports whether a password is the one of a hash, in a time that does not depend on the correct part. A hash that is malformed, of
 * another algorithm or with parameters beyond the limits is that of no password.
 *
 * @throws TypeError for a password that is not a text
 * @example
 * guard(await verify(body.password, user.password), 401, "wrong name or password");
 */
export async function verify(password: string, hashed: string): Promise<boolean> {
  const secret = bytesOf(password);
  const known = parsePhc(hashed);
  if (known === undefined || secret.length > MAX_BYTES || !isAllowed(known)) return false;
  const { algorithm, salt, parameters, hash: expected } = known;
  return safeEqual(derive(algorithm, secret, salt, parameters, expected.length), expected);
}

/**
 * Reports whether a hash has another algorithm or weaker parameters than {@link hash} takes today: hash the password
 * again when its owner signs in.
 */
export function needsRehash(hashed: string, options: PasswordOptions = {}): boolean {
  const algorithm = algorithmOf("needsRehash", options);
  const current = Object.entries(defaultsOf(algorithm));
  const known = parsePhc(hashed);
  if (known?.algorithm !== algorithm || known.hash.length < HASH_BYTES || known.salt.length < SALT_BYTES) return true;
  return current.some(([name, value]) => known.parameters[name] !== value);
}

function algorithmOf(label: string, options: PasswordOptions): PasswordAlgorithm {
  refuseUnknown(label, options, ["algorithm"]);
  return options.algorithm ?? "scrypt";
}

function defaultsOf(algorithm: PasswordAlgorithm): Readonly<Record<string, number>> {
  if (Object.hasOwn(defaults, algorithm)) return defaults[algorithm];
  throw new TypeError(`"algorithm" must be one of ${Object.keys(defaults).join(", ")}`);
}

function bytesOf(password: unknown): Uint8Array {
  if (typeof password === "string") return encodeUtf8(password);
  throw new TypeError("the password must be a text");
}
