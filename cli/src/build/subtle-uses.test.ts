import { expect, test } from "vitest";
import { SubtleUses } from "./subtle-uses.ts";

/** The parts that sources need, by short names. */
function polyfillsOf(...sources: string[]): string {
  const uses = new SubtleUses();
  for (const source of sources) uses.addFrom("module.ts", source);
  return uses.polyfills.map((name) => name.replace(/^subtle\/(with-)?/, "")).join(" ");
}

test.each([
  // The engine has these.
  ["await crypto.subtle.digest('SHA-256', data)", ""],
  ["const key = await crypto.subtle.importKey('raw', k, { name: 'HMAC', hash }, false, ['sign'])", ""],
  ["await crypto.subtle.verify({ name: 'ECDSA', hash: 'SHA-256' }, key, signature, data)", ""],
  ["const { subtle } = crypto; await subtle.sign('RSASSA-PKCS1-v1_5', key, data)", ""],
  ["if (crypto.subtle === undefined || !crypto.subtle) throw new Error('no crypto')", ""],
  ["const cipher = aes('AES-GCM'); cipher.encrypt(data)", ""],
  ["type Subtle = typeof crypto.subtle; declare const other: Subtle;", ""],
  ["draw(theme.subtle)", ""],
  ["const { digest, sign } = globalThis?.crypto?.subtle ?? {}; const name = 'ECDSA'; digest(name)", ""],
  ["const s = ok ? globalThis.crypto.subtle : undefined; if (s && ok) await s.sign('HMAC', key, data)", ""],
  // Each module alone.
  ["await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, key, data)", "install symmetric"],
  ["await crypto?.subtle?.deriveBits({ name: 'PBKDF2' }, key, 8)", "install symmetric"],
  ["await globalThis.crypto['subtle'].deriveKey({ name: 'hkdf' }, key)", "install symmetric"],
  ["const { subtle } = globalThis.crypto; await subtle.generateKey({ name: 'ECDSA' })", "install curves"],
  ["const { subtle: { exportKey } } = crypto; 'ECDH'", "install curves"],
  ["import { subtle as s } from 'node:crypto'; await s.sign('Ed25519', key, data)", "install curves"],
  ["import { webcrypto } from 'crypto'; webcrypto.subtle.verify({ name: 'RSA-PSS' })", "install rsa"],
  ["const s = crypto.subtle; s.decrypt({ name: 'RSA-OAEP' })", "install rsa"],
  ["const { decrypt } = (crypto as any)?.subtle ?? {}; decrypt({ name: 'RSA-OAEP' })", "install rsa"],
  ["crypto.subtle.generateKey({ name: 'HMAC', hash })", "install"],
  ["crypto.subtle.importKey('jwk', key, { name: 'HMAC', hash }, false, ['sign'])", "install"],
  ["crypto.subtle.importKey('jwk', key, algorithm, false, ['sign'])", "install"],
  ["crypto.subtle.importKey('jwk', key, { name: 'ECDSA' }, false, ['sign'])", ""],
  // The engine signs by keys that are imported, so these need no module for it.
  ["crypto.subtle.encrypt({ name: 'AES-GCM' }); crypto.subtle.verify('RSASSA-PKCS1-v1_5')", "install symmetric"],
  [
    "crypto.subtle.encrypt({ name: 'AES-GCM' }); crypto.subtle.exportKey('jwk', of('ECDSA'))",
    "install symmetric curves",
  ],
  // Operations or algorithms that cannot be seen.
  ["run(crypto.subtle, 'AES-GCM')", "install symmetric"],
  ["run(crypto.subtle)", "install symmetric curves rsa"],
  ["const { subtle } = crypto; export const all = { subtle };", "install symmetric curves rsa"],
  ["crypto.subtle[operation](parameters)", "install symmetric curves rsa"],
  ["crypto.subtle.encrypt(parameters, key, data)", "install symmetric curves rsa"],
])("%s", (source, polyfills) => expect(polyfillsOf(source)).toBe(polyfills));

test("an algorithm may be named in another source", () => {
  expect(polyfillsOf("crypto.subtle.encrypt(parameters, key, data)", "export const name = 'AES-CTR';")).toBe(
    "install symmetric",
  );
});

test.each([
  ["await crypto.subtle.digest('SHA-256', data)", ""],
  ["crypto.subtle.importKey('raw', k, { name: 'HMAC', hash }, false, ['sign'])", ""],
  ["await crypto.subtle.verify({ name: 'ECDSA', hash: 'SHA-256' }, key, signature, data)", "curves"],
  ["const { subtle } = crypto; await subtle.sign('RSASSA-PKCS1-v1_5', key, data)", "rsa"],
  ["crypto.subtle.encrypt({ name: 'AES-GCM' }); 'ECDSA'", "curves symmetric"],
  ["crypto.subtle.encrypt(parameters, key, data)", "curves rsa symmetric"],
  ["const text = 'AES-GCM'", ""],
])("QuickJS: %s", (source, expected) => expect(algorithmsOf([source])).toBe(expected));

test.each([
  ["jwt({ key, algorithms: ['HS256'] })", ""],
  ["jwt({ key, algorithms: ['HS512', 'ES256'] })", "curves"],
  ["jwt({ jwks, algorithms: ['RS256'] })", "rsa"],
  ["jwt(options)", "curves rsa"],
])("QuickJS with the SDK's: %s", (source, expected) => expect(algorithmsOf([source], true)).toBe(expected));

/** The modules of algorithms that sources need in QuickJS, by short names. */
function algorithmsOf(sources: readonly string[], hasJwt = false): string {
  const uses = new SubtleUses();
  uses.hasJwt = hasJwt;
  for (const source of sources) uses.addFrom("module.ts", source);
  return uses.platformModules.map((name) => name.replace("crypto/with-", "")).join(" ");
}
