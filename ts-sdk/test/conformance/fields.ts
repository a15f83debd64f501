import {
  extend,
  field,
  list,
  omit,
  oneOf,
  PageInfo,
  partial,
  pick,
  record,
  type Schema,
  Type,
} from "../../src/index.ts";

const Address = Type("Address", { street: field.string({ min: 1 }), zip: field.string({ min: 5, max: 5 }) });
const Person = Type("Person", { name: field.string(), address: Address, other: Address.optional() });

const Circle = Type("Circle", { radius: field.f64({ min: 0 }) });
const Square = Type("Square", {
  kind: field.enum("square"),
  side: field.f64({ min: 0 }),
  label: field.string().optional(),
});
const Shape = oneOf("kind", { circle: Circle, square: Square });
const Note = Type("Note", {
  id: field.u32(),
  text: field.string({ max: 5 }).nullable(),
  tags: list(field.string(), { default: ["new"] }),
  author: Person.optional(),
});

/** Fields for a body, a query and a path; the route's name contains the field's name. */
export const scalars = {
  string: field.string(),
  string2to4: field.string({ min: 2, max: 4 }),
  stringMin1: field.string({ min: 1 }),
  email: field.string({ format: "email" }),
  uuid: field.string({ format: "uuid" }),
  date: field.string({ format: "date" }),
  dateTime: field.string({ format: "date-time" }),
  uri: field.string({ format: "uri" }),
  ipv4: field.string({ format: "ipv4" }),
  ipv6: field.string({ format: "ipv6" }),
  emailMax20: field.string({ format: "email", max: 20 }),
  u32: field.u32(),
  u32From10To20: field.u32({ min: 10, max: 20 }),
  i32: field.i32(),
  i32Min5: field.i32({ min: -5 }),
  i64: field.i64(),
  f64: field.f64(),
  f64From0To1: field.f64({ min: 0, max: 1 }),
  bool: field.bool(),
  enum: field.enum("red", "green", "dark blue"),
} as const;

/** Optional, defaulted and list fields, for a body and a query. */
export const others = {
  optionalString: field.string({ min: 2 }).optional(),
  optionalU32: field.u32().optional(),
  defaultString: field.string({ default: "none" }),
  defaultU32: field.u32({ default: 10, max: 100 }),
  defaultBool: field.bool({ default: true }),
  defaultEnum: field.enum("asc", "desc", { default: "asc" }),
  defaultOptional: field.i32({ default: 7 }).optional(),
  strings: list(field.string()),
  numbers1to3: list(field.u32({ max: 9 }), { min: 1, max: 3 }),
  optionalList: list(field.bool()).optional(),
  defaultList: list(field.f64(), { default: [0.5] }),
  enums: list(field.enum("a", "b"), { max: 2 }),
} as const;

/** Fields of a body only. */
export const nested = {
  address: Address,
  person: Person,
  people: list(Person, { max: 2 }),
  matrix: list(list(field.i32())),
  optionalAddress: Address.optional(),
  nullableString: field.string({ min: 2 }).nullable(),
  nullableOptional: field.u32().nullable().optional(),
  optionalNullable: field.u32().optional().nullable(),
  nullableDefault: field.u32({ default: 7 }).nullable(),
  nullableEnum: field.enum("a", "b").nullable(),
  nullableAddress: Address.nullable(),
  nullableItems: list(field.bool().nullable()),
  record: record(field.u32({ max: 9 }), { min: 1, max: 3 }),
  recordOfLists: record(list(field.string().nullable())),
  recordOfAddresses: record(Address),
  optionalRecord: record(field.bool()).optional(),
  defaultRecord: record(field.u32(), { default: { a: 1 } }),
  json: field.json(),
  optionalJson: field.json().optional(),
  shape: Shape,
  shapes: list(Shape),
  nullableShape: Shape.nullable(),
  recordOfShapes: record(Shape),
  note: Note,
  partial: partial(Note),
  picked: pick(Note, ["text", "id"]),
  omitted: omit(Note, ["tags", "author"]),
  extended: extend(Address, "Place", { zip: field.u32(), country: field.enum("at", "de") }),
  page: PageInfo,
} as const;

export type FieldName = keyof typeof scalars | keyof typeof others | keyof typeof nested;

export const inBody: Readonly<Record<string, Schema>> = { ...scalars, ...others, ...nested };
export const inQuery = { ...scalars, ...others };
export const inPath = scalars;
