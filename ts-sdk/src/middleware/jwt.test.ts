import { createHmac, createSign, generateKeyPairSync, type KeyObject, randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Services } from "@tenon/native";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { cache, type JwtOptions, jwt, ok, routes, use } from "../index.ts";
import { testApp } from "../testing/index.ts";
import { keyKindOf } from "./secret-key.ts";

const app = (options: JwtOptions, env: Record<string, string> = {}) =>
  testApp(routes({ me: use(jwt(options)).get("/me", (_in, _req, { claims }) => ok(claims)) }), { env });

const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
const NOW = 1_700_000_000;
const secret = "a secret of at least thirty-two bytes!";
const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
const ec = generateKeyPairSync("ec", { namedCurve: "P-256" });
const jwk = (key: KeyObject, more: object = {}) => ({
  ...(key.export({ format: "jwk" }) as { kty: string; n?: string }),
  ...more,
});

/** Signs with the algorithm `alg`, while the header may name another one. */
function sign(alg: string, claims: unknown, header: object = {}, key: KeyObject | string = secret): string {
  const signed = `${part({ alg, ...header })}.${part(claims)}`;
  return `${signed}.${signatureOf(alg, signed, key).toString("base64url")}`;
}

function signatureOf(alg: string, signed: string, key: KeyObject | string): Buffer {
  const bits = alg.slice(2);
  if (alg.startsWith("HS"))
    return createHmac(`sha${bits}`, key as string)
      .update(signed)
      .digest();
  const signer = createSign(`sha${bits}`).update(signed);
  return signer.sign({ key: key as KeyObject, dsaEncoding: "ieee-p1363" });
}

const ask = (test: ReturnType<typeof testApp>, token: string) =>
  test.get("/me", { headers: { authorization: `Bearer ${token}` } });

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: NOW * 1000 });
  vi.spyOn(console, "error").mockImplementation(() => {});
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe("a key", () => {
  const claims = { sub: "Ada", exp: NOW + 1 };

  it("of RFC 7515's own example (appendix A.1)", async () => {
    vi.setSystemTime(1_300_819_379_000);
    const key = {
      kty: "oct",
      k: "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow",
    };
    const token =
      "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ" +
      ".dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
    expect((await ask(app({ key, algorithms: ["HS256"] }), token)).json()).toMatchObject({ iss: "joe" });
  });

  it.each(["HS256", "HS384", "HS512"] as const)("%s", async (alg) => {
    for (const key of [secret, new TextEncoder().encode(secret), () => secret, async () => secret]) {
      expect((await ask(app({ key, algorithms: [alg] }), sign(alg, claims))).json()).toEqual(claims);
    }
  });

  it.each([
    ["RS256", rsa],
    ["ES256", ec],
  ] as const)("%s", async (alg, { publicKey, privateKey }) => {
    const test = app({ key: jwk(publicKey), algorithms: [alg] });
    const token = sign(alg, claims, {}, privateKey);
    expect((await ask(test, token)).json()).toEqual(claims);
    expect((await ask(test, `${token.slice(0, -4)}AAAA`)).status).toBe(401);
  });
});

describe("a public key", () => {
  const spki = (key: KeyObject) => key.export({ format: "pem", type: "spki" }) as string;
  const subtle = (key: KeyObject, algorithm: object) =>
    globalThis.crypto.subtle.importKey("jwk", key.export({ format: "jwk" }), algorithm as never, false, ["verify"]);
  const both = { RS256: rsa, ES256: ec } as const;
  const tokens = { RS256: sign("RS256", {}, {}, rsa.privateKey), ES256: sign("ES256", {}, {}, ec.privateKey) };

  it.each(["RS256", "ES256"] as const)("in PEM verifies %s and nothing else", async (alg) => {
    const pem = spki(both[alg].publicKey);
    const other = alg === "RS256" ? "ES256" : "RS256";
    for (const key of [pem, `\n${pem}`, new TextEncoder().encode(pem)]) {
      const test = app({ key, algorithms: ["RS256", "ES256", "HS256"] });
      expect((await ask(test, tokens[alg])).status).toBe(200);
      expect((await ask(test, tokens[other])).status).toBe(401);
      expect((await ask(test, sign("HS256", {}, {}, Buffer.from(key as string).toString()))).status).toBe(401);
    }
  });

  it("of crypto.subtle verifies its own algorithm", async () => {
    const keys = {
      RS256: await subtle(rsa.publicKey, { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" }),
      ES256: await subtle(ec.publicKey, { name: "ECDSA", namedCurve: "P-256" }),
    };
    for (const alg of ["RS256", "ES256"] as const) {
      const test = app({ key: keys[alg], algorithms: ["RS256", "ES256", "HS256"] });
      expect((await ask(test, tokens[alg])).status).toBe(200);
      expect((await ask(test, tokens[alg === "RS256" ? "ES256" : "RS256"])).status).toBe(401);
    }
    const sha512 = await subtle(rsa.publicKey, { name: "RSASSA-PKCS1-v1_5", hash: "SHA-512" });
    expect((await ask(app({ key: sha512, algorithms: ["RS256"] }), tokens.RS256)).status).toBe(401);
  });

  it("that can't verify by its key_ops is refused, and one in PEM that is no public key is an error", async () => {
    const key = jwk(rsa.publicKey, { key_ops: ["encrypt"] });
    expect((await ask(app({ key, algorithms: ["RS256"] }), tokens.RS256)).status).toBe(401);
    const pkcs8 = rsa.privateKey.export({ format: "pem", type: "pkcs8" }) as string;
    for (const algorithms of [["RS256"], ["HS256"]] as const) {
      const token = algorithms[0] === "RS256" ? tokens.RS256 : sign("HS256", {}, {}, pkcs8);
      expect((await ask(app({ key: pkcs8, algorithms }), token)).status).toBe(500);
    }
  });
});

describe("a key of another kind is no secret", () => {
  const der = (key: KeyObject, type: "spki" | "pkcs8" | "pkcs1" | "sec1") =>
    key.export({ format: "der", type: type as never }) as never as Buffer;
  const pem = rsa.publicKey.export({ format: "pem", type: "spki" }) as string;
  const spki = new Uint8Array(der(rsa.publicKey, "spki"));
  const text = (format: "base64" | "hex" | "base64url", bytes: Uint8Array = spki) =>
    Buffer.from(bytes).toString(format);
  const bytes = (text: string) => new TextEncoder().encode(text);
  it.each<[string, JwtOptions["key"] & (string | Uint8Array | object)]>([
    ["PEM after a comment", `# our key\n${pem}`],
    ["PEM before a comment", `${pem}\n# our key`],
    ["PEM on a line", `KEY=${pem.replaceAll("\n", "\\n")}`],
    ["PEM after a byte order mark", `\ufeff${pem}`],
    ["PEM after bytes that are not UTF-8", new Uint8Array([0xff, 0xfe, ...bytes(pem)])],
    ["PEM in UTF-16", new Uint8Array(Buffer.from(pem, "utf16le"))],
    ["two keys in PEM", pem + pem],
    ["another label", rsa.publicKey.export({ format: "pem", type: "pkcs1" }) as string],
    ["a private key in PEM after text", `x${ec.privateKey.export({ format: "pem", type: "pkcs8" })}`],
    ["SPKI in DER of RSA", spki],
    ["SPKI in DER of EC", new Uint8Array(der(ec.publicKey, "spki"))],
    ["SPKI in DER of Ed25519", new Uint8Array(der(generateKeyPairSync("ed25519").publicKey, "spki"))],
    ["PKCS #8 in DER", new Uint8Array(der(rsa.privateKey, "pkcs8"))],
    ["PKCS #1 in DER", new Uint8Array(der(rsa.publicKey, "pkcs1"))],
    ["SEC 1 in DER", new Uint8Array(der(ec.privateKey, "sec1"))],
    ["DER after other bytes", new Uint8Array([1, 2, 3, ...spki])],
    ["DER before other bytes", new Uint8Array([...spki, 10])],
    ["DER as base64", text("base64")],
    ["DER as lines of base64", text("base64").replace(/.{64}/g, "$&\n")],
    ["DER as base64url", text("base64url")],
    ["DER as base64 in bytes", bytes(text("base64"))],
    ["DER as hex", text("hex")],
    ["a JSON Web Key as a text", JSON.stringify(jwk(rsa.publicKey))],
    ["a set of keys as a text", JSON.stringify({ keys: [jwk(rsa.publicKey)] })],
    ["a key of SSH", "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQC"],
    ["a JSON Web Key whose secret is DER", { kty: "oct", k: text("base64url") }],
    ["a JSON Web Key whose secret is PEM", { kty: "oct", k: Buffer.from(pem).toString("base64url") }],
  ])("%s", async (_what, key) => {
    const secret = key as string | { k?: string };
    const raw = typeof secret === "object" && secret.k !== undefined ? Buffer.from(secret.k, "base64url") : secret;
    for (const algorithms of [["RS256", "ES256", "HS256"], ["HS256"]] as const) {
      for (const given of [key, () => key]) {
        const answer = await ask(app({ key: given as never, algorithms }), sign("HS256", {}, {}, raw as string));
        expect([401, 500]).toContain(answer.status);
      }
    }
  });

  it.each([
    "MIIB a passphrase",
    "0".repeat(64),
    "30820122",
    "-----",
    "{}",
    "ssh",
    "a".repeat(44),
    "MTIzNDU2Nzg5MDEyMzQ1Njc4OTA=",
  ])("%s is a secret", async (key) => {
    expect((await ask(app({ key, algorithms: ["HS256"] }), sign("HS256", {}, {}, key))).status).toBe(200);
  });

  it("random bytes are secrets", () => {
    for (let i = 0; i < 2000; i++) expect(keyKindOf(new Uint8Array(randomBytes(8 + (i % 100))))).toBeUndefined();
  });
});

it("a signature has one text", async () => {
  for (const alg of ["HS256", "HS384", "HS512"] as const) {
    const token = sign(alg, {});
    const test = app({ key: secret, algorithms: [alg] });
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const passing = [];
    for (const last of alphabet) if ((await ask(test, token.slice(0, -1) + last)).status === 200) passing.push(last);
    expect(passing).toEqual([token.at(-1)]);
    for (const more of ["=", "==", "A", "AAAA", "%3D", "."]) expect((await ask(test, token + more)).status).toBe(401);
  }
});

describe("claims", () => {
  const options: JwtOptions = { key: secret, algorithms: ["HS256"] };
  it.each<[string, Partial<JwtOptions>, object, boolean]>([
    ["none", {}, {}, true],
    ["exp now", {}, { exp: NOW }, false],
    ["exp in a moment", {}, { exp: NOW + 0.5 }, true],
    ["exp past", {}, { exp: NOW - 1 }, false],
    ["exp past, within the leeway", { leeway: 5 }, { exp: NOW - 4 }, true],
    ["exp past, beyond the leeway", { leeway: 5 }, { exp: NOW - 5 }, false],
    ["exp that is a text", {}, { exp: String(NOW + 9) }, false],
    ["exp that is null", {}, { exp: null }, false],
    ["nbf now", {}, { nbf: NOW }, true],
    ["nbf later", {}, { nbf: NOW + 1 }, false],
    ["nbf later, within the leeway", { leeway: 2 }, { nbf: NOW + 2 }, true],
    ["nbf that is a text", {}, { nbf: "0" }, false],
    ["the issuer", { issuer: "a" }, { iss: "a" }, true],
    ["another issuer", { issuer: "a" }, { iss: "a/" }, false],
    ["no issuer", { issuer: "a" }, {}, false],
    ["a list of issuers", { issuer: "a" }, { iss: ["a"] }, false],
    ["the audience", { audience: "a" }, { aud: "a" }, true],
    ["one audience of several", { audience: "a" }, { aud: ["b", "a"] }, true],
    ["one of several that are meant", { audience: ["c", "b"] }, { aud: ["b", "a"] }, true],
    ["another audience", { audience: "a" }, { aud: "b" }, false],
    ["no audience", { audience: "a" }, {}, false],
    ["an audience that nobody asks for", {}, { aud: "b" }, true],
  ])("%s", async (_what, more, claims, isValid) => {
    const answer = await ask(app({ ...options, ...more }), sign("HS256", claims));
    expect(answer.status).toBe(isValid ? 200 : 401);
  });
});

describe("attacks (RFC 8725)", () => {
  const both: JwtOptions = { key: jwk(rsa.publicKey), algorithms: ["RS256", "HS256"] };
  const pem = rsa.publicKey.export({ format: "pem", type: "spki" }) as string;
  const hs = { key: secret, algorithms: ["HS256"] } as const;
  const unsigned = `${part({ alg: "none" })}.${part({ sub: "root" })}.`;
  const good = sign("HS256", {});
  const [header, payload, signature] = good.split(".") as [string, string, string];
  it.each<[string, JwtOptions, string]>([
    ["alg none", hs, unsigned],
    ["alg None", hs, `${part({ alg: "None" })}.${part({})}.${signature}`],
    ["no alg", hs, `${part({})}.${payload}.${signature}`],
    ["alg that is a list", hs, sign("HS256", {}, { alg: ["HS256"] })],
    ["a public key as a secret, as PEM", both, sign("HS256", {}, {}, pem)],
    ["a public key as a secret, as JWK", both, sign("HS256", {}, {}, JSON.stringify(jwk(rsa.publicKey)))],
    ["a public key's modulus as a secret", both, sign("HS256", {}, {}, String(jwk(rsa.publicKey).n))],
    ["an algorithm that is not listed", { key: secret, algorithms: ["HS384"] }, good],
    ["an algorithm that nobody knows", hs, sign("HS256", {}, { alg: "HS1" })],
    [
      "a key of another algorithm",
      { key: jwk(rsa.publicKey, { alg: "RS512" }), algorithms: ["RS256"] },
      sign("RS256", {}, {}, rsa.privateKey),
    ],
    [
      "a key for encryption",
      { key: jwk(rsa.publicKey, { use: "enc" }), algorithms: ["RS256"] },
      sign("RS256", {}, {}, rsa.privateKey),
    ],
    ["a key of another kind", { key: jwk(ec.publicKey), algorithms: ["RS256"] }, sign("RS256", {}, {}, rsa.privateKey)],
    ["crit", hs, sign("HS256", {}, { crit: ["exp"], exp: 1 })],
    ["an empty crit", hs, sign("HS256", {}, { crit: [] })],
    ["b64", hs, sign("HS256", {}, { b64: false })],
    ["another secret", hs, sign("HS256", {}, {}, "another")],
    ["another payload", hs, `${header}.${part({ sub: "root" })}.${signature}`],
    ["another header", hs, `${part({ alg: "HS256", typ: "x" })}.${payload}.${signature}`],
    ["no signature", hs, `${header}.${payload}.`],
    ["two parts", hs, `${header}.${payload}`],
    ["four parts", hs, `${good}.x`],
    ["five parts, as JWE has", hs, `${good}.x.x`],
    ["a payload that is no object", hs, sign("HS256", [1])],
    ["a payload that is null", hs, sign("HS256", null)],
    ["a header that is no JSON", hs, `e30x.${payload}.${signature}`],
    ["base64 that is not base64url", hs, `${header}.${payload}.${signature.slice(0, -1)}+`],
    ["a kid that is no text", hs, sign("HS256", {}, { kid: { $ne: 1 } })],
    ["a token of great length", hs, sign("HS256", { pad: "x".repeat(20_000) })],
    [
      "an ES256 signature of zeros (CVE-2022-21449)",
      { key: jwk(ec.publicKey), algorithms: ["ES256"] },
      `${part({ alg: "ES256" })}.${part({})}.${"A".repeat(86)}`,
    ],
    [
      "an ES256 signature in DER",
      { key: jwk(ec.publicKey), algorithms: ["ES256"] },
      (() => {
        const signed = `${part({ alg: "ES256" })}.${part({})}`;
        return `${signed}.${createSign("sha256").update(signed).sign(ec.privateKey).toString("base64url")}`;
      })(),
    ],
    [
      "the key that a token brings",
      { key: jwk(rsa.publicKey), algorithms: ["RS256"] },
      (() => {
        const own = generateKeyPairSync("rsa", { modulusLength: 2048 });
        return sign("RS256", {}, { jwk: jwk(own.publicKey) }, own.privateKey);
      })(),
    ],
  ])("%s is refused", async (_what, options, token) => {
    const answer = await ask(app(options), token);
    expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([401, 'Bearer error="invalid_token"']);
    expect(answer.text()).not.toContain(token.split(".")[1] || "?");
  });

  it("a good one passes, so that the above can fail", async () => {
    expect((await ask(app(hs), good)).status).toBe(200);
    expect((await ask(app(both), sign("RS256", {}, {}, rsa.privateKey))).status).toBe(200);
  });

  it("without a token the challenge has no error", async () => {
    for (const headers of [{}, { authorization: "Basic dDp0" }, { authorization: "Bearer" }, { authorization: "" }]) {
      const answer = await app(hs).get("/me", { headers: headers as Record<string, string> });
      expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
    }
  });
});

describe("a set of keys", () => {
  const set = { keys: [jwk(rsa.publicKey, { kid: "r" }), jwk(ec.publicKey, { kid: "e" })] };

  it("the one of the token's id is taken, and any without an id", async () => {
    const test = app({ jwks: set, algorithms: ["RS256", "ES256"] });
    expect((await ask(test, sign("RS256", {}, { kid: "r" }, rsa.privateKey))).status).toBe(200);
    expect((await ask(test, sign("ES256", {}, { kid: "e" }, ec.privateKey))).status).toBe(200);
    expect((await ask(test, sign("ES256", {}, {}, ec.privateKey))).status).toBe(200);
    expect((await ask(test, sign("ES256", {}, { kid: "r" }, ec.privateKey))).status).toBe(401);
    expect((await ask(test, sign("ES256", {}, { kid: "x" }, ec.privateKey))).status).toBe(401);
  });

  it("at a URL is kept as long as its answer says, and asked for anew for a key that is not in it", async () => {
    let asked = 0;
    let control: string | undefined;
    let keys: object[] = [set.keys[0] as object];
    const server = createServer((_req, res) => {
      asked++;
      if (control !== undefined) res.setHeader("cache-control", control);
      res.end(JSON.stringify({ keys }));
    }).listen(0, "127.0.0.1");
    await new Promise((listening) => server.once("listening", listening));
    try {
      const jwks = `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks`;
      const [r, e] = [sign("RS256", {}, { kid: "r" }, rsa.privateKey), sign("ES256", {}, { kid: "e" }, ec.privateKey)];
      const test = app({ jwks, algorithms: ["RS256", "ES256"] });
      const at = async (seconds: number, token: string) => {
        vi.setSystemTime((NOW + seconds) * 1000);
        return [(await ask(test, token)).status, asked];
      };
      expect(await at(0, r)).toEqual([200, 1]);
      expect(await at(299, r)).toEqual([200, 1]);
      control = "max-age=60";
      expect(await at(301, r)).toEqual([200, 2]);
      expect(await at(360, r)).toEqual([200, 2]);
      expect(await at(362, r)).toEqual([200, 3]);
      // A new key is found at once, and unknown ids do not cause a request each.
      keys = set.keys;
      expect(await at(363, e)).toEqual([401, 3]);
      expect(await at(373, e)).toEqual([200, 4]);
      control = "no-store";
      expect(await at(440, e)).toEqual([200, 5]);
      expect(await at(441, e)).toEqual([200, 6]);
      keys = [1 as never];
      expect(await at(442, e)).toEqual([500, 7]);
    } finally {
      server.close();
    }
  });

  it("at a URL is shared by instances through the sidecar's cache, and asked for where that fails", async () => {
    let asked = 0;
    const server = createServer((_req, res) => {
      asked++;
      res.setHeader("cache-control", "max-age=60");
      res.end(JSON.stringify(set));
    }).listen(0, "127.0.0.1");
    await new Promise((listening) => server.once("listening", listening));
    const folder = mkdtempSync(join(tmpdir(), "tenon-jwks-"));
    const services = await Services.start({ folder });
    try {
      const jwks = `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks`;
      const token = sign("RS256", {}, { kid: "r" }, rsa.privateKey);
      // Each app is an instance of its own.
      const at = async (seconds: number, env: Record<string, string>) => {
        vi.setSystemTime((NOW + seconds) * 1000);
        return [(await ask(app({ jwks, cache, algorithms: ["RS256"] }, env), token)).status, asked];
      };
      const env = { SIDECAR_CACHE_URL: services.url };
      expect(await at(0, env)).toEqual([200, 1]);
      expect(await at(59, env)).toEqual([200, 1]);
      expect(await at(60, env)).toEqual([200, 2]);
      await services.close();
      expect(await at(61, env)).toEqual([200, 3]);
      expect(await at(61, {})).toEqual([500, 3]);
    } finally {
      await services.close();
      server.close();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

it.each([
  ["no key", { algorithms: ["HS256"] }, /either "key" or "jwks"/],
  ["both", { key: "x", jwks: "http://a/", algorithms: ["HS256"] }, /either "key" or "jwks"/],
  ["an empty key", { key: "", algorithms: ["HS256"] }, /"key" is empty/],
  ["no algorithm", { key: "x", algorithms: [] }, /"algorithms" must have one or more of HS256, /],
  ["alg none", { key: "x", algorithms: ["none"] }, /"algorithms"/],
  ["no set of keys", { jwks: { keys: 1 }, algorithms: ["RS256"] }, /"jwks" must be a URL or a set/],
  ["a leeway below 0", { key: "x", algorithms: ["HS256"], leeway: -1 }, /"leeway"/],
  ["a leeway that is a text", { key: "x", algorithms: ["HS256"], leeway: "5" }, /"leeway"/],
  ["an issuer that is a list", { key: "x", algorithms: ["HS256"], issuer: ["a"] }, /"issuer"/],
  ["an audience that is empty", { key: "x", algorithms: ["HS256"], audience: [] }, /"audience"/],
  ["an audience with a number", { key: "x", algorithms: ["HS256"], audience: ["a", 1] }, /"audience"/],
  ["a key that is a number", { key: 1, algorithms: ["HS256"] }, /"key"/],
  ["a cache for a key", { key: "x", cache, algorithms: ["HS256"] }, /"cache" must be the client of the sidecar/],
  ["an unknown option", { key: "x", algorithms: ["HS256"], issuers: [] }, /jwt: unknown "issuers"/],
])("refuses %s", (_what, options, message) => {
  expect(() => jwt(options as never)).toThrow(message);
});
