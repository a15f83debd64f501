import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { sqlite, type TestSidecar, testApp } from "@tenon/sdk/testing";
import { migrate, Sidecar } from "tenon";
import { afterAll, describe, expect, test } from "vitest";
import app from "../src/handler.ts";
import { runCollection } from "./collection.ts";

const migrations = fileURLToPath(new URL("../migrations", import.meta.url));
const url = process.env["DATABASE_URL"];
const databases = ["sqlite", ...(url?.startsWith("postgres") ? ["postgres"] : [])];

async function database(kind: string): Promise<{ readonly db: TestSidecar | string; close(): Promise<unknown> }> {
  if (kind === "sqlite") {
    const db = sqlite(migrations);
    return { db, close: () => db.close() };
  }
  const sidecar = await Sidecar.start({ kind: "sql", url: url ?? "", listen: "127.0.0.1:0", logLevel: "warn" });
  await migrate({ address: sidecar.address, folder: migrations });
  return { db: sidecar.address, close: () => sidecar.close() };
}

describe.each(databases)("the RealWorld API on %s", async (kind) => {
  const { db, close } = await database(kind);
  afterAll(close);
  const api = testApp(app, {
    sidecars: { db },
    secrets: { JWT_KEY: "a key for tests, and for nothing else" },
  });

  test("names what is wrong, and who may do what", async () => {
    const unique = randomUUID();
    const register = (user: object) => api.post("/api/users", { json: { user } });
    const ada = { username: unique, email: `${unique}@example.com`, password: "correct horse" };
    expect((await register({ ...ada, email: "x" })).json()).toEqual({ errors: { email: ["must be a valid email"] } });
    const { user } = (await register(ada)).json();
    expect(user).toMatchObject({ email: ada.email, username: ada.username, bio: null, image: null });
    expect((await register(ada)).status).toBe(422);
    const authorization = `Token ${user.token}`;
    expect((await api.get("/api/user")).headers.get("www-authenticate")).toBe("Token");
    expect((await api.get("/api/user", { headers: { authorization } })).status).toBe(200);
    const login = (password: string) =>
      api.post("/api/users/login", { json: { user: { email: ada.email, password } } });
    expect((await login("correct house")).status).toBe(401);
    const { token } = (await login(ada.password)).json().user;
    const json = { article: { title: "A title", description: "d", body: "b", tagList: ["x", "x"] } };
    const { article } = (
      await api.post("/api/articles", { json, headers: { authorization: `Token ${token}` } })
    ).json();
    expect(article).toMatchObject({
      tagList: ["x"],
      favorited: false,
      author: { username: ada.username, following: false },
    });
    const other = (
      await register({ username: `b-${unique}`, email: `b-${unique}@example.com`, password: "12345678" })
    ).json().user;
    const headers = { authorization: `Token ${other.token}` };
    expect((await api.del(`/api/articles/${article.slug}`, { headers })).status).toBe(403);
    expect((await api.put("/api/user", { json: { user: { email: null } }, headers })).json()).toHaveProperty(
      "errors.email",
    );
    expect((await api.put("/api/user", { json: { user: { bio: "I build" } }, headers })).json().user.bio).toBe(
      "I build",
    );
  });

  // api/Conduit.postman_collection.json of gothinkster/realworld
  const file = process.env["REALWORLD_COLLECTION"];
  test.skipIf(file === undefined)("passes the project's own suite", async () => {
    const { item } = JSON.parse(readFileSync(file ?? "", "utf8"));
    const name = `u${Date.now()}`;
    const globals = new Map([
      ["APIURL", "/api"],
      ["USERNAME", name],
      ["EMAIL", `${name}@mail.com`],
      ["PASSWORD", "password"],
    ]);
    const checks = await runCollection(item, api, globals);
    expect(checks.filter(({ holds }) => !holds)).toEqual([]);
    process.stdout.write(`${kind}: ${checks.length} of ${checks.length}\n`);
  });
});
