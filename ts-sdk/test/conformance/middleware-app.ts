/** An app with all of the middleware around it, and with cookies, forms and redirects. */
import {
  type App,
  apiKey,
  basicAuth,
  bearer,
  cors,
  error,
  etag,
  Form,
  field,
  get,
  group,
  guard,
  type JwtOptions,
  jwt,
  list,
  middleware,
  noContent,
  ok,
  post,
  redirect,
  routes,
  type SignatureScheme,
  safeEqual,
  secret,
  secureHeaders,
  signature,
  Type,
  use,
} from "../../src/index.ts";

/** The RSA key of RFC 7515, appendix A.2. */
export const RSA = {
  kty: "RSA",
  n: "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ",
  e: "AQAB",
} as const;

/** The EC key of RFC 7515, appendix A.3. */
export const EC = {
  kty: "EC",
  crv: "P-256",
  x: "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
  y: "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
} as const;

/** The same keys in PEM. */
const RSA_PEM = `-----BEGIN PUBLIC KEY-----
MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAofgWCuLjybRlzo0tZWJj
NiuSfb4p4fAkd/wWJcyQoTbji9k0l8W26mPddxHmfHQp+Vaw+4qPCJrcS2mJPMEz
P1Pt0Bm4d4QlL+yRT+SFd2lZS+pCgNMsD1W/YpRPEwOWvG6b32690r2jZ47soMZo
9wGzjb/7OMg0LOL+bSf63kpaSHSXndS5z5rexMdbBYUsLA9e+KXBdQOS+UTo7WTB
EMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6/I5IhlJH7aGhyxX
FvUK+DWNmoudF8NAco9/h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXp
oQIDAQAB
-----END PUBLIC KEY-----`;
const EC_PEM = `-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEf83OJ3D2xF1Bg8vub9tLe1gHMzV7
6e8Tus9uPHvRVEXH8UTNG72bfocs3+257rn0s2ldbqkLJK2KRiMohYjlrQ==
-----END PUBLIC KEY-----`;

const Note = Type("Note", { text: field.string({ min: 1 }) });
const Profile = Form("Profile", {
  name: field.string(),
  age: field.u32({ default: 1 }),
  tags: list(field.string()).optional(),
  picture: field.file({ max: 4, types: ["image/png"] }).optional(),
});
const Search = Form("Search", { q: field.string(), n: field.u32() });

const token = (options: Partial<JwtOptions>) =>
  use(jwt({ key: () => secret("JWT"), algorithms: ["HS256"], ...options } as JwtOptions));
const signed = (scheme: SignatureScheme, name: string, tolerance?: number) =>
  use(signature({ scheme, secret: () => secret(name), ...(tolerance === undefined ? {} : { tolerance }) }));
// The tokens of RFC 7515's examples expired in 2011.
const leeway = 1e12;

const counted = middleware(async (_req, next) => next({ count: 1 }));
const more = middleware(async (_req, next, { count }: { count: number }) => next({ count: count + 1, more: true }));
const timed = middleware(async (_req, next) => (await next()).header("x-timed", "1"));
const twice = middleware(async (_req, next) => {
  await next();
  return next();
});

const app: App = routes(
  {
    open: get("/open", () => ok({ a: 1 }).header("cache-control", "max-age=5")),
    note: post("/note", { body: Note }, ({ body }) => ok(body)),
    fails: get("/fails", () => {
      throw new Error("hunter2");
    }),
    handled: get("/handled", () => {
      throw new RangeError("x");
    }),
    twice: use(twice).get("/twice", () => ok({})),
    context: use(counted, more).get("/context", (_in, _req, context) => ok(context)),
    guarded: use(
      middleware((req, next) => {
        guard(req.headers.has("x-ok"), 403, "not so");
        return next();
      }),
    ).post("/guarded", { body: Note }, ({ body }) => ok(body)),
    thrown: use(
      middleware(() => {
        throw error(418, "tea");
      }),
    ).get("/thrown", () => ok({})),
    nested: group("/nested", { inner: group("/inner", { it: get("", () => ok({ it: 1 })) }, { use: [timed] }) }),
    partner: group("/partner", { it: get("", () => ok({})) }, { use: [cors({ origin: ["https://other.example"] })] }),
    bearer: use(bearer((given) => (safeEqual(given, secret("TOKEN")) ? { name: "Ada" } : undefined))).post(
      "/bearer",
      { body: Note },
      (_in, _req, { user }) => ok(user),
    ),
    basic: use(basicAuth((name, password) => (safeEqual(password, "pä:ß") ? name : undefined), { realm: "shop" })).get(
      "/basic",
      (_in, _req, { user }) => ok({ user }),
    ),
    key: use(apiKey({ header: "X-Key" }, (given) => safeEqual(given, "k"))).get("/key", () => ok({})),
    jwt: token({}).get("/jwt", (_in, _req, { claims }) => ok(claims)),
    jwtMeant: token({ issuer: "joe", audience: "shop" }).get("/jwt/meant", (_in, _req, { claims }) => ok(claims)),
    hs512: token({ algorithms: ["HS512", "HS384"] }).get("/jwt/hs512", (_in, _req, { claims }) => ok(claims)),
    rs256: token({ key: RSA, algorithms: ["RS256", "HS256"], leeway }).get("/jwt/rs256", (_in, _req, { claims }) =>
      ok(claims),
    ),
    es256: token({ key: EC, algorithms: ["ES256"], leeway }).get("/jwt/es256", (_in, _req, { claims }) => ok(claims)),
    rsaPem: token({ key: RSA_PEM, algorithms: ["RS256", "ES256", "HS256"], leeway }).get(
      "/jwt/rsa-pem",
      (_in, _req, { claims }) => ok(claims),
    ),
    ecPem: token({ key: EC_PEM, algorithms: ["RS256", "ES256", "HS256"], leeway }).get(
      "/jwt/ec-pem",
      (_in, _req, { claims }) => ok(claims),
    ),
    jwks: use(jwt({ jwks: { keys: [{ ...RSA, kid: "r" }, EC] }, algorithms: ["RS256", "ES256"], leeway })).get(
      "/jwt/jwks",
      (_in, _req, { claims }) => ok(claims),
    ),
    github: signed("github", "GITHUB").post("/github", (_in, req) => ok({ text: req.text() ?? null })),
    stripe: signed("stripe", "STRIPE").post("/stripe", (_in, req) => ok({ text: req.text() ?? null })),
    standard: signed("standard-webhooks", "WEBHOOK").post("/standard", (_in, req) => ok({ text: req.text() ?? null })),
    published: signed("standard-webhooks", "WEBHOOK", leeway).post("/published", (_in, req) =>
      ok({ text: req.text() ?? null }),
    ),
    cookie: get("/cookie", () =>
      ok({})
        .cookie("plain", "ü;=")
        .cookie("__Host-signed", "a.b", { sign: secret("COOKIE"), maxAge: 60 })
        .clearCookie("gone"),
    ),
    cookies: get("/cookies", async (_in, req) =>
      ok({
        plain: req.cookies.get("plain") ?? null,
        signed: (await req.cookies.signed("signed", secret("COOKIE"))) ?? null,
      }),
    ),
    form: post("/form", { body: Profile }, ({ body: { picture, ...rest } }) =>
      ok({ ...rest, picture: picture && { name: picture.name, type: picture.type, bytes: [...picture.bytes] } }),
    ),
    search: post("/search", { body: Search }, ({ body }) => ok(body)),
    away: get("/away", () => redirect("/grüße", 308)),
    none: get("/none", { status: 204 }, () => noContent()),
  },
  {
    prefix: "/v1",
    use: [
      cors({ origin: ["https://app.example"], credentials: true, expose: ["x-total"], maxAge: 60 }),
      secureHeaders({ "x-frame-options": "DENY" }),
      etag(),
      // The build, which has no client, must not run it.
      middleware((req, next) => next({ client: req.ip })),
    ],
    onError: (thrown, req) => (thrown instanceof RangeError ? error(422, `at ${req.path}`) : undefined),
  },
);

export default app;
