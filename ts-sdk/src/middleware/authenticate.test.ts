import { describe, expect, it } from "vitest";
import { apiKey, basicAuth, bearer, type Middleware, ok, routes, safeEqual, use } from "../index.ts";
import { testApp } from "../testing/index.ts";

const app = <User>(middleware: Middleware<{ user: User }>) =>
  testApp(routes({ me: use(middleware).get("/me", (_in, _req, { user }) => ok({ user })) }));

describe("bearer", () => {
  const test = app(
    bearer(async (token, req) => (safeEqual(token, "t.o-k_e~n+/=") ? `${token} ${req.path}` : undefined)),
  );
  const ask = (...values: string[]) =>
    test.get("/me", { headers: values.map((value) => ["authorization", value] as const) });

  it.each(["Bearer t.o-k_e~n+/=", "bearer t.o-k_e~n+/=", "BEARER  t.o-k_e~n+/="])("lets %s in", async (value) => {
    expect((await ask(value)).json()).toEqual({ user: "t.o-k_e~n+/= /me" });
  });

  it.each([[""], ["Bearer"], ["Bearer "], ["Bearer wrong"], ["Bearer t.o-k_e~n+/= x"], ["Basic dDp0"], ["Bearer a,b"]])(
    "answers %j with 401 and a challenge",
    async (value) => {
      const answer = await ask(value);
      expect([answer.status, answer.headers.get("www-authenticate"), answer.headers.get("content-type")]).toEqual([
        401,
        "Bearer",
        "application/problem+json",
      ]);
    },
  );

  it("takes no header, and two of them, for none", async () => {
    expect((await ask()).status).toBe(401);
    expect((await ask("Bearer t.o-k_e~n+/=", "Bearer t.o-k_e~n+/=")).status).toBe(401);
  });

  it("null and false are no user, as safeEqual gives false; what is falsy otherwise is one", async () => {
    const of = (user: unknown) => app(bearer(() => user)).get("/me", { headers: { authorization: "Bearer x" } });
    expect((await of(null)).status).toBe(401);
    expect((await of(false)).status).toBe(401);
    expect((await of(0)).json()).toEqual({ user: 0 });
  });
});

describe("basicAuth", () => {
  const test = app(basicAuth((name, password) => (safeEqual(password, "pä:ß") ? { name } : undefined)));
  const ask = (credentials: string, scheme = "Basic") =>
    test.get("/me", { headers: { authorization: `${scheme} ${Buffer.from(credentials).toString("base64")}` } });

  it("splits at the first colon, in UTF-8", async () => {
    expect((await ask("Adä:pä:ß")).json()).toEqual({ user: { name: "Adä" } });
    expect((await ask(":pä:ß", "basic")).json()).toEqual({ user: { name: "" } });
  });

  it.each(["Ada:wrong", "Ada", "", "Ada\0:pä:ß", "Ada:pä:ß\n"])("refuses %j", async (credentials) => {
    const answer = await ask(credentials);
    expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([
      401,
      'Basic realm="restricted", charset="UTF-8"',
    ]);
  });

  it("refuses what is no base64, and no UTF-8", async () => {
    for (const text of [
      "Basic ====",
      "Basic a",
      "Basic Zm9v!",
      `Basic ${Buffer.from([0x61, 0x3a, 0xff]).toString("base64")}`,
    ]) {
      expect((await test.get("/me", { headers: { authorization: text } })).status).toBe(401);
    }
  });

  it("names its realm", async () => {
    const answer = await app(basicAuth(() => undefined, { realm: "shop" })).get("/me");
    expect(answer.headers.get("www-authenticate")).toBe('Basic realm="shop", charset="UTF-8"');
    expect(() => basicAuth(() => 1, { realm: 'a"b' })).toThrow('"realm" must be visible ASCII');
  });
});

describe("apiKey", () => {
  const test = app(apiKey({ header: "X-Api-Key" }, (key) => (safeEqual(key, "k") ? "Ada" : undefined)));

  it("takes the header's one value", async () => {
    expect((await test.get("/me", { headers: { "x-api-key": "k" } })).json()).toEqual({ user: "Ada" });
  });

  it.each([
    [[]],
    [[["x-api-key", ""]]],
    [[["x-api-key", "wrong"]]],
    [
      [
        ["x-api-key", "k"],
        ["x-api-key", "k"],
      ],
    ],
  ])("refuses %j", async (headers) => {
    const answer = await test.get("/me", { headers: headers as [string, string][] });
    expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([401, 'ApiKey header="x-api-key"']);
  });
});

it.each([
  ["bearer", () => bearer(1 as never)],
  ["basicAuth", () => basicAuth(undefined as never)],
  ["apiKey", () => apiKey({ header: "x-key" }, "k" as never)],
])("%s needs a function", (name, make) => {
  expect(make).toThrow(`${name}: expects a function`);
});

it("apiKey needs a header's name", () => {
  expect(() => apiKey({ header: "x key" }, () => 1)).toThrow("apiKey: expects { header");
});

describe("safeEqual", () => {
  it.each<[string | Uint8Array, string | Uint8Array, boolean]>([
    ["", "", true],
    ["a", "a", true],
    ["ä", new Uint8Array([0xc3, 0xa4]), true],
    ["a", "b", false],
    ["a", "aa", false],
    ["aa", "a", false],
    ["", "a", false],
    ["a", "", false],
    ["\0", "", false],
  ])("%j and %j: %j", (a, b, same) => {
    expect(safeEqual(a, b)).toBe(same);
  });

  it("takes nothing else", () => {
    expect(() => safeEqual(undefined as never, undefined as never)).toThrow("safeEqual: expects texts or bytes");
  });
});
