import { base64url, decodeProtectedHeader, jwtVerify, SignJWT } from "jose";

const key = new TextEncoder().encode("a secret of thirty-two characters");

export default async () => {
  const token = await new SignJWT({ role: "x" })
    .setProtectedHeader({ alg: "HS256" })
    .setSubject("ada")
    .setIssuedAt(1_700_000_000)
    .sign(key);
  const refused = await jwtVerify(token, base64url.decode("AAAA")).catch(({ code }) => code);
  return [token, (await jwtVerify(token, key)).payload, refused, decodeProtectedHeader(token)];
};
