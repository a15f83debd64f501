/** Requests to {@link file://./middleware-app.ts}: the inputs that each standard accepts and refuses. */
import { createHmac } from "node:crypto";
import { EC, RSA } from "./middleware-app.ts";
import { FAILURE, type Row } from "./row.ts";

/** The secrets of the app. */
export const secrets: Readonly<Record<string, string>> = {
  TOKEN: "t.o-k_e~n+/=",
  JWT: "a secret of at least thirty-two bytes!",
  COOKIE: "cookie key",
  GITHUB: "It's a Secret to Everybody",
  STRIPE: "whsec_test",
  WEBHOOK: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
};

type Headers = readonly (readonly [name: string, value: string])[];

const ask = (method: string, path: string, headers: Headers, status: number, more: Partial<Row> = {}): Row => ({
  method,
  path: `/v1${path}`,
  headers,
  status,
  ...more,
});
const get = (path: string, headers: Headers, status: number, more?: Partial<Row>) =>
  ask("GET", path, headers, status, more);
const post = (path: string, body: string, headers: Headers, status: number, more?: Partial<Row>) =>
  ask("POST", path, headers, status, { body, ...more });

// Fetch, section 3.3 (the CORS protocol).
const origin = ["origin", "https://app.example"] as const;
const other = ["origin", "https://other.example"] as const;
const asks = ["access-control-request-method", "POST"] as const;
const allowed = {
  "access-control-allow-origin": ["https://app.example"],
  "access-control-allow-credentials": ["true"],
  vary: ["Origin"],
};
const refused = { "access-control-allow-origin": [], "access-control-allow-credentials": [], vary: ["Origin"] };
const exposed = { ...allowed, "access-control-expose-headers": ["x-total"] };
const corsRows: Row[] = [
  get("/open", [], 200, { has: refused }),
  get("/open", [origin], 200, { has: exposed, json: { a: 1 } }),
  get("/open", [other], 200, { has: refused, json: { a: 1 } }),
  get("/open", [["origin", "null"]], 200, { has: refused }),
  get("/open", [["origin", "https://app.example:443"]], 200, { has: refused }),
  get("/open", [["origin", "https://app.example.evil"]], 200, { has: refused }),
  get("/nowhere", [origin], 404, { has: exposed }),
  ask("DELETE", "/open", [origin], 405, { has: { ...exposed, allow: ["GET, HEAD, OPTIONS"] } }),
  get("/fails", [origin], 500, { has: exposed }),
  get("/handled", [origin], 422, { has: exposed }),
  post("/note", "{}", [origin], 400, { has: exposed, errors: ["body #/text required"] }),
  post("/note", "x", [origin, ["content-type", "text/plain"]], 415, { has: exposed }),
  ask("OPTIONS", "/note", [], 204, { has: { ...refused, allow: ["POST, OPTIONS"] } }),
  ask("OPTIONS", "/note", [origin], 204, { has: { ...exposed, allow: ["POST, OPTIONS"] } }),
  ask("OPTIONS", "/note", [other, asks], 204, { has: { ...refused, allow: ["POST, OPTIONS"] } }),
  ask("OPTIONS", "/note", [origin, asks, ["access-control-request-headers", "x-a, x-b"]], 204, {
    has: {
      ...allowed,
      "access-control-allow-methods": ["GET, HEAD, POST, PUT, PATCH, DELETE"],
      "access-control-allow-headers": ["x-a, x-b"],
      "access-control-max-age": ["60"],
      vary: ["Access-Control-Request-Headers, Origin"],
    },
  }),
  // The group allows another origin than the app, for the methods of its routes.
  ask("OPTIONS", "/partner", [other, ["access-control-request-method", "GET"]], 204, {
    has: {
      "access-control-allow-origin": ["https://other.example"],
      "access-control-allow-credentials": [],
      vary: ["Access-Control-Request-Headers, Origin"],
      allow: [],
    },
  }),
  ask("OPTIONS", "/partner", [other], 204, { has: { ...refused, allow: ["GET, HEAD, OPTIONS"] } }),
  // A preflight does not depend on routes; the request itself is answered 404.
  ask("OPTIONS", "/nowhere", [origin, asks], 204, {
    has: { "access-control-allow-origin": allowed["access-control-allow-origin"] },
  }),
];

const aroundRows: Row[] = [
  get("/context", [], 200, { json: { count: 2, more: true } }),
  get("/twice", [], 500),
  get("/thrown", [], 418),
  get("/fails", [], 500, { json: FAILURE }),
  get("/handled", [], 422, {
    json: { type: "about:blank", title: "Unprocessable Content", status: 422, detail: "at /v1/handled" },
  }),
  post("/guarded", "garbage", [], 403),
  post("/guarded", "garbage", [["x-ok", "1"]], 400, { errors: ["body # json"] }),
  get("/nested/inner", [], 200, { json: { it: 1 }, has: { "x-timed": ["1"] } }),
  ask("HEAD", "/nested/inner", [], 200, { text: "", has: { "x-timed": ["1"], "content-length": ["8"] } }),
  ask("POST", "/nested/inner", [], 405, { has: { "x-timed": [] } }),
];

const problem = { "content-type": ["application/problem+json"] };
const challenge = (text: string) => ({ has: { "www-authenticate": [text], ...problem } });
const auth = (value: string) => [["authorization", value]] as const;
const basic = (text: string, encoding: BufferEncoding = "utf8") =>
  auth(`Basic ${Buffer.from(text, encoding).toString("base64")}`);
const realm = challenge('Basic realm="shop", charset="UTF-8"');
// RFC 6750, RFC 7617, and RFC 9110, section 11.
const authRows: Row[] = [
  post("/bearer", "garbage", [], 401, challenge("Bearer")),
  post("/bearer", "garbage", auth("Bearer wrong"), 401, challenge("Bearer")),
  post("/bearer", "garbage", auth(`Bearer ${secrets["TOKEN"]}`), 400, { errors: ["body # json"] }),
  post("/bearer", '{"text":"a"}', auth(`bearer  ${secrets["TOKEN"]}`), 200, { json: { name: "Ada" } }),
  post("/bearer", '{"text":"a"}', auth(`Bearer ${secrets["TOKEN"]} x`), 401, challenge("Bearer")),
  post("/bearer", '{"text":"a"}', auth(`Basic ${secrets["TOKEN"]}`), 401, challenge("Bearer")),
  post(
    "/bearer",
    '{"text":"a"}',
    [...auth(`Bearer ${secrets["TOKEN"]}`), ...auth("Bearer x")],
    401,
    challenge("Bearer"),
  ),
  get("/basic", [], 401, realm),
  get("/basic", basic("Adä:pä:ß"), 200, { json: { user: "Adä" } }),
  get("/basic", basic(":pä:ß"), 200, { json: { user: "" } }),
  get("/basic", basic("Ada"), 401, realm),
  get("/basic", basic("Ada:wrong"), 401, realm),
  get("/basic", basic("Ada\u0001:pä:ß"), 401, realm),
  get("/basic", basic("Ada:pä:ß", "latin1"), 401, realm),
  get("/basic", auth("Basic ===="), 401, realm),
  get("/key", [], 401),
  get("/key", [["X-KEY", "k"]], 200),
  get("/key", [["x-key", "wrong"]], 401),
  get("/key", [["x-key", ""]], 401),
];

const part = (value: unknown) =>
  Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");
function hs(
  claims: unknown,
  {
    key = secrets["JWT"] as string,
    bits = 256,
    ...header
  }: { key?: string; bits?: number; [more: string]: unknown } = {},
): string {
  const signed = `${part({ alg: `HS${bits}`, ...header })}.${part(claims)}`;
  return `${signed}.${createHmac(`sha${bits}`, key).update(signed).digest("base64url")}`;
}
const bearerOf = (token: string) => auth(`Bearer ${token}`);
const invalid = challenge('Bearer error="invalid_token"');
/** Far enough from now for a slow machine. */
const now = Math.floor(Date.now() / 1000);
const [past, future] = [now - 3600, now + 36_000];
const claims = { iss: "joe", exp: 1300819380, "http://example.com/is_root": true };
const payload = "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
/** RFC 7515, appendixes A.2 and A.3. */
const rs256 = `eyJhbGciOiJSUzI1NiJ9.${payload}.cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw`;
const es256 = `eyJhbGciOiJFUzI1NiJ9.${payload}.DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q`;
const pem = "-----BEGIN PUBLIC KEY-----\nx\n-----END PUBLIC KEY-----";
// RFC 7519, with the attacks of RFC 8725.
const jwtRows: Row[] = [
  get("/jwt", [], 401, challenge("Bearer")),
  get("/jwt", auth("Basic eDp5"), 401, challenge("Bearer")),
  get("/jwt", bearerOf(hs({ sub: "Ada" })), 200, { json: { sub: "Ada" } }),
  get("/jwt", bearerOf(hs({ exp: future, nbf: past })), 200),
  get("/jwt", bearerOf(hs({ exp: past })), 401, invalid),
  get("/jwt", bearerOf(hs({ nbf: future })), 401, invalid),
  get("/jwt", bearerOf(hs({ exp: String(future) })), 401, invalid),
  get("/jwt", bearerOf(hs({}, { key: "another" })), 401, invalid),
  get("/jwt", bearerOf(hs({}, { crit: ["exp"] })), 401, invalid),
  get("/jwt", bearerOf(hs({}, { b64: false })), 401, invalid),
  get("/jwt", bearerOf(hs([1])), 401, invalid),
  get("/jwt", bearerOf(hs({}, { bits: 384 })), 401, invalid),
  get("/jwt", bearerOf(hs({}, { alg: "none" })), 401, invalid),
  get("/jwt", bearerOf(`${part({ alg: "none" })}.${part({ sub: "root" })}.`), 401, invalid),
  get("/jwt", bearerOf(`${hs({})}.x`), 401, invalid),
  get("/jwt", bearerOf("abc"), 401, invalid),
  get("/jwt/meant", bearerOf(hs({ iss: "joe", aud: ["x", "shop"] })), 200),
  get("/jwt/meant", bearerOf(hs({ iss: "joe", aud: "x" })), 401, invalid),
  get("/jwt/meant", bearerOf(hs({ iss: "jim", aud: "shop" })), 401, invalid),
  get("/jwt/meant", bearerOf(hs({})), 401, invalid),
  get("/jwt/hs512", bearerOf(hs({}, { bits: 512 })), 200),
  get("/jwt/hs512", bearerOf(hs({}, { bits: 384 })), 200),
  get("/jwt/hs512", bearerOf(hs({})), 401, invalid),
  get("/jwt/rs256", bearerOf(hs({}, { key: JSON.stringify(RSA) })), 401, invalid),
  get("/jwt/rs256", bearerOf(hs({}, { key: RSA.n })), 401, invalid),
  get("/jwt/rs256", bearerOf(hs({}, { key: pem })), 401, invalid),
  get("/jwt/es256", bearerOf(hs({}, { key: JSON.stringify(EC) })), 401, invalid),
];

/**
 * Public keys. A signature of zeros is the attack of CVE-2022-21449.
 */
export const publicKeyRows: Row[] = [
  get("/jwt/rs256", bearerOf(rs256), 200, { json: claims }),
  get("/jwt/rs256", bearerOf(`${rs256.slice(0, -4)}AAAA`), 401, invalid),
  get("/jwt/es256", bearerOf(es256), 200, { json: claims }),
  get("/jwt/es256", bearerOf(`${es256.slice(0, -86)}${"A".repeat(86)}`), 401, invalid),
  get("/jwt/rsa-pem", bearerOf(rs256), 200, { json: claims }),
  get("/jwt/rsa-pem", bearerOf(es256), 401, invalid),
  get("/jwt/ec-pem", bearerOf(es256), 200, { json: claims }),
  get("/jwt/ec-pem", bearerOf(rs256), 401, invalid),
  get("/jwt/jwks", bearerOf(rs256), 200, { json: claims }),
  get("/jwt/jwks", bearerOf(es256), 200, { json: claims }),
];

const hex = (key: string, text: string) => createHmac("sha256", key).update(text).digest("hex");
const stripe = (at: number, text: string, more = "") =>
  [["stripe-signature", `t=${at},v1=${hex(secrets["STRIPE"] as string, `${at}.${text}`)}${more}`]] as const;
const webhookKey = Buffer.from((secrets["WEBHOOK"] as string).slice(6), "base64");
function webhook(at: number, text: string, before = ""): Headers {
  const digest = createHmac("sha256", webhookKey).update(`msg_1.${at}.${text}`).digest("base64");
  return [
    ["webhook-id", "msg_1"],
    ["webhook-timestamp", String(at)],
    ["webhook-signature", `${before}v1,${digest}`],
  ];
}
// The examples that GitHub and Standard Webhooks publish, and Stripe's scheme.
const github = [
  ["x-hub-signature-256", "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"],
] as const;
const published = [
  ["webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek"],
  ["webhook-timestamp", "1614265330"],
  ["webhook-signature", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="],
] as const;
const signatureRows: Row[] = [
  post("/github", "Hello, World!", github, 200, { json: { text: "Hello, World!" } }),
  post("/github", "Hello, World?", github, 401),
  post("/github", "Hello, World!", [], 401),
  post("/github", "Hello, World!", [["x-hub-signature-256", github[0][1].slice(7)]], 401),
  post("/github", "Hello, World!", [["x-hub-signature", github[0][1]]], 401),
  post("/stripe", "{}", stripe(now, "{}"), 200, { json: { text: "{}" } }),
  post("/stripe", "{}", stripe(now, "{}", ",v0=x,v1=y"), 200),
  post("/stripe", "{ }", stripe(now, "{}"), 401),
  post("/stripe", "{}", stripe(past, "{}"), 401),
  post("/stripe", "{}", stripe(future, "{}"), 401),
  post("/stripe", "{}", [["stripe-signature", `v1=${hex(secrets["STRIPE"] as string, ".{}")}`]], 401),
  post("/standard", "{}", webhook(now, "{}"), 200),
  post("/standard", "{}", webhook(now, "{}", "v1a,x v1,y "), 200),
  post("/standard", "[]", webhook(now, "{}"), 401),
  post("/standard", "{}", webhook(past, "{}"), 401),
  post("/standard", "{}", webhook(now, "{}").slice(1), 401),
  post("/standard", '{"test": 2432232314}', published, 401),
  post("/published", '{"test": 2432232314}', published, 200, { json: { text: '{"test": 2432232314}' } }),
];

const tag = '"AVq9f1zFei3ZS3WQ8ErYCEJz"';
const headerRows: Row[] = [
  get("/open", [["if-none-match", "x"]], 200, {
    has: { etag: [tag], "x-frame-options": ["DENY"], "x-content-type-options": ["nosniff"] },
  }),
  get("/open", [["if-none-match", tag]], 304, { text: "", has: { etag: [tag], "cache-control": ["max-age=5"] } }),
  get("/open", [["if-none-match", `"a", W/${tag}`]], 304),
  get("/open", [["if-none-match", "*"]], 304),
  ask("HEAD", "/open", [], 200, { text: "", has: { etag: [tag], "content-length": ["7"] } }),
  get("/none", [], 204, { has: { etag: [], "x-frame-options": ["DENY"] } }),
  get("/away", [], 308, { has: { location: ["/gr%C3%BC%C3%9Fe"] } }),
];

const mac = (name: string, value: string) =>
  createHmac("sha256", secrets["COOKIE"] as string)
    .update(`${name}=${value}`)
    .digest("base64url");
const cookie = (text: string) => [["cookie", text]] as const;
// RFC 6265bis.
const cookieRows: Row[] = [
  get("/cookie", [], 200, {
    has: {
      "set-cookie": [
        "plain=%C3%BC%3B%3D; Path=/; HttpOnly; Secure; SameSite=Lax",
        `__Host-signed=a.b.${mac("__Host-signed", "a.b")}; Max-Age=60; Path=/; HttpOnly; Secure; SameSite=Lax`,
        "gone=; Max-Age=0; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Path=/; HttpOnly; Secure; SameSite=Lax",
      ],
    },
  }),
  get("/cookies", [], 200, { json: { plain: null, signed: null } }),
  get("/cookies", cookie(`x=1; plain=%C3%BC%3B; signed=a.b.${mac("signed", "a.b")}`), 200, {
    json: { plain: "ü;", signed: "a.b" },
  }),
  get("/cookies", [...cookie("plain=1"), ...cookie(`signed=.${mac("signed", "")}`)], 200, {
    json: { plain: "1", signed: "" },
  }),
  get("/cookies", cookie(`plain="q"; plain=2; signed=a.b.${mac("other", "a.b")}`), 200, {
    json: { plain: "q", signed: null },
  }),
  get("/cookies", cookie(`plain=%zz; signed=a.c.${mac("signed", "a.b")}`), 200, {
    json: { plain: "%zz", signed: null },
  }),
];

const multipart = [["content-type", "multipart/form-data; boundary=x"]] as const;
const field = (name: string, value: string) =>
  `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const file = (type: string, bytes: string, name = "a.png") =>
  `--x\r\nContent-Disposition: form-data; name="picture"; filename="${name}"\r\nContent-Type: ${type}\r\n\r\n${bytes}\r\n`;
const urlencoded = [["content-type", "application/x-www-form-urlencoded"]] as const;
const ada = field("name", "Ada");
// RFC 7578, and the URL standard's application/x-www-form-urlencoded.
const formRows: Row[] = [
  post("/form", `${ada}--x--`, multipart, 200, { json: { name: "Ada", age: 1 } }),
  post("/form", `${ada}${field("age", "7")}${field("tags", "a")}${field("tags", "b")}--x--\r\n`, multipart, 200, {
    json: { name: "Ada", age: 7, tags: ["a", "b"] },
  }),
  post("/form", `preamble\r\n${ada}${file("image/png", "\u0000\r\n-")}--x--`, multipart, 200, {
    json: { name: "Ada", age: 1, picture: { name: "a.png", type: "image/png", bytes: [0, 13, 10, 45] } },
  }),
  post("/form", `${ada}${file("image/png", "x", "C:\\\\b.png")}--x--`, multipart, 200, {
    json: { name: "Ada", age: 1, picture: { name: "b.png", type: "image/png", bytes: [120] } },
  }),
  post("/form", `${ada}${file("image/png", "12345")}--x--`, multipart, 400, { errors: ["body #/picture max"] }),
  post("/form", `${ada}${file("image/gif", "1")}--x--`, multipart, 400, { errors: ["body #/picture type"] }),
  post("/form", `${field("age", "-1")}--x--`, multipart, 400, { errors: ["body #/name required", "body #/age type"] }),
  post("/form", ada, multipart, 400, { errors: ["body # format"] }),
  post("/form", `${ada}--x--`, [["content-type", "multipart/form-data"]], 400, { errors: ["body # format"] }),
  post("/form", "name=Ada", urlencoded, 415),
  post("/form", "{}", [["content-type", "application/json"]], 415),
  post("/form", `${ada}--x--`, [], 415),
  post("/search", "q=a+b%26&n=1&z=2", urlencoded, 200, { json: { q: "a b&", n: 1 } }),
  post("/search", "q=a&q=b&n=1", [["content-type", "application/x-www-form-urlencoded; charset=utf-8"]], 200, {
    json: { q: "b", n: 1 },
  }),
  post("/search", `${field("q", "a")}${field("n", "2")}--x--`, multipart, 200, { json: { q: "a", n: 2 } }),
  post("/search", "q=%ff&n=x", urlencoded, 400, { errors: ["body #/q format", "body #/n type"] }),
  post("/search", "", urlencoded, 400, { errors: ["body #/q required", "body #/n required"] }),
  post("/search", "q=a", [["content-type", "text/plain"]], 415),
];

export const middlewareRows: readonly Row[] = [
  ...corsRows,
  ...aroundRows,
  ...authRows,
  ...jwtRows,
  ...signatureRows,
  ...headerRows,
  ...cookieRows,
  ...formRows,
];
