import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { get, ok, post, routes, type StandardSchema } from "../index.ts";
import type { Document } from "./document.ts";
import { json } from "./json.ts";

const anything = () => ok({}) as never;
const ofBody = (body: StandardSchema, response: StandardSchema = body) => {
  const text = json(routes({ add: post("/add", { body, response }, anything) }), { name: "x" });
  const { paths, components } = JSON.parse(text) as Document;
  const { requestBody, responses } = paths["/add"]?.post ?? {};
  return {
    body: requestBody?.content["application/json"]?.schema,
    response: responses?.["200"]?.content?.["application/json"]?.schema,
    schemas: components.schemas,
  };
};

describe("Zod", () => {
  it("stands where it is used; what has an id is a component", () => {
    const Task = z.object({ id: z.int().min(1).max(9) }).meta({ id: "Task" });
    const { body, response, schemas } = ofBody(z.object({ tasks: z.array(Task), note: z.string().nullish() }));
    expect(body).toEqual({
      type: "object",
      properties: {
        tasks: { type: "array", items: { $ref: "#/components/schemas/Task" } },
        note: { type: "string", nullable: true },
      },
      required: ["tasks"],
    });
    // That Zod drops unknown keys of what it parses says nothing of an answer.
    expect(response).toEqual(body);
    expect(schemas["Task"]).toEqual({
      type: "object",
      properties: { id: { type: "integer", minimum: 1, maximum: 9 } },
      required: ["id"],
    });
  });

  it("has a second component where a type comes out otherwise than it goes in", () => {
    const Inner = z.object({ n: z.int().default(1) }).meta({ id: "Inner" });
    const Outer = z.object({ inner: Inner }).meta({ id: "Outer" });
    const { body, response, schemas } = ofBody(Outer);
    expect(body).toEqual({ $ref: "#/components/schemas/Outer" });
    expect(response).toEqual({ $ref: "#/components/schemas/OuterOutput" });
    expect(schemas["OuterOutput"]).toMatchObject({
      properties: { inner: { $ref: "#/components/schemas/InnerOutput" } },
    });
    expect(schemas["InnerOutput"]).toMatchObject({ required: ["n"] });
    expect(schemas["Inner"]).not.toHaveProperty("required");
  });

  it("has a component for a type that holds itself", () => {
    const Tree = z.object({
      value: z.string(),
      get children() {
        return z.array(Tree);
      },
    });
    const { body, schemas } = ofBody(Tree, z.string());
    expect(body).toEqual({ $ref: "#/components/schemas/AddBody" });
    expect(schemas["AddBody"]).toMatchObject({
      properties: { children: { type: "array", items: { $ref: "#/components/schemas/AddBody" } } },
    });
  });

  it("names the field that OpenAPI can't express", () => {
    const body = z.object({ account: z.object({ balance: z.bigint() }) });
    expect(() => ofBody(body)).toThrow(
      /^add \(POST \/add\), body #\/account\/balance: zod can't write it for OpenAPI 3\.0: BigInt/,
    );
  });

  it("gives the parameters of a path and a query", () => {
    const query = z.object({ page: z.coerce.number().int().min(1).default(1), q: z.string().describe("Words") });
    const path = z.object({ id: z.uuid() }).meta({ id: "Where" });
    const text = json(routes({ find: get("/find/{id}", { path, query }, anything) }), { name: "x" });
    expect((JSON.parse(text) as Document).paths["/find/{id}"]?.get?.parameters).toMatchObject([
      { name: "id", in: "path", required: true, schema: { type: "string", format: "uuid" } },
      { name: "page", in: "query", required: false, schema: { type: "integer", minimum: 1, default: 1 } },
      { name: "q", in: "query", required: true, description: "Words", schema: { type: "string" } },
    ]);
  });
});

describe("Valibot", () => {
  const Shape = v.object({ unit: v.picklist(["day", "week"]), label: v.optional(v.pipe(v.string(), v.maxLength(5))) });

  it("needs its Standard JSON Schema, and then is written", () => {
    expect(ofBody(toStandardJsonSchema(Shape)).body).toMatchObject({
      type: "object",
      properties: { unit: { enum: ["day", "week"] }, label: { type: "string", maxLength: 5 } },
      required: ["unit"],
    });
    expect(() => ofBody(Shape)).toThrow(
      /^add \(POST \/add\), body: the schema, made with valibot, has no Standard JSON Schema; wrap it in toStandardJson/,
    );
  });
});

it("says which library can't write OpenAPI 3.0", () => {
  expect(() => ofBody(type({ name: "string" }))).toThrow(/^add \(POST \/add\), body #: arktype can't write it/);
});

it.each<[string, object, RegExp]>([
  ["a keyword", { properties: { a: { const: 1 } } }, /body #\/a: OpenAPI 3\.0 has no "const"/],
  [
    "two types",
    { properties: { a: { type: ["string", "null"] } } },
    /#\/a: OpenAPI 3\.0 has no type \["string","null"\]/,
  ],
  ["a bound", { items: { exclusiveMinimum: 1 }, type: "array" }, /in OpenAPI 3\.0 "exclusiveMinimum" is true or false/],
  ["a reference", { anyOf: [{ $ref: "#/definitions/Gone" }] }, /the reference #\/definitions\/Gone leads nowhere/],
])("refuses %s that 3.0 does not have, and names the field", (_what, written, message) => {
  const jsonSchema = { input: () => written, output: () => written };
  const schema = { "~standard": { version: 1, vendor: "other", validate: () => ({ value: 1 }), jsonSchema } };
  expect(() => ofBody(schema as StandardSchema)).toThrow(message);
});
