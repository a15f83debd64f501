import { writeSchema } from "@tenon/sdk/openapi";
import { testApp } from "@tenon/sdk/testing";
import { Services } from "tenon";
import { afterAll, expect, test } from "vitest";
import app from "../src/handler.ts";

// The service of `tenon dev`, empty and on a port of its own.
const services = await Services.start({ folder: ".tenon/test", fresh: true });
afterAll(() => services.close());
const api = testApp(app, { env: { SIDECAR_CACHE_URL: services.url } });

async function create(title: string) {
  const response = await api.post("/tasks", { json: { title } });
  expect(response.status).toBe(201);
  return response.json() as { id: string; title: string; done: boolean };
}

test("the banner", async () => {
  expect((await api.get("/")).json()).toEqual({ service: "rest", message: "Tasks are at /tasks" });
});

test("a task is created, read, changed and deleted", async () => {
  const task = await create("Write a handler");
  expect(task.done).toBe(false);
  expect((await api.get(`/tasks/${task.id}`)).json()).toEqual(task);

  const changed = await api.patch(`/tasks/${task.id}`, { json: { done: true } });
  expect(changed.json()).toEqual({ ...task, done: true });

  expect((await api.delete(`/tasks/${task.id}`)).status).toBe(204);
  for (const response of [
    await api.get(`/tasks/${task.id}`),
    await api.patch(`/tasks/${task.id}`, { json: { done: true } }),
    await api.delete(`/tasks/${task.id}`),
  ]) {
    expect(response.status).toBe(404);
  }
});

test("tasks come in pages", async () => {
  const titles = ["a", "b", "c", "d", "e"];
  for (const title of titles) await create(title);
  const seen: string[] = [];
  for (let after = ""; ; ) {
    const page = await api.get(`/tasks?limit=2${after === "" ? "" : `&after=${encodeURIComponent(after)}`}`);
    const { tasks, next } = page.json() as { tasks: { title: string }[]; next?: string };
    seen.push(...tasks.map((task) => task.title));
    if (next === undefined) break;
    after = next;
  }
  expect(seen.sort()).toEqual(titles);
});

test("what is not valid is refused", async () => {
  expect((await api.post("/tasks", { json: { title: "" } })).status).toBe(400);
  expect((await api.get("/tasks?limit=1000")).status).toBe(400);
  expect((await api.get("/tasks/7")).status).toBe(400);
});

// Writes openapi.json beside package.json. By itself: npx vitest run -t __sdk_write_schema
test("__sdk_write_schema", ({ task }) => {
  const { bytes } = writeSchema(task.file.filepath);
  expect(bytes).toBeGreaterThan(0);
});
