/** Parses the same values with our schemas and Zod's: both accept a value with the same result, or neither does. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { z } from "zod";
import { type EnumSchema, field, list, oneOf, record, type Schema, Type, type TypeSchema } from "../../src/index.ts";

interface Pair {
  readonly ours: Schema<unknown, "required">;
  readonly zods: z.ZodType;
}

// Zod counts UTF-16 units where we count code points, so texts are within the Basic Multilingual Plane here; its email
// and uri are stricter or looser than the RFCs by choice, so they are left out; ours has no recursion.
const bounds = fc.tuple(fc.nat(20), fc.nat(20)).map(([a, b]) => ({ min: Math.min(a, b), max: Math.max(a, b) }));
const leaf: fc.Arbitrary<Pair> = fc.oneof(
  fc.constant({ ours: field.string(), zods: z.string() }),
  bounds.map(({ min, max }) => ({ ours: field.string({ min, max }), zods: z.string().min(min).max(max) })),
  fc.constant({ ours: field.u32(), zods: z.uint32() }),
  fc.constant({ ours: field.i32(), zods: z.int32() }),
  fc.constant({ ours: field.i64(), zods: z.int() }),
  fc.constant({ ours: field.f64(), zods: z.number() }),
  bounds.map(({ min, max }) => ({ ours: field.u32({ min, max }), zods: z.uint32().min(min).max(max) })),
  bounds.map(({ min, max }) => ({ ours: field.f64({ min, max }), zods: z.number().min(min).max(max) })),
  fc.constant({ ours: field.bool(), zods: z.boolean() }),
  fc.constant({ ours: field.enum("a", "b", ""), zods: z.enum(["a", "b", ""]) }),
  fc.constant({ ours: field.string({ format: "date" }), zods: z.iso.date() }),
  fc.constant({ ours: field.string({ format: "ipv4" }), zods: z.ipv4() }),
  fc.constant({ ours: field.string({ format: "ipv6" }), zods: z.ipv6() }),
);

// Without "constructor" and other inherited names: Zod reads them from the prototype, we read own keys only.
const fieldNames = ["a", "b", "sp ace", "é"];

type ShapeName = "any" | "list" | "object" | "nullable" | "record" | "union";

const pair: fc.Arbitrary<Pair> = fc.letrec<Record<ShapeName, Pair>>((tie) => ({
  any: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    leaf,
    tie("list"),
    tie("object"),
    tie("nullable"),
    tie("record"),
    tie("union"),
  ),
  nullable: tie("any").map(({ ours, zods }) => ({ ours: ours.nullable(), zods: zods.nullable() })),
  record: tie("any").map(({ ours, zods }) => ({ ours: record(ours), zods: z.record(z.string(), zods) })),
  union: fc.tuple(tie("any"), tie("any")).map(([one, two]) => ({
    ours: oneOf("kind", { a: Type("A", { a: one.ours }), b: Type("B", { kind: field.enum("b"), é: two.ours }) }),
    zods: z.discriminatedUnion("kind", [
      z.object({ kind: z.literal("a"), a: one.zods }),
      z.object({ kind: z.literal("b"), é: two.zods }),
    ]),
  })),
  list: fc.tuple(tie("any"), bounds).map(([{ ours, zods }, { min, max }]) => ({
    ours: list(ours, { min: min % 3, max }),
    zods: z
      .array(zods)
      .min(min % 3)
      .max(max),
  })),
  object: fc
    .dictionary(fc.constantFrom(...fieldNames), fc.tuple(tie("any"), fc.boolean()), {
      maxKeys: 4,
      noNullPrototype: true,
    })
    .map((entries) => {
      const ours: Record<string, Schema> = {};
      const zods: Record<string, z.ZodType> = {};
      for (const [name, [one, optional]] of Object.entries(entries)) {
        ours[name] = optional ? one.ours.optional() : one.ours;
        zods[name] = optional ? one.zods.optional() : one.zods;
      }
      return { ours: Type("T", ours), zods: z.object(zods) };
    }),
})).any;

const text = fc.oneof(
  fc.string({ unit: "grapheme-ascii", maxLength: 25 }),
  fc.constantFrom(
    "2024-02-29",
    "2023-02-29",
    "2026-13-01",
    "1.2.3.4",
    "01.2.3.4",
    "::1",
    "1::2::3",
    "1:2:3:4:5:6:7:8",
    "::1.2.3.4",
    "",
    "a",
    "é",
  ),
);
const number = fc.oneof(
  fc.nat(25),
  fc.integer(),
  fc.double(),
  fc.maxSafeInteger(),
  fc.constantFrom(-0, 2 ** 32, 2 ** 32 - 1, -(2 ** 31), 2 ** 53),
);
const value = fc.letrec((tie) => ({
  any: fc.oneof({ maxDepth: 3 }, text, number, fc.boolean(), fc.constant(null), tie("list"), tie("object")),
  list: fc.array(tie("any"), { maxLength: 4 }),
  object: fc.dictionary(fc.constantFrom(...fieldNames, "other"), tie("any"), { maxKeys: 5, noNullPrototype: true }),
})).any;

/** Values close to a schema's, so that about half are accepted. */
function near({ ours }: Pair): fc.Arbitrary<unknown> {
  const wanted = (schema: Schema): fc.Arbitrary<unknown> => {
    const parts = schema as Schema & {
      items: Schema;
      fields: Record<string, Schema>;
      variants: Record<string, TypeSchema>;
    };
    if (schema.kind === "record") {
      return fc.dictionary(fc.constantFrom(...fieldNames), wanted(parts.items), { maxKeys: 3, noNullPrototype: true });
    }
    if (schema.kind === "union") return fc.oneof(...Object.values(parts.variants).map(wanted));
    if (schema.kind === "list") return fc.array(wanted(parts.items), { maxLength: 5 });
    if (schema.kind === "object") {
      const fields = Object.fromEntries(
        Object.entries(parts.fields).map(([name, one]) => [
          name,
          fc.oneof({ weight: 9, arbitrary: wanted(one) }, value),
        ]),
      );
      return fc.record(fields, {
        requiredKeys: Object.keys(fields).filter((_, i) => i % 2 === 0),
        noNullPrototype: true,
      });
    }
    if (schema.kind === "bool") return fc.boolean();
    if (schema.kind === "enum") return fc.constantFrom(...(schema as EnumSchema).values, "c", "");
    return schema.kind === "string" ? text : number;
  };
  return fc.oneof({ weight: 4, arbitrary: wanted(ours) }, value, fc.constant(null));
}

it("accepts what Zod accepts, with the same result", () => {
  let accepted = 0;
  let refused = 0;
  fc.assert(
    fc.property(
      pair.chain((one) => fc.tuple(fc.constant(one), near(one))),
      ([{ ours, zods }, given]) => {
        const json = JSON.parse(JSON.stringify(given) ?? "null");
        const mine = ours["~standard"].validate(json) as {
          value?: unknown;
          issues?: readonly { path: PropertyKey[] }[];
        };
        const theirs = zods.safeParse(json);
        expect(!mine.issues, JSON.stringify(json)).toBe(theirs.success);
        if (theirs.success) {
          accepted++;
          expect(mine.value).toEqual(theirs.data);
        } else {
          refused++;
          const places = (issues: readonly { path: readonly PropertyKey[] }[]) =>
            new Set(issues.map(({ path }) => JSON.stringify(path)));
          if (!json || typeof json !== "object") expect(places(mine.issues ?? [])).toEqual(places(theirs.error.issues));
        }
      },
    ),
    { numRuns: 3000 },
  );
  // Both outcomes must be frequent, or the comparison proves little.
  expect(Math.min(accepted, refused)).toBeGreaterThan(300);
});
