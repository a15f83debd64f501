import { writeSchema } from "@tenon/sdk/openapi";
import { testApp } from "@tenon/sdk/testing";
import { expect, test } from "vitest";
import app from "../src/handler.ts";

const api = testApp(app);

test("the banner", async () => {
  const response = await api.get("/");
  expect(response.status).toBe(200);
  expect(response.json()).toEqual({ service: "hello", message: "Welcome" });
});

test("users come in pages", async () => {
  const response = await api.get("/users?page=2&limit=3");
  expect(response.json()).toEqual({
    users: [
      { id: 4, name: "User 4" },
      { id: 5, name: "User 5" },
      { id: 6, name: "User 6" },
    ],
    page: 2,
    limit: 3,
  });
});

test("a user without a name is refused", async () => {
  const response = await api.post("/users", { json: { name: "" } });
  expect(response.status).toBe(400);
  expect(response.headers.get("content-type")).toBe("application/problem+json");
});

test("a new user has a location", async () => {
  const response = await api.post("/users", { json: { name: "Ada", email: "ada@example.com" } });
  expect(response.status).toBe(201);
  expect(response.headers.get("location")).toBe("/users/51");
  expect(response.json()).toEqual({ id: 51, name: "Ada" });
});

test("a search says what it would search for, also without a word", async () => {
  expect((await api.get("/search?q=ada")).json()).toEqual({ query: "ada", page: 1, limit: 20 });
  expect((await api.get("/search")).json()).toEqual({ query: null, page: 1, limit: 20 });
});

test("filters reach the database as parameters", async () => {
  const response = await api.post("/users/search?limit=5", { json: { name: { $starts_with: "A" } } });
  expect(response.json()).toMatchObject({ params: ["A%"], limit: 5 });
});

// Writes openapi.json beside package.json. By itself: npx vitest run -t __sdk_write_schema
test("__sdk_write_schema", ({ task }) => {
  const { bytes } = writeSchema(task.file.filepath);
  expect(bytes).toBeGreaterThan(0);
});
