import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  bearer,
  created,
  ensure,
  Form,
  field,
  get,
  group,
  list,
  noContent,
  ok,
  Path,
  post,
  put,
  Query,
  respond,
  routes,
  Type,
  use,
} from "../index.ts";
import { testApp } from "../testing/index.ts";
import { client } from "./index.ts";

const User = Type("User", { id: field.u32(), name: field.string() });
const UserId = Path("UserId", { id: field.u32() });
const Page = Query("Page", { page: field.u32({ default: 1 }), tag: list(field.string()).optional() });
const Upload = Form("Upload", { title: field.string(), files: list(field.file()).optional() });
const signedIn = use(bearer((token) => (token === "t" ? { name: "Ada" } : undefined)));
const app = routes(
  {
    users: group("/users", {
      list: get(
        "",
        { query: Page, response: Type("Users", { page: field.u32(), tags: list(field.string()) }) },
        ({ query }) => ok({ page: query.page, tags: query.tag ?? [] }),
      ),
      one: get(["/{id}", "/by-id/{id}"], { path: UserId, response: User }, ({ path }) =>
        ok(ensure(path.id === 7 ? { id: 7, name: "ä/ö" } : null, 404, "no such user")),
      ),
      create: post("", { body: User, response: User, status: 201 }, ({ body }) => created("/users/7", body)),
      remove: put("/{id}/gone", { path: UserId, status: 204 }, () => noContent()),
    }),
    me: signedIn.get("/me", (_in, _req, { user }) => ok(user)),
    named: get("/named/{name}", (_in, req) => ok({ path: req.path })),
    text: get("/text", () => respond(200, { body: "plain" })),
    upload: post("/upload", { body: Upload }, ({ body }) =>
      ok({ title: body.title, files: (body.files ?? []).map(({ name, type, bytes }) => [name, type, bytes.length]) }),
    ),
  },
  { prefix: "/v1" },
);

const server = createServer(async (req, res) => {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  const path = (req.url ?? "").replace(/^\/run\/shop/, "");
  const headers = Object.entries(req.headers as Record<string, string>);
  const kept = headers.filter(([name]) => /^(?:content-type|authorization|accept|x-)/.test(name));
  const answer = await testApp(app).request(req.method ?? "GET", path, {
    headers: kept,
    body: new Uint8Array(Buffer.concat(chunks)),
  });
  res.writeHead(answer.status, [...answer.headers].flat()).end(answer.bytes());
});
let base = "";
beforeAll(async () => {
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/run/shop`;
});
afterAll(() => void server.close());

describe.each(["a server", "testApp"])("against %s", (kind) => {
  const make = (headers?: Record<string, string>) =>
    client<typeof app>(kind === "a server" ? base : testApp(app), headers === undefined ? {} : { headers });

  it("calls routes by the names that they have", async () => {
    const api = make();
    expect(await api.users.list({ query: { page: 2, tag: ["a b", "c&d"] } })).toMatchObject({
      ok: true,
      status: 200,
      data: { page: 2, tags: ["a b", "c&d"] },
    });
    expect(await api.users.list()).toMatchObject({ data: { page: 1, tags: [] } });
    expect(await api.users.one({ path: { id: 7 } })).toMatchObject({ ok: true, data: { id: 7, name: "ä/ö" } });
    const added = await api.users.create({ body: { id: 7, name: "x" } });
    expect([added.status, added.headers.get("location")]).toEqual([201, "/users/7"]);
    expect(await api.users.remove({ path: { id: 7 } })).toMatchObject({ ok: true, status: 204, data: undefined });
    expect(await api.named({ path: { name: "a/b?c" } })).toMatchObject({ data: { path: "/v1/named/a%2Fb%3Fc" } });
    expect(await api.text()).toMatchObject({ ok: true, data: "plain" });
  });

  it("gives what went wrong as problem details", async () => {
    const api = make();
    const missing = await api.users.one({ path: { id: 8 } });
    expect(missing).toMatchObject({ ok: false, status: 404, problem: { detail: "no such user", status: 404 } });
    expect(await api.users.create({ body: { id: -1, name: "x" } })).toMatchObject({
      ok: false,
      problem: { errors: [{ pointer: "#/id" }] },
    });
  });

  it("sends headers with each request", async () => {
    expect((await make().me()).status).toBe(401);
    expect(await make({ authorization: "Bearer t" }).me()).toMatchObject({ ok: true, data: { name: "Ada" } });
    expect((await make().me({ headers: { authorization: "Bearer t" } })).status).toBe(200);
  });

  it("replaces a header by its name in any case", async () => {
    const api = make({ Authorization: "Bearer wrong" });
    expect((await api.me({ headers: { authorization: "Bearer t" } })).status).toBe(200);
    const typed = { "Content-Type": "application/merge-patch+json" };
    expect(await api.users.create({ body: { id: 7, name: "x" }, headers: typed })).toMatchObject({ status: 201 });
    expect(await make(typed).users.create({ body: { id: 7, name: "x" } })).toMatchObject({ status: 201 });
  });

  it("sends forms with files", async () => {
    const files = [new File(["abc"], "a.txt", { type: "text/plain" }), new File([], "b")];
    expect(await make().upload({ form: { title: "ä", files } })).toMatchObject({
      data: {
        title: "ä",
        files: [
          ["a.txt", "text/plain", 3],
          ["b", "application/octet-stream", 0],
        ],
      },
    });
  });

  it("refuses names that the server does not have, and paths that lack a value", async () => {
    const api = make() as unknown as Record<string, (input?: object) => Promise<unknown>>;
    await expect(api["other"]?.()).rejects.toThrow('the server has no route called "other"');
    await expect(api["named"]?.({ path: {} })).rejects.toThrow("client: named needs the path's name");
  });

  it.each(["", ".", "..", "\ud800"])("refuses %j in a path, which would be another URL", async (name) => {
    await expect(make().named({ path: { name } })).rejects.toThrow(/^client: the path's "name" of named /);
  });
});

it("asks for the routes once, and again after a failure", async () => {
  const asked: string[] = [];
  let fails = true;
  const fetch = async (url: string, init: RequestInit) => {
    asked.push(`${init.method} ${url}`);
    if (fails) throw new TypeError("no network");
    return globalThis.fetch(url.replace("http://a.example/run/shop", base), init);
  };
  const api = client<typeof app>("http://a.example/run/shop/", { fetch });
  await expect(api.text()).rejects.toThrow("no network");
  fails = false;
  await Promise.all([api.text(), api.text()]);
  const [routesAt, textAt] = [
    "GET http://a.example/run/shop/.well-known/tenon-routes",
    "GET http://a.example/run/shop/v1/text",
  ];
  expect(asked).toEqual([routesAt, routesAt, textAt, textAt]);
});

it("may make its headers anew for each request", async () => {
  let token = "wrong";
  const api = client<typeof app>(base, { headers: async () => ({ authorization: `Bearer ${token}` }) });
  expect((await api.me()).status).toBe(401);
  token = "t";
  expect((await api.me()).status).toBe(200);
});

it("an answer that is no problem is one all the same", async () => {
  const fetch = async (url: string) =>
    url.endsWith("tenon-routes")
      ? Response.json({ text: ["GET", "/text"] })
      : new Response("<h1>Bad</h1>", { status: 502 });
  expect(await client<typeof app>("http://a/", { fetch }).text()).toMatchObject({
    ok: false,
    status: 502,
    problem: { type: "about:blank", title: "The server answered 502", status: 502 },
  });
});

it("is no promise, and takes URLs alone", async () => {
  const api = client<typeof app>(base);
  expect(await Promise.resolve(api)).toBe(api);
  const { users } = api;
  expect(await users).toBe(users);
  expect(await users.one).toBeTypeOf("function");
  for (const target of ["", "/run/shop", "ftp://a/"]) expect(() => client(target)).toThrow("client: expects");
});
