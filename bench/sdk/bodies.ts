/** The same body described with three libraries: nested, with a list, texts with bounds and formats, and an enum. */
import { field, list, Type } from "@tenon/sdk";
import * as v from "valibot";
import { z } from "zod";

const Address = Type("Address", { street: field.string({ min: 1, max: 100 }), zip: field.string({ min: 5, max: 5 }) });
const ours = Type("Order", {
  id: field.u32({ min: 1 }),
  email: field.string({ max: 100 }),
  note: field.string().optional(),
  status: field.enum("new", "paid", "sent"),
  express: field.bool(),
  address: Address,
  items: list(
    Type("Item", {
      sku: field.string({ min: 3, max: 20 }),
      count: field.u32({ min: 1, max: 99 }),
      price: field.f64({ min: 0 }),
    }),
    {
      min: 1,
      max: 50,
    },
  ),
});

const zods = z.object({
  id: z.uint32().min(1),
  email: z.string().max(100),
  note: z.string().optional(),
  status: z.enum(["new", "paid", "sent"]),
  express: z.boolean(),
  address: z.object({ street: z.string().min(1).max(100), zip: z.string().length(5) }),
  items: z
    .array(z.object({ sku: z.string().min(3).max(20), count: z.uint32().min(1).max(99), price: z.number().min(0) }))
    .min(1)
    .max(50),
});

const whole = (least: number, most: number) => v.pipe(v.number(), v.integer(), v.minValue(least), v.maxValue(most));
const valibots = v.object({
  id: whole(1, 4_294_967_295),
  email: v.pipe(v.string(), v.maxLength(100)),
  note: v.optional(v.string()),
  status: v.picklist(["new", "paid", "sent"]),
  express: v.boolean(),
  address: v.object({
    street: v.pipe(v.string(), v.minLength(1), v.maxLength(100)),
    zip: v.pipe(v.string(), v.length(5)),
  }),
  items: v.pipe(
    v.array(
      v.object({
        sku: v.pipe(v.string(), v.minLength(3), v.maxLength(20)),
        count: whole(1, 99),
        price: v.pipe(v.number(), v.minValue(0)),
      }),
    ),
    v.minLength(1),
    v.maxLength(50),
  ),
});

export const schemas = { tenon: ours, zod: zods, valibot: valibots };

const item = (n: number) => ({ sku: `sku-${n}`, count: n + 1, price: n * 1.5 });
const valid = {
  id: 7,
  email: "ada@example.com",
  status: "paid",
  express: false,
  address: { street: "Main Street 1", zip: "12345" },
  items: [0, 1, 2, 3, 4].map(item),
};
const invalid = {
  ...valid,
  id: "7",
  status: "lost",
  address: { street: "", zip: 1 },
  items: [item(0), { sku: "x", count: 0 }, item(2)],
};

export const bodies = { valid, invalid };

const User = Type("User", {
  id: field.u32(),
  name: field.string(),
  email: field.string().optional(),
  age: field.u32(),
  active: field.bool(),
  created_at: field.string({ format: "date-time" }),
});
/** An answer of 20 items. */
export const Page = Type("Page", { users: list(User), page: field.u32(), limit: field.u32() });
export const page = {
  users: Array.from({ length: 20 }, (_, i) => ({
    id: i,
    name: `Person number ${i}`,
    email: `person-${i}@example.com`,
    age: 30 + i,
    active: i % 2 === 0,
    created_at: "2026-01-31T12:00:00Z",
  })),
  page: 1,
  limit: 20,
};
