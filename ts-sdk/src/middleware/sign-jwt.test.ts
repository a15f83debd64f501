import type { webcrypto } from "node:crypto";
import { describe, expect, it, vi } from "vitest";
import { get, type JwtAlgorithm, jwt, ok, routes, signJwt, use } from "../index.ts";
import { json } from "../openapi/index.ts";
import { testApp } from "../testing/index.ts";

vi.spyOn(console, "error").mockImplementation(() => {});
const { subtle } = crypto;
const pem = (kind: string, der: ArrayBuffer) =>
  `-----BEGIN ${kind} KEY-----\n${Buffer.from(der).toString("base64")}\n-----END ${kind} KEY-----\n`;

async function keysOf(alg: JwtAlgorithm) {
  if (alg.startsWith("HS")) {
    const k = "a secret of thirty-two characters";
    const jwk = { kty: "oct", k: Buffer.from(k).toString("base64url") };
    return [
      [k, k],
      [new TextEncoder().encode(k), k],
      [jwk, jwk],
    ] as const;
  }
  const algorithm =
    alg === "ES256"
      ? { name: "ECDSA", namedCurve: "P-256" }
      : { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256", modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]) };
  const { privateKey, publicKey } = (await subtle.generateKey(algorithm, true, [
    "sign",
    "verify",
  ])) as webcrypto.CryptoKeyPair;
  const exported = pem("PUBLIC", await subtle.exportKey("spki", publicKey));
  return [
    [pem("PRIVATE", await subtle.exportKey("pkcs8", privateKey)), exported],
    [await subtle.exportKey("jwk", privateKey), await subtle.exportKey("jwk", publicKey)],
    [privateKey, publicKey],
  ] as const;
}

async function claimsOf(token: string, options: object): Promise<unknown> {
  const app = routes({ it: use(jwt(options as never)).get("/", (_, _req, { claims }) => ok(claims as object)) });
  const answer = await testApp(app).get("/", { headers: { authorization: `Bearer ${token}` } });
  return answer.status === 200 ? answer.json() : answer.status;
}

describe.each(["HS256", "HS384", "HS512", "RS256", "ES256"] as const)("%s", (algorithm) => {
  it("signs what jwt verifies, by each form of a key", async () => {
    for (const [own, others] of await keysOf(algorithm)) {
      const token = await signJwt({ sub: "7", role: "admin" } as never, {
        key: own as never,
        algorithm,
        expiresIn: "15m",
        issuer: "me",
        audience: ["you"],
        keyId: "k1",
      });
      const claims = await claimsOf(token, { key: others, algorithms: [algorithm], issuer: "me", audience: "you" });
      expect(claims).toMatchObject({ sub: "7", role: "admin", iss: "me", aud: ["you"] });
      const { exp, iat } = claims as { exp: number; iat: number };
      expect(exp - iat).toBe(900);
      expect(await claimsOf(`${token.slice(0, -4)}AAAA`, { key: others, algorithms: [algorithm] })).toBe(401);
    }
  });
});

it("expires, and begins later", async () => {
  const options = { key: "secret", algorithm: "HS256" } as const;
  const verifying = { key: "secret", algorithms: ["HS256"] };
  expect(await claimsOf(await signJwt({}, { ...options, expiresIn: 0 }), verifying)).toBe(401);
  expect(await claimsOf(await signJwt({}, { ...options, expiresIn: 60 }), verifying)).toMatchObject({});
  expect(await claimsOf(await signJwt({}, { ...options, notBefore: "1h" }), verifying)).toBe(401);
  expect(await claimsOf(await signJwt({ exp: 1 }, options), verifying)).toBe(401);
});

it.each<[string, object, object, string]>([
  ["no claims", null as never, { key: "a", algorithm: "HS256" }, "the claims must be an object"],
  ["an unknown algorithm", {}, { key: "a", algorithm: "none" }, '"algorithm" must be one of HS256'],
  ["an empty secret", {}, { key: "", algorithm: "HS256" }, '"key" must not be empty'],
  ["a public key as a secret", {}, { key: "-----BEGIN PUBLIC KEY-----\nAAAA", algorithm: "HS256" }, "needs a secret"],
  ["a secret for RS256", {}, { key: "a", algorithm: "RS256" }, "the key does not fit RS256"],
  ["a JSON Web Key of another kind", {}, { key: { kty: "EC" }, algorithm: "HS256" }, "the key does not fit HS256"],
  ["a time without a unit", {}, { key: "a", algorithm: "HS256", expiresIn: "15" }, '"expiresIn" must be a number of'],
  [
    "a claim of time that is a text",
    { exp: "1" },
    { key: "a", algorithm: "HS256" },
    'the claim "exp" must be a number',
  ],
  ["an unknown option", {}, { key: "a", algorithm: "HS256", expires: 1 }, 'unknown "expires"'],
])("refuses %s", async (_what, claims, options, message) => {
  await expect(signJwt(claims as never, options as never)).rejects.toThrow(message);
});

describe("jwt({ optional: true })", () => {
  const maybe = use(jwt({ key: "secret", algorithms: ["HS256"], optional: true }));
  const app = routes({
    it: maybe.get("/", (_, _req, { claims }) => ok({ sub: claims?.sub ?? null })),
    no: get("/no", () => ok({})),
  });

  it("lets requests without a token through, and none with a wrong one", async () => {
    const test = testApp(app);
    const token = await signJwt({ sub: "7" }, { key: "secret", algorithm: "HS256" });
    const ask = async (authorization?: string) => {
      const answer = await test.get("/", authorization === undefined ? {} : { headers: { authorization } });
      return answer.status === 200 ? answer.json().sub : answer.status;
    };
    expect(await ask()).toBe(null);
    expect(await ask(`Bearer ${token}`)).toBe("7");
    expect(await ask(`Bearer ${token}x`)).toBe(401);
    expect(await ask("Basic abc")).toBe(401);
  });

  it("is optional in the document", () => {
    const { paths } = JSON.parse(json(app, { name: "x" }));
    expect(paths["/"].get.security).toEqual([{ jwt: [] }, {}]);
  });
});

it("accepts tokens of another scheme, which the challenge and the document name", async () => {
  const key = "a secret of thirty-two characters";
  const signedIn = use(jwt({ key, algorithms: ["HS256"], scheme: "Token" }));
  const app = routes({ it: signedIn.get("/", (_, _req, { claims }) => ok({ sub: claims.sub })) });
  const token = await signJwt({ sub: "7" }, { key, algorithm: "HS256" });
  const send = (authorization?: string) => testApp(app).get("/", authorization ? { headers: { authorization } } : {});
  expect((await send(`Token ${token}`)).json()).toEqual({ sub: "7" });
  expect((await send(`token ${token}`)).status).toBe(200);
  for (const given of [undefined, `Bearer ${token}`]) {
    const refused = await send(given);
    expect([refused.status, refused.headers.get("www-authenticate")]).toEqual([401, "Token"]);
  }
  expect((await send("Token x")).headers.get("www-authenticate")).toBe('Token error="invalid_token"');
  expect(JSON.parse(json(app, { name: "x" })).components.securitySchemes).toEqual({
    jwt: { type: "http", scheme: "token" },
  });
  expect(() => jwt({ key, algorithms: ["HS256"], scheme: "a b" })).toThrow('jwt: "scheme" must be a word');
});
