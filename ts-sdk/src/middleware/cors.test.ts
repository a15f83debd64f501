import { describe, expect, it } from "vitest";
import { bearer, cors, error, field, get, group, middleware, ok, post, routes, Type, use } from "../index.ts";
import { testApp } from "../testing/index.ts";

const Body = Type("Body", { name: field.string() });
const app = (...[options]: Parameters<typeof cors>) =>
  testApp(
    routes(
      {
        read: get("/read", () => ok({}).header("vary", "Accept")),
        write: post("/write", { body: Body }, () => ok({})),
        fails: get("/fails", () => {
          throw error(409, "no");
        }),
        own: get("/own", () => ok({}).header("access-control-allow-origin", "https://own.example")),
      },
      { use: [cors(options)] },
    ),
  );
const A = "https://a.example";
const B = "https://b.example";
const preflight = { origin: A, "access-control-request-method": "POST" };
const corsHeaders = (answer: { headers: Iterable<readonly [string, string]> }) =>
  Object.fromEntries([...answer.headers].filter(([name]) => /^access-control|^vary$/.test(name)));

describe("a list of origins", () => {
  const test = app({ origin: [A, "http://localhost:5173"] });

  it.each([
    ["200", "/read", { "access-control-allow-origin": A, vary: "Accept, Origin" }],
    ["409", "/fails", { "access-control-allow-origin": A, vary: "Origin" }],
    ["404", "/nowhere", { "access-control-allow-origin": A, vary: "Origin" }],
    ["200", "/own", { "access-control-allow-origin": A, vary: "Origin" }],
  ])("%s at %s", async (status, path, headers) => {
    const answer = await test.get(path, { headers: { origin: A } });
    expect([String(answer.status), corsHeaders(answer)]).toEqual([status, headers]);
  });

  it("400, 405 and 415 carry the headers, too", async () => {
    const headers = { origin: A };
    const answers = [
      await test.post("/write", { headers, json: 1 }),
      await test.del("/write", { headers }),
      await test.post("/write", { headers: { ...headers, "content-type": "text/plain" }, body: "x" }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([400, 405, 415]);
    for (const each of answers) expect(each.headers.get("access-control-allow-origin")).toBe(A);
  });

  it.each([[B], ["null"], ["HTTPS://A.EXAMPLE"], [`${A}:443`], [`${A}.evil.example`], [`${A}, ${B}`]])(
    "serves %s without any of them",
    async (origin) => {
      const answer = await test.get("/fails", { headers: { origin } });
      expect([answer.status, corsHeaders(answer)]).toEqual([409, { vary: "Origin" }]);
    },
  );

  it("varies also for who sends no origin", async () => {
    expect(corsHeaders(await test.get("/read"))).toEqual({ vary: "Accept, Origin" });
  });

  it("answers a preflight with 204, whatever the path", async () => {
    for (const path of ["/write", "/nowhere"]) {
      const answer = await test.options(path, { headers: preflight });
      expect([answer.status, answer.headers.get("allow"), corsHeaders(answer)]).toEqual([
        204,
        undefined,
        {
          "access-control-allow-origin": A,
          "access-control-allow-methods": "GET, HEAD, POST, PUT, PATCH, DELETE",
          vary: "Access-Control-Request-Headers, Origin",
        },
      ]);
    }
  });

  it("leaves OPTIONS that is no preflight, or of another origin, as it is", async () => {
    for (const headers of [{}, { origin: A }, { ...preflight, origin: B }]) {
      const answer = await test.options("/write", { headers });
      expect([answer.status, answer.headers.get("allow")]).toEqual([204, "POST, OPTIONS"]);
      expect(answer.headers.has("access-control-allow-methods")).toBe(false);
    }
  });
});

it('"*" lets everybody read, varies by nothing, and so says the same to everybody', async () => {
  const test = app({ origin: "*", expose: ["X-Total", "etag"] });
  for (const headers of [{ origin: B }, {}]) {
    expect(corsHeaders(await test.get("/fails", { headers }))).toEqual({
      "access-control-allow-origin": "*",
      "access-control-expose-headers": "X-Total, etag",
    });
  }
  const options = await test.options("/write");
  expect([options.status, options.headers.get("allow")]).toEqual([204, "POST, OPTIONS"]);
});

it("a function allows an origin by true or by returning it, and by nothing else", async () => {
  for (const [decision, allowed] of [
    [true, A],
    [A, A],
    [B, undefined],
    ["*", undefined],
    ["", undefined],
    [false, undefined],
    [null, undefined],
    [undefined, undefined],
  ] as const) {
    for (const origin of [() => decision, async () => decision]) {
      const answer = await app({ origin, credentials: true }).get("/fails", { headers: { origin: A } });
      expect(answer.headers.get("access-control-allow-origin")).toBe(allowed);
      expect(answer.headers.has("access-control-allow-credentials")).toBe(allowed !== undefined);
    }
  }
});

it("says all that it is told to in a preflight", async () => {
  const test = app({
    origin: [A],
    methods: ["GET", "POST"],
    headers: ["content-type", "x-key"],
    credentials: true,
    maxAge: 600,
    expose: ["x-a"],
  });
  const asked = { ...preflight, "access-control-request-headers": "x-other" };
  expect(corsHeaders(await test.options("/write", { headers: asked }))).toEqual({
    "access-control-allow-origin": A,
    "access-control-allow-methods": "GET, POST",
    "access-control-allow-headers": "content-type, x-key",
    "access-control-allow-credentials": "true",
    "access-control-max-age": "600",
    vary: "Origin",
  });
  expect(corsHeaders(await test.get("/fails", { headers: { origin: A } }))).toEqual({
    "access-control-allow-origin": A,
    "access-control-allow-credentials": "true",
    "access-control-expose-headers": "x-a",
    vary: "Origin",
  });
});

it("allows the headers that are asked for where none are listed", async () => {
  const headers = { ...preflight, "access-control-request-headers": "x-a, x-b" };
  const answer = await app({ origin: "*" }).options("/write", { headers });
  expect(corsHeaders(answer)).toMatchObject({
    "access-control-allow-headers": "x-a, x-b",
    vary: "Access-Control-Request-Headers",
  });
});

it("a function decides, at once or later", async () => {
  const isOurs = (origin: string) => origin.endsWith(".a.example");
  for (const origin of [isOurs, async (given: string) => isOurs(given)]) {
    const test = app({ origin, credentials: true });
    const headers = { origin: "https://x.a.example" };
    expect(corsHeaders(await test.get("/fails", { headers }))).toEqual({
      "access-control-allow-origin": "https://x.a.example",
      "access-control-allow-credentials": "true",
      vary: "Origin",
    });
    expect(corsHeaders(await test.get("/fails", { headers: { origin: B } }))).toEqual({ vary: "Origin" });
  }
});

describe("around a group or a kit", () => {
  const ours = cors({ origin: [A] });
  const signedIn = bearer(() => undefined);
  const passed: string[] = [];
  const note = (name: string) =>
    middleware((_req, next) => {
      passed.push(name);
      return next();
    });
  const page = () => ok({});
  const test = testApp(
    routes(
      {
        shop: group(
          "/shop",
          {
            read: get("/{id}", page),
            write: use(note("kit")).post("/{id}", page),
            own: use(cors({ origin: "*" })).put("/{id}", page),
          },
          { use: [note("before"), ours, signedIn, note("behind")] },
        ),
        open: use(ours, cors({ origin: "*" })).get("/open", page),
        read: use(ours).get("/mixed", page),
        write: post("/mixed", page),
        closed: group("/closed", { read: get("", page) }, { use: [signedIn, ours] }),
        plain: group("/plain", { read: get("", page) }, { use: [signedIn] }),
      },
      { prefix: "/v1" },
    ),
  );
  const ask = async (path: string, method: string, more: Record<string, string> = {}) => {
    passed.length = 0;
    const headers = { origin: A, "access-control-request-method": method, ...more };
    const answer = await test.options(`/v1${path}`, { headers });
    return [answer.status, answer.headers.get("access-control-allow-origin"), answer.headers.get("allow")];
  };

  it.each([
    ["/shop/7", "GET", [204, A, undefined]],
    ["/shop/7", "HEAD", [204, A, undefined]],
    ["/shop/a%20b", "POST", [204, A, undefined]],
    ["/shop/7", "PUT", [204, A, undefined]],
    ["/mixed", "GET", [204, A, undefined]],
    // These routes have no cors.
    ["/mixed", "POST", [204, undefined, "GET, HEAD, POST, OPTIONS"]],
    ["/plain", "GET", [204, undefined, "GET, HEAD, OPTIONS"]],
    ["/nowhere", "GET", [404, undefined, undefined]],
    // The credentials are asked for first.
    ["/closed", "GET", [401, undefined, undefined]],
  ])("answers a preflight of %s for %s", async (path, method, expected) => {
    expect(await ask(path, method)).toEqual(expected);
  });

  it("answers for a method that no route has by what all of them carry", async () => {
    expect(await ask("/closed", "DELETE")).toEqual([401, undefined, undefined]);
    expect(await ask("/mixed", "DELETE")).toEqual([204, undefined, "GET, HEAD, POST, OPTIONS"]);
    expect(await ask("/shop/7", "DELETE")).toEqual([204, A, undefined]);
  });

  it("asks the inner one about an origin that the outer one does not allow", async () => {
    expect(await ask("/open", "GET")).toEqual([204, A, undefined]);
    expect(await ask("/open", "GET", { origin: B })).toEqual([204, "*", undefined]);
    // Here credentials are asked for between the two.
    expect(await ask("/shop/7", "PUT", { origin: B })).toEqual([401, undefined, undefined]);
  });

  it("runs what stands before it, and nothing behind it", async () => {
    await ask("/shop/7", "POST");
    expect(passed).toEqual(["before"]);
    expect(await ask("/shop/7", "POST", { origin: B })).toEqual([204, undefined, "GET, HEAD, POST, PUT, OPTIONS"]);
    expect(passed).toEqual(["before"]);
  });

  it("leaves OPTIONS that is no preflight to the app", async () => {
    passed.length = 0;
    const answer = await test.options("/v1/closed", { headers: { origin: A } });
    expect([answer.status, answer.headers.get("allow"), passed]).toEqual([204, "GET, HEAD, OPTIONS", []]);
  });

  it("stands inside the app's own middleware", async () => {
    const app = { read: use(ours).get("/a", page) };
    const outer = testApp(
      routes(app, { use: [middleware(async (_req, next) => (await next()).header("x-outer", "1"))] }),
    );
    const headers = { origin: A, "access-control-request-method": "GET" };
    const answer = await outer.options("/a", { headers });
    expect([answer.status, answer.headers.get("x-outer")]).toEqual([204, "1"]);
    expect(answer.headers.get("access-control-allow-origin")).toBe(A);
    expect((await outer.options("/b", { headers })).status).toBe(404);
  });
});

it.each([
  ["methods that are no list", { origin: "*", methods: "GET" }, /"methods" must be a list of names/],
  ["a method in lower case", { origin: "*", methods: ["put"] }, /the method "put" must be in upper case/],
  ["a header with a line break", { origin: "*", headers: ["a\r\nb"] }, /"headers" must be a list of names/],
  ["an exposed header that is no name", { origin: "*", expose: ["a b"] }, /"expose" must be a list of names/],
  ["credentials for everyone", { origin: "*", credentials: true }, /"credentials" can't be used with origin "\*"/],
  ["one origin that is no list", { origin: A }, /"origin" must be "\*", a list of origins, or a function/],
  ["a slash behind it", { origin: [`${A}/`] }, /"https:\/\/a.example\/" is not an origin/],
  ["a host alone", { origin: ["a.example"] }, /is not an origin/],
  ["the scheme's own port", { origin: [`${A}:443`] }, /is not an origin/],
  ["upper case", { origin: ["https://A.example"] }, /is not an origin/],
  ["* in a list", { origin: ["*"] }, /is not an origin/],
  ["an unknown option", { origin: "*", origins: [] }, /cors: unknown "origins"/],
  ["half a second", { origin: "*", maxAge: 0.5 }, /"maxAge"/],
  ["nothing", undefined, /cors: expects \{ origin/],
])("refuses %s", (_what, options, message) => {
  expect(() => cors(options as never)).toThrow(message);
});
