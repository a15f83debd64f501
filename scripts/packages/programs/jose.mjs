import {
  base64url,
  CompactEncrypt,
  compactDecrypt,
  decodeProtectedHeader,
  EncryptJWT,
  exportJWK,
  exportPKCS8,
  exportSPKI,
  generateKeyPair,
  generateSecret,
  importJWK,
  importPKCS8,
  importSPKI,
  jwtDecrypt,
  jwtVerify,
  SignJWT,
} from "jose";

const key = new TextEncoder().encode("a secret of thirty-two characters");

const signed = (alg, by) =>
  new SignJWT({ role: "x" }).setProtectedHeader({ alg }).setSubject("ada").setIssuedAt(1_700_000_000).sign(by);

/** Signs with a new key, and verifies with its public key, which goes through both formats. */
async function pairwise(alg) {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  const token = await signed(alg, await importPKCS8(await exportPKCS8(privateKey), alg));
  const other = await importJWK(await exportJWK(publicKey), alg);
  const { payload } = await jwtVerify(token, await importSPKI(await exportSPKI(publicKey), alg));
  const changed = token.slice(0, -8) + (token.at(-8) === "A" ? "B" : "A") + token.slice(-7);
  const refused = await jwtVerify(changed, other).catch(({ code }) => code);
  return [alg, payload, refused];
}

/** Encrypts and decrypts with a content key, which another key agrees on or wraps. */
async function sealed(alg, enc) {
  const secret = ["dir", "A256KW", "A128GCMKW"].includes(alg)
    ? await generateSecret(alg === "dir" ? enc : alg, { extractable: true })
    : undefined;
  const { publicKey, privateKey } = secret ? {} : await generateKeyPair(alg, { extractable: true });
  const token = await new EncryptJWT({ role: "x" }).setProtectedHeader({ alg, enc }).encrypt(secret ?? publicKey);
  return [alg, enc, (await jwtDecrypt(token, secret ?? privateKey)).payload];
}

export default async () => {
  const token = await signed("HS256", key);
  const refused = await jwtVerify(token, base64url.decode("AAAA")).catch(({ code }) => code);
  const results = [token, (await jwtVerify(token, key)).payload, refused, decodeProtectedHeader(token)];
  for (const alg of ["ES256", "ES384", "ES512", "EdDSA"]) results.push(await pairwise(alg));
  for (const [alg, enc] of [
    ["dir", "A256GCM"],
    ["dir", "A128CBC-HS256"],
    ["A256KW", "A256GCM"],
    ["A128GCMKW", "A128GCM"],
    ["ECDH-ES+A128KW", "A256GCM"],
  ])
    results.push(await sealed(alg, enc));
  const header = { alg: "PBES2-HS256+A128KW", enc: "A128GCM" };
  const text = await new CompactEncrypt(key).setProtectedHeader(header).encrypt(key);
  const options = { keyManagementAlgorithms: [header.alg] };
  return [...results, base64url.encode((await compactDecrypt(text, key, options)).plaintext)];
};
