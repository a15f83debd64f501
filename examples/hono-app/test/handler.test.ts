import { expect, test } from "vitest";
import app from "../src/handler.ts";

const env = { GREETING: "Hello" };

test("the banner", async () => {
  const response = await app.request("/", {}, env);
  expect(await response.text()).toBe("Hello from Hono");
});

test("a user, and one that is not there", async () => {
  expect(await (await app.request("/users/7", {}, env)).json()).toEqual({ id: 7, name: "User 7" });
  expect((await app.request("/users/99", {}, env)).status).toBe(404);
});

test("a new user", async () => {
  const response = await app.request("/users", { method: "POST", body: JSON.stringify({ name: "Ada" }) }, env);
  expect(response.status).toBe(201);
  expect(await response.json()).toEqual({ id: 51, name: "Ada" });
});
