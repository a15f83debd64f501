import { describe, expect, it } from "vitest";
import { z } from "zod";
import { client } from "../client/index.ts";
import { field, get, list, ok, post, routes, Type } from "../index.ts";
import { json } from "../openapi/index.ts";
import { testApp } from "../testing/index.ts";

const app = routes({
  pay: post(
    "/pay",
    {
      headers: {
        "idempotency-key": field.string({ max: 8, docs: "One for each payment" }).optional(),
        "x-count": field.u32({ default: 3 }),
        "x-tags": list(field.enum("a", "b")).optional(),
        accept: field.string().optional(),
      },
      body: Type("Payment", { amount: field.u32() }),
    },
    ({ headers, body }) => ok({ ...headers, ...body }),
  ),
  needed: get("/needed", { headers: { "x-tenant": field.string() } }, ({ headers }) => ok(headers)),
  zod: get("/zod", { headers: z.object({ "x-n": z.coerce.number() }) }, ({ headers }) => ok(headers)),
});

describe("headers as input", () => {
  it("are parsed, converted and defaulted, in any case", async () => {
    const headers = { "Idempotency-Key": "k1", "X-COUNT": "7", "x-tags": "a, b" };
    const answer = await testApp(app).post("/pay", { headers, json: { amount: 1 } });
    expect(answer.json()).toEqual({ "idempotency-key": "k1", "x-count": 7, "x-tags": ["a", "b"], amount: 1 });
    expect((await testApp(app).post("/pay", { json: { amount: 1 } })).json()).toEqual({ "x-count": 3, amount: 1 });
  });

  it("fill a list when they are repeated", async () => {
    const headers = [
      ["x-tags", "a"],
      ["x-tags", "b,a"],
    ] as const;
    expect((await testApp(app).post("/pay", { headers, json: { amount: 1 } })).json()["x-tags"]).toEqual([
      "a",
      "b",
      "a",
    ]);
  });

  it("fail as the others do, before the body's failures", async () => {
    const headers = { "idempotency-key": "longer than eight", "x-count": "many", "x-tags": "a,c" };
    const answer = await testApp(app).post("/pay", { headers, json: {} });
    expect(answer.status).toBe(400);
    expect(answer.json().errors).toEqual([
      { in: "header", pointer: "#/idempotency-key", code: "max", detail: "must have at most 8 characters" },
      { in: "header", pointer: "#/x-count", code: "type", detail: expect.any(String) },
      { in: "header", pointer: "#/x-tags/1", code: "enum", detail: expect.any(String) },
      { in: "body", pointer: "#/amount", code: "required", detail: "is required" },
    ]);
    expect((await testApp(app).get("/needed")).json().errors).toMatchObject([{ in: "header", pointer: "#/x-tenant" }]);
  });

  it("take another library's schema", async () => {
    expect((await testApp(app).get("/zod", { headers: { "X-N": "5" } })).json()).toEqual({ "x-n": 5 });
    const failed = (await testApp(app).get("/zod")).json();
    expect(failed.errors).toMatchObject([{ in: "header", pointer: "#/x-n" }]);
  });

  it("are parameters of the document, but for those that it describes elsewhere", () => {
    const { paths } = JSON.parse(json(app, { name: "x" }));
    expect(paths["/pay"].post.parameters).toEqual([
      {
        name: "idempotency-key",
        in: "header",
        required: false,
        description: "One for each payment",
        schema: { type: "string", maxLength: 8, description: "One for each payment" },
      },
      expect.objectContaining({ name: "x-count", in: "header", required: false }),
      expect.objectContaining({ name: "x-tags", in: "header", required: false }),
    ]);
    expect(paths["/zod"].get.parameters).toMatchObject([{ name: "x-n", in: "header", required: true }]);
  });

  it("are sent by the typed client", async () => {
    const api = client<typeof app>(testApp(app));
    const paid = await api.pay({
      body: { amount: 1 },
      headers: { "x-count": 9, "x-tags": ["a", "b"], "x-other": "o" },
    });
    expect(paid).toMatchObject({ ok: true, data: { "x-count": 9, "x-tags": ["a", "b"] } });
    expect(await api.needed({ headers: { "x-tenant": "t" } })).toMatchObject({ data: { "x-tenant": "t" } });
  });

  it("must have names in lower case, and fields of one value", () => {
    const upper = () => routes({ a: get("/", { headers: { "X-A": field.string() } }, () => ok({})) });
    expect(upper).toThrow('routes: "a": the header "X-A" must be in lower case');
    const nested = { "x-a": Type("T", {}) } as never;
    expect(() => get("/", { headers: nested }, () => ok({}))).toThrow("single value");
    expect(() => get("/", { headers: 1 as never }, () => ok({}))).toThrow('"headers"');
  });
});
