/** Keys that sign artifacts and verify signatures: PEM files, also those of `cosign generate-key-pair`. */
import { createPrivateKey, createPublicKey, type KeyObject, scrypt, sign, verify } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { systemReason, TenonError } from "../errors.ts";
import { ociLimits } from "./limits.ts";

/** Variables with the password of an encrypted key; the second is cosign's. */
const PASSWORDS = ["TENON_SIGN_PASSWORD", "COSIGN_PASSWORD"] as const;

/** PEM labels of cosign's encrypted keys, the former one included. */
const COSIGN = /^-----BEGIN ENCRYPTED (?:SIGSTORE|COSIGN) PRIVATE KEY-----\s([\s\S]*?)-----END /;

const accepted = "ECDSA (P-256, P-384, P-521), Ed25519, or RSA of at least 2048 bits";

/**
 * Reads a private key.
 *
 * @throws TenonError `USAGE` when the file has none, or when its password is missing or wrong
 */
export async function readSigningKey(file: string, environment: NodeJS.ProcessEnv): Promise<KeyObject> {
  const text = await read(file, "the signing key");
  const name = PASSWORDS.find((name) => environment[name] !== undefined);
  const password = name === undefined ? undefined : environment[name];
  const encrypted = COSIGN.exec(text)?.[1] ?? (text.includes("ENCRYPTED") ? "" : undefined);
  if (encrypted !== undefined && password === undefined) {
    throw new TenonError("USAGE", `the signing key ${file} is encrypted`, `set ${PASSWORDS.join(" or ")}`);
  }
  let key: KeyObject;
  try {
    key = encrypted
      ? createPrivateKey({ key: await decrypt(encrypted, password as string), format: "der", type: "pkcs8" })
      : createPrivateKey({ key: text, ...(password === undefined ? {} : { passphrase: password }) });
  } catch {
    const [problem, hint] =
      encrypted === undefined
        ? ["is not a private key in PEM", "make one with `cosign generate-key-pair` or `openssl genpkey`"]
        : [`cannot be decrypted with ${name}`, "check the password, and that the file is complete"];
    throw new TenonError("USAGE", `the signing key ${file} ${problem}`, hint);
  }
  return checked(key, file, "USAGE");
}

/**
 * Reads a public key.
 *
 * @throws TenonError `CONFIG` when the file has none
 */
export async function readVerifyKey(file: string): Promise<KeyObject> {
  const text = await read(file, "the key of verify_key");
  if (!text.includes("PRIVATE KEY")) {
    try {
      return checked(createPublicKey(text), file, "CONFIG");
    } catch (error) {
      if (error instanceof TenonError) throw error;
    }
  }
  throw new TenonError(
    "CONFIG",
    `verify_key: ${file} is not a public key in PEM`,
    "name the file cosign.pub, not cosign.key",
  );
}

/** Signs bytes as cosign does: with SHA-256, and ECDSA in DER. */
export function signed(bytes: Uint8Array, key: KeyObject): Buffer {
  return sign(digestFor(key), bytes, key);
}

/** Reports whether a signature of {@link signed} belongs to these bytes and this key. */
export function isSigned(bytes: Uint8Array, signature: Uint8Array, key: KeyObject): boolean {
  try {
    return verify(digestFor(key), bytes, key, signature);
  } catch {
    return false;
  }
}

function digestFor(key: KeyObject): "sha256" | null {
  return key.asymmetricKeyType === "ed25519" ? null : "sha256";
}

async function read(file: string, what: string): Promise<string> {
  try {
    const { size } = await stat(file);
    if (size <= ociLimits.keyBytes) return await readFile(file, "utf8");
  } catch (error) {
    throw new TenonError("CONFIG", `cannot read ${what}, ${file}: ${systemReason(error)}`);
  }
  throw new TenonError("CONFIG", `${what}, ${file}, is larger than ${ociLimits.keyBytes} bytes: it is not a key`);
}

function checked(key: KeyObject, file: string, code: "CONFIG" | "USAGE"): KeyObject {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  const isAccepted =
    type === "ed25519" ||
    (type === "ec" && ["prime256v1", "secp384r1", "secp521r1"].includes(details?.namedCurve ?? "")) ||
    (type === "rsa" && (details?.modulusLength ?? 0) >= 2048);
  if (isAccepted) return key;
  throw new TenonError(code, `the key ${file} is of a kind that does not sign artifacts`, `use ${accepted}`);
}

/** Decrypts a key of cosign: JSON with scrypt's parameters and a secret box of NaCl. */
async function decrypt(base64: string, password: string): Promise<Buffer> {
  const { kdf, cipher, ciphertext } = JSON.parse(Buffer.from(base64, "base64").toString("utf8"));
  const { N, r, p } = kdf.params;
  if (kdf.name !== "scrypt" || cipher.name !== "nacl/secretbox") throw new Error("another format");
  const memory = 128 * N * r * 2;
  if (!(memory <= ociLimits.keyMemory) || !(p <= 16)) throw new Error("too much work");
  const key = await new Promise<Buffer>((resolve, reject) =>
    scrypt(password, Buffer.from(kdf.salt, "base64"), 32, { N, r, p, maxmem: memory + 1024 * 1024 }, (error, key) =>
      error === null ? resolve(key) : reject(error),
    ),
  );
  const { xsalsa20poly1305 } = await import("@noble/ciphers/salsa.js");
  const box = xsalsa20poly1305(key, Buffer.from(cipher.nonce, "base64"));
  return Buffer.from(box.decrypt(Buffer.from(ciphertext, "base64")));
}
