/** Apps that speak `fetch` of other shapes and libraries: listeners, itty-router, and more of Hono's middleware. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { developing, project } from "./develop.ts";
import { startTenon, tenon } from "./servers.ts";

developing();

const build = (cwd: string) => spawnSync(process.execPath, [tenon, "build", "-r"], { cwd, encoding: "utf8" });

interface App extends AsyncDisposable {
  ask(path: string, init?: RequestInit): Promise<Response>;
  /** Its log so far. */
  logged(): string;
}

/** Builds a handler, and serves it. */
async function running(name: string, handler: string): Promise<App> {
  const at = await project(name, handler);
  const built = build(at);
  expect(built.status, built.stderr).toBe(0);
  const { base, errors, stop } = await startTenon([join(at, `dist/${name}.wasm`)], name, at);
  return { ask: (path, init) => fetch(base + path, init), logged: errors, [Symbol.asyncDispose]: stop };
}

test("a listener of fetch answers, whose promise may come later", async () => {
  await using app = await running(
    "listens",
    `addEventListener("fetch", (event) => {
      const { pathname } = new URL(event.request.url);
      if (pathname === "/silent") return;
      if (pathname === "/throws") throw new Error("a secret");
      event.waitUntil(new Promise((done) => setTimeout(done, 5)).then(() => console.log("waited until the end")));
      event.respondWith(answer(event.request, pathname));
      if (pathname === "/twice") event.respondWith(new Response("b"));
    });
    addEventListener("fetch", { handleEvent(event) {
      if (new URL(event.request.url).pathname === "/silent") event.respondWith(new Response("second"));
    } });
    async function answer(request, pathname) {
      await undefined;
      return new Response(request.method + " " + pathname + " " + (await request.text()));
    }`,
  );
  const answer = await app.ask("/a", { method: "POST", body: "body" });
  expect([answer.status, await answer.text()]).toEqual([200, "POST /a body"]);
  await expect.poll(() => app.logged()).toContain("waited until the end");
  expect(await (await app.ask("/silent")).text()).toBe("second");
  for (const path of ["/throws", "/twice"]) expect((await app.ask(path)).status, path).toBe(500);
});

test("Hono's fire() and a listener that does not respond", async () => {
  await using app = await running(
    "fires",
    `import { Hono } from "hono";
    import { fire } from "hono/service-worker";
    const app = new Hono();
    app.get("/", (c) => {
      c.executionCtx.waitUntil(Promise.resolve());
      return c.text("fired");
    });
    fire(app);`,
  );
  expect(await (await app.ask("/")).text()).toBe("fired");
  await using silent = await running("silent", 'addEventListener("fetch", () => {});');
  expect((await silent.ask("/")).status).toBe(500);
  await expect.poll(() => silent.logged()).toContain("no listener of fetch called event.respondWith");
});

test.each([
  [
    "neither",
    "export const app = 1;",
    /error: src\/handler\.ts: it has no default export and no listener of fetch: export default routes.*\n$/,
  ],
  [
    "both",
    'addEventListener("fetch", () => {});\nexport default { fetch: () => new Response("a") };',
    /error: src\/handler\.ts:2:16: it has a default export and a listener of fetch, and only one of them can answer/,
  ],
  [
    "routes",
    'import { get, ok, routes } from "@tenon/sdk";\naddEventListener("fetch", () => {});\nexport default routes({ a: get("/", () => ok({})) });',
    /src\/handler\.ts:2:\d+: .*it has routes and a listener of fetch/,
  ],
])("a module with %s ends the build", async (name, handler, message) => {
  const { status, stderr } = build(await project(name, handler));
  expect([status, stderr]).toEqual([1, expect.stringMatching(message)]);
  expect(stderr).not.toContain("hint");
});

test("itty-router routes, parses bodies, and answers what it does not know", async () => {
  await using app = await running(
    "itty",
    `import { AutoRouter, error, withParams } from "itty-router";
    const router = AutoRouter({ before: [withParams] });
    router
      .get("/hello/:name", ({ name, query }) => ({ name, query }))
      .post("/echo", async (request) => ({ got: await request.json() }))
      .get("/teapot", () => error(418, "short and stout"))
      .get("/throws", () => { throw new Error("thrown"); });
    export default router;`,
  );
  const hello = await app.ask("/hello/ada%20b?q=1&q=2");
  expect([hello.headers.get("content-type"), await hello.json()]).toEqual([
    "application/json; charset=utf-8",
    // itty-router leaves parameters as they came.
    { name: "ada%20b", query: { q: ["1", "2"] } },
  ]);
  expect(await (await app.ask("/echo", { method: "POST", body: '{"a":1}' })).json()).toEqual({ got: { a: 1 } });
  for (const [path, status] of [
    ["/teapot", 418],
    ["/throws", 500],
    ["/nowhere", 404],
  ] as const)
    expect((await app.ask(path)).status, path).toBe(status);
});

test("Hono's logger, cookies, validator with Zod, etag and jwt", async () => {
  await using app = await running(
    "middleware",
    `import { zValidator } from "@hono/zod-validator";
    import { Hono } from "hono";
    import { deleteCookie, getCookie, getSignedCookie, setCookie, setSignedCookie } from "hono/cookie";
    import { cors } from "hono/cors";
    import { etag } from "hono/etag";
    import { jwt, sign } from "hono/jwt";
    import { logger } from "hono/logger";
    import { z } from "zod";

    const app = new Hono();
    app.use(logger());
    app.use("/cors", cors({ origin: "https://a.example", credentials: true }));
    app.get("/cors", (c) => c.text("ok"));
    app.get("/set", async (c) => {
      setCookie(c, "plain", "a b");
      await setSignedCookie(c, "signed", "ada", "secret");
      deleteCookie(c, "old");
      return c.text("set");
    });
    app.get("/get", async (c) => c.json({ plain: getCookie(c, "plain"), signed: await getSignedCookie(c, "secret", "signed") }));
    const User = z.object({ name: z.string().min(2), age: z.coerce.number().int().optional() });
    app.post("/users", zValidator("json", User), (c) => c.json(c.req.valid("json"), 201));
    app.get("/users", zValidator("query", User), (c) => c.json(c.req.valid("query")));
    app.use("/tagged", etag());
    app.get("/tagged", (c) => c.text("tagged"));
    app.use("/me", (c, next) => jwt({ secret: "a secret of some length", alg: "HS256" })(c, next));
    app.get("/me", (c) => c.json(c.get("jwtPayload")));
    app.get("/token", async (c) => c.text(await sign({ sub: "ada", exp: Math.floor(Date.now() / 1000) + 60 }, "a secret of some length")));
    export default app;`,
  );
  const allowed = await app.ask("/cors", { headers: { origin: "https://a.example" } });
  expect([
    allowed.headers.get("access-control-allow-origin"),
    allowed.headers.get("access-control-allow-credentials"),
  ]).toEqual(["https://a.example", "true"]);
  await expect.poll(() => app.logged()).toMatch(/<-- GET \/cors[\s\S]*--> GET \/cors .*200/);

  const cookies = (await app.ask("/set")).headers.getSetCookie();
  expect(cookies).toEqual([
    "plain=a%20b; Path=/",
    expect.stringMatching(/^signed=ada\.\S+; Path=\/$/),
    "old=; Max-Age=0; Path=/",
  ]);
  const cookie = cookies.map((each) => each.split(";")[0]).join("; ");
  expect(await (await app.ask("/get", { headers: { cookie } })).json()).toEqual({ plain: "a b", signed: "ada" });
  const forged = { cookie: cookie.replace("signed=ada", "signed=bob") };
  expect(await (await app.ask("/get", { headers: forged })).json()).toEqual({ plain: "a b", signed: false });

  const post = (value: object) =>
    app.ask("/users", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(value),
    });
  const created = await post({ name: "ada", other: 1 });
  expect([created.status, await created.json()]).toEqual([201, { name: "ada" }]);
  expect((await post({ name: "a" })).status).toBe(400);
  expect(await (await app.ask("/users?name=ada&age=7")).json()).toEqual({ name: "ada", age: 7 });

  const tag = (await app.ask("/tagged")).headers.get("etag") as string;
  expect((await app.ask("/tagged", { headers: { "if-none-match": tag } })).status).toBe(304);

  expect((await app.ask("/me")).status).toBe(401);
  const token = await (await app.ask("/token")).text();
  const me = await app.ask("/me", { headers: { authorization: `Bearer ${token}` } });
  expect(await me.json()).toMatchObject({ sub: "ada" });
  const forgedToken = `${token.slice(0, -3)}abc`;
  expect((await app.ask("/me", { headers: { authorization: `Bearer ${forgedToken}` } })).status).toBe(401);
});

test("files of a form arrive byte for byte, in both directions", async () => {
  await using app = await running(
    "uploads",
    `import { Hono } from "hono";
    const app = new Hono();
    app.post("/parse", async (c) => {
      const { f, a } = await c.req.parseBody();
      return c.json({ a, name: f.name, type: f.type, bytes: [...new Uint8Array(await f.arrayBuffer())] });
    });
    app.post("/again", async (c) => new Response(await c.req.raw.formData()));
    app.get("/names", (c) => c.json([c.req.raw, new Response("a"), new Headers()].map((each) => each.constructor.name)));
    export default app;`,
  );
  const bytes = Uint8Array.from({ length: 70_000 }, (_, i) => (i * 7) % 256);
  const form = new FormData();
  form.append("a", "ä");
  form.append("f", new File([bytes], 'ä"x.bin', { type: "image/png" }));
  const parsed = await app.ask("/parse", { method: "POST", body: form });
  expect(await parsed.json()).toEqual({ a: "ä", name: 'ä"x.bin', type: "image/png", bytes: [...bytes] });
  const again = await (await app.ask("/again", { method: "POST", body: form })).formData();
  expect(again.get("a")).toBe("ä");
  expect(new Uint8Array(await (again.get("f") as File).arrayBuffer())).toEqual(bytes);
  const broken = { method: "POST", body: "xx", headers: { "content-type": "multipart/form-data; boundary=zz" } };
  expect((await app.ask("/parse", broken)).status).toBe(500);
  expect(await (await app.ask("/names")).json()).toEqual(["Request", "Response", "Headers"]);
});

test("a module with routes has the same classes", async () => {
  await using app = await running(
    "parses",
    `import { get, ok, routes } from "@tenon/sdk";
    export default routes({
      multipart: get("/", async () => {
        const form = new FormData();
        form.append("f", new File([new Uint8Array([0, 255, 13])], "x"));
        const file = (await new Response(form).formData()).get("f");
        return ok([...new Uint8Array(await file.arrayBuffer())]);
      }),
    });`,
  );
  expect(await (await app.ask("/")).json()).toEqual([0, 255, 13]);
});
