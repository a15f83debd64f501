import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { testApp } from "@tenon/sdk/testing";
import { migrate, Services, Sidecar } from "tenon";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import app from "../src/handler.ts";

/** The databases under test: the development services' SQLite, and the PostgreSQL of DATABASE_URL if it is set. */
const databases = ["sqlite", ...(process.env["DATABASE_URL"]?.startsWith("postgres") ? ["postgres"] : [])];

describe.each(databases)("users on %s", (dialect) => {
  const folder = mkdtempSync(join(tmpdir(), "users-sql-"));
  let database: Services | Sidecar;
  let url: string;
  let api: ReturnType<typeof testApp>;

  beforeAll(async () => {
    if (dialect === "postgres") {
      const store = process.env["DATABASE_URL"] ?? "";
      database = await Sidecar.start({ kind: "sql", url: store, listen: "127.0.0.1:0", logLevel: "warn" });
      url = database.address;
    } else {
      database = await Services.start({ folder });
      url = database.url;
    }
    await migrate({ address: url, folder: fileURLToPath(new URL("../migrations", import.meta.url)) });
    api = testApp(app, { env: { SIDECAR_DB_URL: url, DIALECT: dialect } });
  });
  afterAll(async () => {
    await database.close();
    rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(async () => {
    const body = JSON.stringify({ sql: "DELETE FROM users" });
    const headers = { "content-type": "application/json" };
    expect((await fetch(`${url}/sql/execute`, { method: "POST", headers, body })).status).toBe(200);
  });

  const add = async (name: string, more: object = {}) => (await api.post("/users", { json: { name, ...more } })).json();
  const names = (body: { users: { name: string }[] }) => body.users.map((user) => user.name);

  test("the banner", async () => {
    expect((await api.get("/")).json()).toEqual({ service: "users-sql", message: "Users are at /users" });
  });

  test("users are created, read, changed and deleted", async () => {
    const response = await api.post("/users", { json: { name: "Ada", email: "ada@example.com", age: 36 } });
    expect(response.status).toBe(201);
    const ada = response.json();
    expect(response.headers.get("location")).toBe(`/users/${ada.id}`);
    expect((await api.get(`/users/${ada.id}`)).json()).toEqual(ada);
    const changed = await api.patch(`/users/${ada.id}`, { json: { name: "Ada L." } });
    expect(changed.json()).toEqual({ ...ada, name: "Ada L." });
    expect((await api.delete(`/users/${ada.id}`)).status).toBe(204);
    expect((await api.get(`/users/${ada.id}`)).status).toBe(404);
    expect((await api.delete(`/users/${ada.id}`)).status).toBe(404);
    expect((await api.patch(`/users/${ada.id}`, { json: { age: 1 } })).status).toBe(404);
  });

  test("an address belongs to one user", async () => {
    await add("Ada", { email: "ada@example.com" });
    const bob = await add("Bob", { email: "bob@example.com" });
    expect((await api.post("/users", { json: { name: "Eve", email: "ada@example.com" } })).status).toBe(409);
    expect((await api.patch(`/users/${bob.id}`, { json: { email: "ada@example.com" } })).status).toBe(409);
  });

  test("a filter finds users, within what is allowed", async () => {
    for (const [name, age] of [
      ["Ada", 36],
      ["Bob", 17],
      ["Abe", 50],
    ] as const)
      await add(name, { age });
    const find = (filter: object | string) =>
      api.get(`/users?filter=${encodeURIComponent(typeof filter === "string" ? filter : JSON.stringify(filter))}`);
    expect(names((await find({ name: { $starts_with: "A" } })).json()).sort()).toEqual(["Abe", "Ada"]);
    expect(names((await find({ age: { $gte: 18, $lt: 50 } })).json())).toEqual(["Ada"]);
    expect(names((await find({ $or: [{ name: "Bob" }, { age: 50 }] })).json()).sort()).toEqual(["Abe", "Bob"]);
    expect(names((await find({ name: "x' OR 1=1 --" })).json())).toEqual([]);
    for (const wrong of [{ email: "ada@example.com" }, { name: { $like: "%" } }, "{", '{"name":{"$regex":"a"}}']) {
      expect((await find(wrong)).status).toBe(400);
    }
  });

  test("pages follow each other, forwards and backwards", async () => {
    for (let n = 1; n <= 7; n++) await add(`User ${n}`);
    const seen: string[] = [];
    let path = "/users?limit=3";
    for (let pages = 0; pages < 3; pages++) {
      const body = (await api.get(path)).json();
      seen.push(...names(body));
      if (!body.page.has_next) break;
      path = `/users?limit=3&after=${encodeURIComponent(body.page.next_cursor)}`;
    }
    expect(seen).toEqual([7, 6, 5, 4, 3, 2, 1].map((n) => `User ${n}`));
    const last = (await api.get(path)).json();
    expect(last.page).toMatchObject({ has_next: false, has_prev: true });
    const back = (await api.get(`/users?limit=3&before=${encodeURIComponent(last.page.prev_cursor)}`)).json();
    expect(names(back)).toEqual(["User 4", "User 3", "User 2"]);
    expect((await api.get("/users?after=nonsense")).status).toBe(400);
  });

  test("input is checked", async () => {
    for (const json of [{}, { name: "" }, { name: "Ada", age: -1 }, { name: "Ada", email: "ada" }]) {
      expect((await api.post("/users", { json })).status).toBe(400);
    }
    expect((await api.patch("/users/1", { json: {} })).status).toBe(400);
    expect((await api.get("/users?limit=101")).status).toBe(400);
  });
});
