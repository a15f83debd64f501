/** The nine routes of `examples/hello`, on every server that is there. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeEach } from "../../testing/needs.ts";
import { send } from "./http.ts";
import { helloProject, kinds, type Running } from "./servers.ts";

describeEach("hello on $name", kinds, ({ name, start, sharesInstances }) => {
  let server: Running;
  beforeAll(async () => {
    server = await start(helloProject, "hello");
  });
  afterAll(() => server?.stop());

  const get = (path: string) => send(server.base, { path: new URL(server.base).pathname.replace(/\/$/, "") + path });
  const call = (method: string, path: string, body?: unknown) =>
    send(server.base, {
      method,
      path: new URL(server.base).pathname.replace(/\/$/, "") + path,
      ...(body === undefined
        ? {}
        : { body: JSON.stringify(body), headers: [["content-type", "application/json"]] as const }),
    });

  test("GET / and its empty alternative", async () => {
    const paths = name.startsWith("tenon") ? ["/", ""] : ["/"];
    for (const path of paths) {
      const answer = await get(path);
      expect(answer.status).toBe(200);
      expect(answer.header("content-type")).toBe("application/json");
      expect(answer.json()).toEqual({ service: "hello", message: "Welcome" });
    }
  });

  test("GET /health", async () => {
    expect((await get("/health")).json()).toEqual({ status: "ok" });
  });

  test("GET /users", async () => {
    const first = (await get("/users")).json() as { users: unknown[]; page: number; limit: number };
    expect(first).toMatchObject({ page: 1, limit: 10 });
    expect(first.users).toHaveLength(10);
    expect((await get("/users?page=2&limit=1")).json()).toEqual({
      users: [{ id: 2, name: "User 2" }],
      page: 2,
      limit: 1,
    });
    const wrong = await get("/users?limit=101&page=x");
    expect(wrong.status).toBe(400);
    expect(wrong.header("content-type")).toBe("application/problem+json");
    expect((wrong.json() as { errors: unknown[] }).errors).toHaveLength(2);
  });

  test("POST /users", async () => {
    const answer = await call("POST", "/users", { name: "Ada", email: "ada@example.com" });
    expect(answer.status).toBe(201);
    expect(answer.header("location")).toBe("/users/51");
    expect(answer.json()).toEqual({ id: 51, name: "Ada" });
    const empty = await call("POST", "/users", { name: "" });
    expect(empty.status).toBe(400);
    expect(empty.header("content-type")).toBe("application/problem+json");
    expect(empty.json()).toMatchObject({ type: "about:blank", status: 400, detail: "name must not be empty" });
  });

  test("GET /users/{id}", async () => {
    expect((await get("/users/7")).json()).toEqual({ id: 7, name: "User 7" });
    expect((await get("/users/99")).status).toBe(404);
    expect((await get("/users/seven")).status).toBe(400);
  });

  test("DELETE /users/{id}", async () => {
    const answer = await call("DELETE", "/users/7");
    expect(answer.status).toBe(204);
    expect(answer.body).toHaveLength(0);
    expect(answer.header("content-length")).toBeUndefined();
    // Each request has an instance of its own, except on a server that shares them.
    expect((await get("/users/7")).status).toBe(sharesInstances ? 404 : 200);
  });

  test("GET /hello/{name}", async () => {
    expect((await get("/hello/Ada%20L%C3%B6")).json()).toEqual({ greeting: "Hello, Ada Lö!" });
  });

  test("GET /search", async () => {
    expect((await get("/search?q=a+b%26c")).json()).toEqual({ query: "a b&c", page: 1, limit: 20 });
    expect((await get("/search")).json()).toEqual({ query: null, page: 1, limit: 20 });
  });

  test("POST /users/search", async () => {
    const answer = await call("POST", "/users/search?limit=5", { name: { $contains: "a%" }, id: { $gt: 3 } });
    expect(answer.status).toBe(200);
    expect(answer.json()).toMatchObject({ page: 1, limit: 5, params: ["%a\\%%", 3] });
    expect((await call("POST", "/users/search", { password: "x" })).status).toBe(400);
    expect((await call("POST", "/users/search")).status).toBe(400);
  });

  test("unknown paths and methods", async () => {
    expect((await get("/nowhere")).status).toBe(404);
    const answer = await call("PATCH", "/users");
    expect(answer.status).toBe(405);
    expect(answer.header("allow")).toContain("GET");
  });
});
