import { describe, expect, it } from "vitest";
import { type CookieOptions, error, get, middleware, noContent, ok, redirect, routes, use } from "../index.ts";
import { testApp } from "../testing/index.ts";

const setCookies = (options?: CookieOptions, name = "sid", value = "abc") =>
  ok({})
    .cookie(name, value, options)
    .headers.filter(([key]) => key === "set-cookie")
    .map(([, text]) => text);

describe("a cookie that is set (RFC 6265bis, section 4.1)", () => {
  it.each<[CookieOptions | undefined, string]>([
    [undefined, "sid=abc; Path=/; HttpOnly; Secure; SameSite=Lax"],
    [{ secure: false, httpOnly: false }, "sid=abc; Path=/; SameSite=Lax"],
    [{ sameSite: "Strict", path: "/app" }, "sid=abc; Path=/app; HttpOnly; Secure; SameSite=Strict"],
    [{ sameSite: "None", partitioned: true }, "sid=abc; Path=/; HttpOnly; Secure; SameSite=None; Partitioned"],
    [
      { maxAge: 60, expires: new Date(0), domain: "a.example" },
      "sid=abc; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Domain=a.example; Path=/; HttpOnly; Secure; SameSite=Lax",
    ],
    [{ maxAge: 0 }, "sid=abc; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Lax"],
  ])("%j", (options, expected) => {
    expect(setCookies(options)).toEqual([expected]);
  });

  it("encodes its value", () => {
    expect(setCookies({}, "a", 'ä; b,c"\\ =%')[0]).toMatch(/^a=%C3%A4%3B%20b%2Cc%22%5C%20%3D%25; /);
  });

  it("stands beside others, on any answer", () => {
    const answer = error(403, "no")
      .cookie("a", "1")
      .cookie("b", "2")
      .header("x-a", "b")
      .clearCookie("c", { path: "/c" });
    expect(
      answer.headers.filter(([name]) => name === "set-cookie").map(([, text]) => text.split("; ").slice(0, 3)),
    ).toEqual([
      ["a=1", "Path=/", "HttpOnly"],
      ["b=2", "Path=/", "HttpOnly"],
      ["c=", "Max-Age=0", "Expires=Thu, 01 Jan 1970 00:00:00 GMT"],
    ]);
  });

  it("takes SameSite in lower case, and sends it as the standard writes it", () => {
    expect(setCookies({ sameSite: "strict" })[0]).toContain("; SameSite=Strict");
  });

  it.each<[string, string, CookieOptions, RegExp]>([
    ["a name with a space", "a b", {}, /"a b": is not a cookie name/],
    ["an empty name", "", {}, /is not a cookie name/],
    ["an unknown option", "a", { maxage: 1 } as never, /unknown "maxage"/],
    ["__Host- with a path", "__Host-a", { path: "/x" }, /__Host- must have path "\/" and no domain/],
    ["__Host- with a domain", "__Host-a", { domain: "a.example" }, /__Host- must have/],
    ["__Host- that is not secure", "__Host-a", { secure: false }, /need Secure/],
    ["__Secure- that is not secure", "__Secure-a", { secure: false }, /need Secure/],
    ["a prefix in another case", "__hOST-a", { secure: false }, /need Secure/],
    ["SameSite=None that is not secure", "a", { sameSite: "None", secure: false }, /need Secure/],
    ["Partitioned that is not secure", "a", { partitioned: true, secure: false }, /need Secure/],
    ["a path with an attribute in it", "a", { path: "/; Domain=evil.example" }, /"path" must begin/],
    ["a path without a slash", "a", { path: "x" }, /"path" must begin/],
    ["a domain with an attribute in it", "a", { domain: "a; b" }, /"domain" must be the name of a host/],
    ["another SameSite", "a", { sameSite: "loose" as never }, /"sameSite" must be/],
    ["an empty key", "a", { sign: "" }, /the key to sign with is empty/],
    ["half a second", "a", { maxAge: 0.5 }, /"maxAge"/],
    ["a date that is none", "a", { expires: new Date("x") }, /"expires" must be a valid Date/],
  ])("refuses %s", (_what, name, options, message) => {
    expect(() => setCookies(options, name)).toThrow(message);
  });

  it("is at most as long as browsers keep it", () => {
    expect(() => setCookies({}, "a", "x".repeat(4094))).not.toThrow();
    expect(() => setCookies({}, "a", "x".repeat(4095))).toThrow("longer than 4096 bytes");
    expect(() => setCookies({ sign: "k" }, "a", "x".repeat(4094))).toThrow("longer than 4096 bytes");
  });

  it("may have the prefixes", () => {
    expect(setCookies({}, "__Host-a")).toHaveLength(1);
    expect(setCookies({ path: "/x" }, "__Secure-a")).toHaveLength(1);
  });
});

describe("a cookie that is sent", () => {
  const read = routes({
    read: get("/{name}", (_in, req) => ok({ value: req.cookies.get(req.path.slice(1)) ?? null })),
  });
  const value = async (name: string, ...cookies: string[]) => {
    const headers = cookies.map((cookie) => ["cookie", cookie] as const);
    return ((await testApp(read).get(`/${name}`, { headers })).json() as { value: unknown }).value;
  };

  it.each<[string, unknown]>([
    ["a=1; b=2", "1"],
    ["b=2;a=1", "1"],
    ["  a = 1 ; b=2", "1"],
    ["aa=1; a=2", "2"],
    ["a=", ""],
    ["a", null],
    ["", null],
    ["A=1", null],
    ["a=b=c", "b=c"],
    ['a="1"', "1"],
    ["a=%C3%A4%3B", "ä;"],
    ["a=%zz", "%zz"],
    ["a=1; a=2", "1"],
  ])("%j", async (header, expected) => {
    expect(await value("a", header)).toBe(expected);
  });

  it("may be in several lines, as HTTP/2 has them", async () => {
    expect(await value("b", "a=1", "b=2")).toBe("2");
    expect(await value("b")).toBe(null);
  });
});

describe("a signed cookie", () => {
  const key = "a key";
  const app = testApp(
    routes({
      set: get("/set", () => ok({}).cookie("sid", "ä.b", { sign: key }).cookie("plain", "1")),
      order: get("/order", () =>
        ok({})
          .cookie("a", "1")
          .cookie("sid", "1", { sign: key })
          .cookie("b", "1", { sign: key })
          .header("Set-Cookie", "c=1")
          .header("etag", '"1"')
          .clearCookie("sid")
          .cookie("d", "1", { sign: key }),
      ),
      thrown: get("/thrown", () => {
        throw error(409, "no").cookie("sid", "1", { sign: key });
      }),
      around: use(middleware(async (_req, next) => (await next()).cookie("late", "1", { sign: key }))).get(
        "/around",
        { status: 204 },
        () => noContent().cookie("sid", "1", { sign: key }),
      ),
      read: get("/read", async (_in, req) => ok({ value: (await req.cookies.signed("sid", key)) ?? null })),
      other: get("/other", async (_in, req) => ok({ value: (await req.cookies.signed("other", key)) ?? null })),
    }),
  );
  const cookieOf = async (path: string) =>
    (await app.get(path)).headers.getAll("set-cookie").map((text) => text.split(";")[0]);
  const read = async (cookie: string, path = "/read") =>
    ((await app.get(path, { headers: { cookie } })).json() as { value: unknown }).value;

  it("comes back as it was set, and not when it was tampered with", async () => {
    const [cookie, plain] = (await cookieOf("/set")) as [string, string];
    expect(plain).toBe("plain=1");
    expect(cookie).toMatch(/^sid=%C3%A4\.b\.[\w-]{43}$/);
    expect(await read(cookie)).toBe("ä.b");
    for (const other of [
      cookie.replace("b", "c"),
      `${cookie}x`,
      cookie.slice(0, -1),
      cookie.replace(/.$/, (last) => (last === "A" ? "B" : "A")),
      "sid=%C3%A4.b",
      "sid=",
      "sid=.",
    ]) {
      expect(await read(other), other).toBe(null);
    }
  });

  it("is sent in the order in which cookies are set", async () => {
    const names = (await cookieOf("/order")).map((pair) => pair?.split("=")[0]);
    expect(names).toEqual(["a", "sid", "b", "c", "sid", "d"]);
    expect((await app.get("/order")).headers.getAll("set-cookie")[4]).toMatch(/^sid=; Max-Age=0/);
  });

  it("is that of its name", async () => {
    const [cookie = ""] = await cookieOf("/set");
    expect(await read(cookie.replace("sid=", "other="), "/other")).toBe(null);
  });

  it("is on answers that are thrown, and on those of middleware", async () => {
    expect(await cookieOf("/thrown")).toEqual([expect.stringMatching(/^sid=1\.[\w-]{43}$/)]);
    expect(await cookieOf("/around")).toEqual([expect.stringMatching(/^sid=1\./), expect.stringMatching(/^late=1\./)]);
  });
});

describe("redirect", () => {
  it.each([
    [redirect("/a"), 302],
    [redirect("https://a.example/b?c", 308), 308],
  ])("%#", (answer, status) => {
    expect([answer.status, answer.headers[0]?.[0], answer.body]).toEqual([status, "location", undefined]);
  });

  it("percent-encodes what a header can't have", () => {
    expect(redirect("/grüße?a=%20€").headers).toEqual([["location", "/gr%C3%BC%C3%9Fe?a=%20%E2%82%AC"]]);
    expect(redirect("/\ud83d\ude00\ud83d").headers).toEqual([["location", "/%F0%9F%98%80%EF%BF%BD"]]);
    expect(redirect(new URL("https://a.example/é") as never).headers).toEqual([
      ["location", "https://a.example/%C3%A9"],
    ]);
  });

  it("refuses what is no redirect, and a place that can't be sent", () => {
    expect(() => redirect("/a", 200 as never)).toThrow("redirect: 200 is not a redirect status");
    expect(() => redirect("/a\r\nset-cookie: x")).toThrow('header "location"');
    expect(() => redirect(undefined as never)).toThrow('header "location": has no value');
  });
});
