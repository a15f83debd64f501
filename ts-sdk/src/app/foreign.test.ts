import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { get, ok, post, routes, type StandardSchema } from "../index.ts";
import { testApp } from "../testing/index.ts";

const SECRET = "hunter2";

describe.each<[string, StandardSchema]>([
  ["Zod", z.object({ name: z.string(), age: z.number().min(18), role: z.enum(["a", "b"]) })],
  ["Valibot", v.object({ name: v.string(), age: v.pipe(v.number(), v.minValue(18)), role: v.picklist(["a", "b"]) })],
  ["ArkType", type({ name: "string", age: "number >= 18", role: "'a' | 'b'" })],
])("%s", (_name, body) => {
  const app = testApp(routes({ echo: post("/", { body }, (input) => ok(input.body)) }));

  it("gives the validated value", async () => {
    const json = { name: "Ada", age: 36, role: "a" };
    expect((await app.post("/", { json })).json()).toEqual(json);
  });

  it("lists all failures in our shape, and repeats no value", async () => {
    const answer = await app.post("/", { json: { name: 4711, age: 17, role: SECRET } });
    expect(answer.status).toBe(400);
    expect(answer.headers.get("content-type")).toBe("application/problem+json");
    const errors = answer.json().errors as { in: string; pointer: string; detail: string }[];
    expect(errors.map((error) => `${error.in} ${error.pointer}`).sort()).toEqual([
      "body #/age",
      "body #/name",
      "body #/role",
    ]);
    expect(answer.text()).not.toMatch(/hunter2|4711|\b17\b/);
  });

  it("calls what is absent required", async () => {
    const { errors } = (await app.post("/", { json: { name: "", age: 20 } })).json();
    expect(errors).toMatchObject([{ pointer: "#/role", code: "required" }]);
  });
});

it("awaits a schema that validates asynchronously, beside others that don't", async () => {
  const free = z.object({ name: z.string().refine(async (name) => name !== "taken", "the name is not free") });
  const query = v.objectAsync({
    q: v.pipeAsync(
      v.string(),
      v.checkAsync(async (q) => q === "ok", "not ok"),
    ),
  });
  const app = testApp(routes({ claim: post("/", { body: free, query }, (input) => ok(input)) }));
  expect((await app.post("/?q=ok", { json: { name: "free" } })).json()).toEqual({
    body: { name: "free" },
    query: { q: "ok" },
  });
  const { errors } = (await app.post("/?q=no", { json: { name: "taken" } })).json();
  expect(errors).toEqual([
    { in: "query", pointer: "#/q", code: "type", detail: "not ok" },
    { in: "body", pointer: "#/name", code: "type", detail: "the name is not free" },
  ]);
});

it("answers 500 when a foreign schema throws", async () => {
  const schema: StandardSchema = {
    "~standard": {
      version: 1,
      vendor: "broken",
      validate: () => {
        throw new Error("broken");
      },
    },
  };
  const reported = vi.spyOn(console, "error").mockImplementation(() => {});
  const app = testApp(routes({ broken: post("/", { body: schema }, () => ok({})) }));
  expect((await app.post("/", { json: {} })).status).toBe(500);
  expect(reported).toHaveBeenCalledOnce();
  reported.mockRestore();
});

describe("a foreign schema of a query", () => {
  it("gets lists where its JSON Schema says so, else the last text", async () => {
    const query = z.object({ tags: z.array(z.string()).optional(), page: z.string().optional() });
    const app = testApp(routes({ list: get("/", { query }, (input) => ok(input.query)) }));
    expect((await app.get("/?tags=a&page=1&page=2")).json()).toEqual({ tags: ["a"], page: "2" });
    expect((await app.get("/?tags=a&tags=b")).json()).toEqual({ tags: ["a", "b"] });
  });

  it("gets a list of a repeated key where there is no JSON Schema", async () => {
    const query = v.object({ tags: v.optional(v.array(v.string())), page: v.optional(v.string()) });
    const app = testApp(routes({ list: get("/", { query }, (input) => ok(input.query)) }));
    expect((await app.get("/?tags=a&tags=b&page=1")).json()).toEqual({ tags: ["a", "b"], page: "1" });
  });
});
