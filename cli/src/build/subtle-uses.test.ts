import { expect, test } from "vitest";
import { SubtleUses } from "./subtle-uses.ts";

/** The modules of algorithms that sources need, by short names. */
function modulesOf(sources: readonly string[], hasJwt = false): string {
  const uses = new SubtleUses();
  uses.hasJwt = hasJwt;
  for (const source of sources) uses.addFrom("module.ts", source);
  return uses.platformModules.map((name) => name.replace("crypto/with-", "")).join(" ");
}

test.each([
  // Digests and HMAC need none.
  ["await crypto.subtle.digest('SHA-256', data)", ""],
  ["crypto.subtle.importKey('raw', k, { name: 'HMAC', hash }, false, ['sign'])", ""],
  ["crypto.subtle.generateKey({ name: 'HMAC', hash })", ""],
  ["if (crypto.subtle === undefined || !crypto.subtle) throw new Error('no crypto')", ""],
  ["const cipher = aes('AES-GCM'); cipher.encrypt(data)", ""],
  ["type Subtle = typeof crypto.subtle; declare const other: Subtle;", ""],
  ["draw(theme.subtle)", ""],
  ["const text = 'AES-GCM'", ""],
  // Each module alone.
  ["await crypto.subtle.verify({ name: 'ECDSA', hash: 'SHA-256' }, key, signature, data)", "curves"],
  ["const { digest, sign } = globalThis?.crypto?.subtle ?? {}; const name = 'ECDSA'; digest(name)", "curves"],
  ["const { subtle } = crypto; await subtle.sign('RSASSA-PKCS1-v1_5', key, data)", "rsa"],
  ["const s = ok ? globalThis.crypto.subtle : undefined; if (s && ok) await s.sign('HMAC', key, data)", ""],
  ["await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, key, data)", "symmetric"],
  ["await crypto?.subtle?.deriveBits({ name: 'PBKDF2' }, key, 8)", "symmetric"],
  ["await globalThis.crypto['subtle'].deriveKey({ name: 'hkdf' }, key)", "symmetric"],
  ["const { subtle } = globalThis.crypto; await subtle.generateKey({ name: 'ECDSA' })", "curves"],
  ["const { subtle: { exportKey } } = crypto; 'ECDH'", "curves"],
  ["import { subtle as s } from 'node:crypto'; await s.sign('Ed25519', key, data)", "curves"],
  ["import { webcrypto } from 'crypto'; webcrypto.subtle.verify({ name: 'RSA-PSS' })", "rsa"],
  ["const s = crypto.subtle; s.decrypt({ name: 'RSA-OAEP' })", "rsa"],
  ["const { decrypt } = (crypto as any)?.subtle ?? {}; decrypt({ name: 'RSA-OAEP' })", "rsa"],
  ["crypto.subtle.encrypt({ name: 'AES-GCM' }); 'ECDSA'", "curves symmetric"],
  // Operations or algorithms that cannot be seen.
  ["run(crypto.subtle, 'AES-GCM')", "symmetric"],
  ["run(crypto.subtle)", "curves rsa symmetric"],
  ["const { subtle } = crypto; export const all = { subtle };", "curves rsa symmetric"],
  ["crypto.subtle[operation](parameters)", "curves rsa symmetric"],
  ["crypto.subtle.encrypt(parameters, key, data)", "curves rsa symmetric"],
])("%s", (source, expected) => expect(modulesOf([source])).toBe(expected));

test("an algorithm may be named in another source", () => {
  const sources = ["crypto.subtle.encrypt(parameters, key, data)", "export const name = 'AES-CTR';"];
  expect(modulesOf(sources)).toBe("symmetric");
});

test.each([
  ["jwt({ key, algorithms: ['HS256'] })", ""],
  ["jwt({ key, algorithms: ['HS512', 'ES256'] })", "curves"],
  ["jwt({ jwks, algorithms: ['RS256'] })", "rsa"],
  ["jwt(options)", "curves rsa"],
])("with the SDK's: %s", (source, expected) => expect(modulesOf([source], true)).toBe(expected));
