import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { env, get, ok, post, put, routes } from "../index.ts";
import { testApp } from "./index.ts";

const app = routes({
  echo: post("/echo", (_, req) =>
    ok({ text: req.text() ?? null, type: req.headers.getAll("content-type"), x: req.headers.getAll("x-a") }),
  ),
  bytes: put("/bytes", (_, req) => ok([...(req.body ?? [])])),
  env: get("/env", async () => {
    await Promise.resolve();
    return ok({ name: env("NAME") ?? null, path: env("PATH") ?? null });
  }),
});

it("sends JSON, text, bytes and headers", async () => {
  const test = testApp(app);
  expect((await test.post("/echo", { json: { a: 1 } })).json()).toEqual({
    text: '{"a":1}',
    type: ["application/json"],
    x: [],
  });
  expect(
    (await test.post("/echo", { json: 1, headers: { "Content-Type": "application/hal+json" } })).json().type,
  ).toEqual(["application/hal+json"]);
  expect(
    (
      await test.post("/echo", {
        body: "é",
        headers: [
          ["x-a", "1"],
          ["X-A", "2"],
        ],
      })
    ).json(),
  ).toEqual({ text: "é", type: [], x: ["1", "2"] });
  expect((await test.put("/bytes", { body: new Uint8Array([0, 255]) })).json()).toEqual([0, 255]);
  expect((await test.put("/bytes")).json()).toEqual([]);
});

it("sends bytes of another realm, which all bytes of Node are in Jest", async () => {
  const body = runInNewContext("new Uint8Array([0, 255])");
  expect((await testApp(app).put("/bytes", { body })).json()).toEqual([0, 255]);
});

it("has a method for each, and any by name", async () => {
  const test = testApp(app);
  expect((await test.head("/env")).headers.get("content-length")).toBe("25");
  expect((await test.options("/env")).headers.get("Allow")).toBe("GET, HEAD, OPTIONS");
  expect((await test.patch("/env")).status).toBe(405);
  expect((await test.delete("/env")).status).toBe(405);
  expect((await test.del("/env")).status).toBe(405);
  expect((await test.request("TRACE", "/env")).status).toBe(405);
  expect((await test.options("/env")).bytes()).toHaveLength(0);
});

it("trims the values of headers, as a server does", async () => {
  expect((await testApp(app).post("/echo", { headers: { "x-a": " 1\t" } })).json().x).toEqual(["1"]);
});

it("refuses what would be another request than was meant", async () => {
  const test = testApp(app) as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
  for (const [method, args, said] of [
    ["post", ["/echo", { body: { n: 1 } }], "{ json: … }"],
    ["post", ["/echo", { body: new URLSearchParams("a=1") }], "a text or a Uint8Array"],
    ["post", ["/echo", { n: 1 }], 'not "n"'],
    ["post", ["/echo", "text"], "{ headers, body, json }"],
    ["get", ["env"], 'begins with "/"'],
    ["get", ["http://localhost/env"], 'begins with "/"'],
    ["request", [new Request("http://localhost/env")], 'request("GET", "/users")'],
  ] as const) {
    await expect(test[method]?.(...args)).rejects.toThrow(said);
  }
});

it("gives each app its own environment, side by side, and nothing of the process's", async () => {
  const [one, two, none] = await Promise.all([
    testApp(app, { env: { NAME: "one" } }).get("/env"),
    testApp(app, { env: { NAME: "two" } }).get("/env"),
    testApp(app).get("/env"),
  ]);
  expect([one?.json(), two?.json(), none?.json()]).toEqual([
    { name: "one", path: null },
    { name: "two", path: null },
    { name: null, path: null },
  ]);
});

it("refuses what is no app", () => {
  expect(() => testApp({} as never)).toThrow(/must be the result of routes\(\)/);
  expect(() => testApp(undefined as never)).toThrow(TypeError);
});
