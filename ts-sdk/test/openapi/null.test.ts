/** Checks that exactly the schemas that accept null are described as nullable. */
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import Ajv from "ajv-draft-04";
import { type } from "arktype";
import * as v from "valibot";
import { expect, it } from "vitest";
import { z } from "zod";
import { field, ok, oneOf, partial, post, record, routes, type StandardSchema, Type } from "../../src/index.ts";
import { json } from "../../src/openapi/index.ts";

const Addr = Type("Addr", { street: field.string() });
const kind = oneOf("t", { a: Addr, b: Type("Other", { t: field.enum("b"), n: field.u32() }) });
const User = z.object({ street: z.string() }).meta({ id: "User" });
const valibot = (a: v.GenericSchema) => toStandardJsonSchema(v.object({ a }));
const days = v.picklist(["mon", "tue"]);
const kinds = [
  { t: "a", n: 1 },
  { t: "b", n: 1 },
];
const zodKind = z.discriminatedUnion("t", [
  z.object({ t: z.literal("a"), n: z.int() }),
  z.object({ t: z.literal("b"), n: z.int() }),
]);
const valibotKind = v.variant("t", [
  v.object({ t: v.literal("a"), n: v.number() }),
  v.object({ t: v.literal("b"), n: v.number() }),
]);

/** Validates by OpenAPI 3.0's rules: ajv reads "nullable" as in 3.0.3, and refuses one that has no type beside it. */
function described(schema: StandardSchema): (value: unknown) => boolean {
  const { paths, components } = JSON.parse(
    json(routes({ add: post("/", { body: schema }, () => ok({})) }), { name: "x" }),
  );
  const body = paths["/"].post.requestBody.content["application/json"].schema;
  const validate = new Ajv.default({ strict: false }).compile({ allOf: [body], components });
  return (value) => validate(value) as boolean;
}

async function taken(schema: StandardSchema, value: unknown): Promise<boolean> {
  return (await schema["~standard"].validate(value)).issues === undefined;
}

it.each<[string, StandardSchema, unknown[]]>([
  ["a Type that may be absent or null", Type("B", { a: Addr.nullish() }), [{ street: "x" }]],
  ["a text", Type("B", { a: field.string().nullable() }), ["x"]],
  ["words", Type("B", { a: field.enum("mon", "tue").nullable() }), ["mon"]],
  ["a Type that may be null", Type("B", { a: Addr.nullable() }), [{ street: "x" }]],
  ["a record", Type("B", { a: record(field.string()).nullable() }), [{ street: "x" }]],
  ["a union", Type("B", { a: kind.nullable() }), [{ t: "a", street: "x" }, { street: "x" }]],
  ["any JSON", Type("B", { a: field.json() }), [1, "x", [null]]],
  ["a part of a Type", partial(Type("B", { a: Addr.nullable() })), [{ street: "x" }]],
  ["Zod's enum", z.object({ a: z.enum(["mon", "tue"]).nullable() }), ["mon"]],
  ["Zod's literal", z.object({ a: z.literal("mon").nullable() }), ["mon"]],
  ["Zod's literals of several types", z.object({ a: z.literal(["mon", 1]).nullable() }), ["mon", 1]],
  ["Zod's union", z.object({ a: z.union([z.string(), z.number()]).nullable() }), ["mon", 1]],
  ["Zod's union of named types", z.object({ a: z.union([User, z.number()]).nullable() }), [{ street: "x" }, 1]],
  ["Zod's discriminated union", z.object({ a: zodKind.nullable() }), kinds],
  ["Zod's named type", z.object({ a: User.nullable() }), [{ street: "x" }]],
  ["Zod's anything", z.object({ a: z.any().nullable() }), [1, "x"]],
  ["Valibot's picklist", valibot(v.nullable(days)), ["mon"]],
  ["Valibot's literal", valibot(v.nullable(v.literal("mon"))), ["mon"]],
  ["Valibot's enum", valibot(v.nullable(v.enum({ One: 1, Mon: "mon" }))), ["mon", 1]],
  ["Valibot's union", valibot(v.nullable(v.union([v.string(), v.number()]))), ["mon", 1]],
  ["Valibot's variant", valibot(v.nullable(valibotKind)), kinds],
  ["ArkType's union", type({ a: "'mon' | 1 | null" }), ["mon", 1]],
])("%s takes null, and its document says so", async (_what, schema, values) => {
  const says = described(schema);
  for (const a of [null, ...values, { b: 1 }, true]) {
    expect([a, says({ a })]).toEqual([a, await taken(schema, { a })]);
  }
  expect(says({ a: null })).toBe(true);
});

it.each<[string, StandardSchema]>([
  ["a Type in a Type", Type("B", { a: Addr })],
  ["a Type that may be absent", Type("B", { a: Addr.optional() })],
  ["a text that may be absent", Type("B", { a: field.string({ default: "x" }).optional() })],
  ["a part of a Type", partial(Type("B", { a: Addr }))],
  ["a record", Type("B", { a: record(field.string()) })],
  ["a union", Type("B", { a: kind })],
  ["Zod's enum", z.object({ a: z.enum(["mon", "tue"]) })],
  ["Zod's union", z.object({ a: z.union([z.string(), z.number()]) })],
  ["Valibot's picklist", valibot(days)],
  ["ArkType's union", type({ a: "'mon' | 1" })],
])("%s takes no null, and its document says so", async (_what, schema) => {
  expect([described(schema)({ a: null }), await taken(schema, { a: null })]).toEqual([false, false]);
});
