import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import {
  Cursor,
  db,
  sqlite as dialect,
  env,
  field,
  get,
  httpClient,
  list,
  ok,
  PageInfo,
  post,
  routes,
  sidecar,
  sqlCreate,
  Type,
  table,
} from "../index.ts";
import { sqlite, testApp } from "./index.ts";

const folder = mkdtempSync(join(tmpdir(), "tenon-migrations-"));
mkdirSync(join(folder, "migrations"));
writeFileSync(
  join(folder, "migrations/0001_users.sql"),
  "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT NOT NULL, age INTEGER NOT NULL);",
);
const database = sqlite(join(folder, "migrations"));
afterAll(async () => {
  await database.close();
  rmSync(folder, { recursive: true });
});

const User = Type("User", { id: field.u32(), name: field.string(), age: field.u32() });
const Names = Type("Names", { rows: list(Type("Name", { name: field.string() })), page: PageInfo });
const app = routes({
  add: post("/users", { body: User }, async ({ body }) => {
    await db.execute(sqlCreate(dialect, "users", body));
    return ok({});
  }),
  names: get("/users", { query: { after: field.string().optional() }, response: Names }, async ({ query }) =>
    ok(
      await db.page<{ name: string }>(dialect, "users", {
        select: ["name"],
        filter: { age: { $gte: 18 } },
        order: "-age",
        key: "id",
        limit: 2,
        after: query.after,
        total: true,
      }),
    ),
  ),
  typed: get("/typed", async () => {
    const { rows, page } = await db.page(dialect, table(User), { order: "name", limit: 10, total: true });
    return ok({ names: rows.map(({ name }) => name), total: page.total ?? null });
  }),
  rolledBack: post("/rolled-back", async () => {
    await db
      .transaction(async (tx) => {
        await tx.execute(["DELETE FROM users", []]);
        throw new Error("no");
      })
      .catch(() => {});
    return ok(await db.query(["SELECT COUNT(*) AS n FROM users", []]));
  }),
  charge: post("/charge", async (_, req) => {
    const answer = await sidecar("stripe").request().post("/v1/charges?a=1").header("x-a", "é").json(req.json()).send();
    return ok({ status: answer.status, json: answer.json() as object, type: answer.headers.get("content-type") });
  }),
  byUrl: get("/by-url", async () => ok({ text: (await httpClient.get(`${env("SIDECAR_STRIPE_URL")}/x`)).text() })),
  missing: get("/missing", async () => {
    const thrown = await sidecar("other")
      .get("/")
      .catch((error: Error) => error);
    return ok({ message: (thrown as Error).message });
  }),
});

const calls: string[] = [];
const test = testApp(app, {
  sidecars: {
    db: database,
    stripe: async (req) => {
      calls.push(
        `${req.method} ${new URL(req.url).pathname}${new URL(req.url).search} ${req.headers.get("x-a") ?? ""}`,
      );
      return req.method === "POST" ? Response.json({ got: await req.json() }, { status: 201 }) : ok({ plain: true });
    },
  },
});

it("runs SQLite through the real sidecar, with migrations", async () => {
  for (const [id, age] of [20, 17, 30, 40].entries()) {
    expect((await test.post("/users", { json: { id: id + 1, name: `n${age}`, age } })).status).toBe(200);
  }
  expect((await test.post("/rolled-back")).json()).toEqual([{ n: 4 }]);
});

it("db.page refuses a cursor that is malformed or of another list as an invalid input", async () => {
  const foreign = [
    "x",
    "%00",
    new Cursor().int("id", 1).encode(),
    new Cursor().int("-age", 1).int("id", 1).encode(),
    "A".repeat(20_000),
  ];
  for (const after of foreign) {
    const answer = await test.get(`/users?after=${encodeURIComponent(after)}`);
    expect(answer.status, after).toBe(400);
    expect(answer.json().errors).toEqual([
      { in: "query", pointer: "#/after", code: "format", detail: "must be a cursor of this list" },
    ]);
  }
});

it("db.page reads rows, cursors and the total in one call", async () => {
  const first = (await test.get("/users")).json();
  expect(first).toMatchObject({ rows: [{ name: "n40" }, { name: "n30" }], page: { has_next: true, total: 3 } });
  expect(Object.keys(first.rows[0])).toEqual(["name"]);
  const second = (await test.get(`/users?after=${encodeURIComponent(first.page.next_cursor)}`)).json();
  expect(second).toMatchObject({
    rows: [{ name: "n20" }],
    page: { has_next: false, has_prev: true, next_cursor: null },
  });
  expect((await test.get("/typed")).json()).toEqual({ names: ["n17", "n20", "n30", "n40"], total: 4 });
});

it("asks a function in place of a sidecar", async () => {
  expect((await test.post("/charge", { json: { amount: 1 } })).json()).toEqual({
    status: 201,
    json: { got: { amount: 1 } },
    type: "application/json",
  });
  expect((await test.get("/by-url")).json()).toEqual({ text: '{"plain":true}' });
  expect(calls).toEqual(["POST /v1/charges?a=1 é", "GET /x "]);
  expect((await test.get("/missing")).json().message).toContain("there is no such sidecar");
});

it.each([undefined, null, 5, {}, "db.sock", "localhost:9919"])("refuses %o in the place of a sidecar", (given) => {
  expect(() => testApp(app, { sidecars: { stripe: given as never } })).toThrow('"sidecars.stripe" must be a function');
});

it("refuses unknown options", () => {
  expect(() => testApp(app, { sidecar: {} } as never)).toThrow('testApp: unknown "sidecar"');
});

it("has one listener for the end of the process, however many databases there are", async () => {
  const before = process.listenerCount("exit");
  const others = Array.from({ length: 3 }, () => sqlite());
  await Promise.all(others.map((each) => each.start()));
  expect(process.listenerCount("exit")).toBe(before);
  await Promise.all(others.map((each) => each.close()));
});

it("reports an exception of a function as one of the handler", async () => {
  const failing = testApp(app, {
    sidecars: {
      stripe: () => {
        throw new Error("an assertion of the test");
      },
    },
  });
  expect((await failing.post("/charge", { json: {} })).status).toBe(500);
});
