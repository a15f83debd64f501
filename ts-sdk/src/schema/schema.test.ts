import { describe, expect, it } from "vitest";
import { field, Id, list, Path, Query, Type } from "../index.ts";

/** Removes the types of a definition, as in JavaScript or after a cast. */
const loose = (make: () => unknown) => make as () => never;

describe("definitions that can't be", () => {
  it.each([
    [
      "an unknown attribute",
      () => field.u32({ zebra: 1 } as never),
      /field\.u32: unknown "zebra" \(known: min, max, default, docs, deprecated, check\)/,
    ],
    ["an attribute of another kind", () => field.bool({ max: 1 } as never), /field\.bool: unknown "max"/],
    ["an unknown attribute of an enum", () => field.enum("a", { max: 1 } as never), /field\.enum: unknown "max"/],
    ["an unknown attribute of a list", () => list(field.u32(), { unique: true } as never), /list: unknown "unique"/],
    ["an extension without a name", () => field.u32({ x_: 1 }), /unknown "x_"/],
    [
      "an extension that is no scalar",
      () => field.u32({ x_a: {} } as never),
      /"x_a" must be a string, a boolean or a finite number/,
    ],
    ["min greater than max", () => field.u32({ min: 2, max: 1 }), /"min" 2 is greater than "max" 1/],
    ["min greater than max, of a text", () => field.string({ min: 2, max: 1 }), /"min" 2 is greater/],
    ["min greater than max, of a list", () => list(field.u32(), { min: 2, max: 1 }), /"min" 2 is greater/],
    [
      "a bound outside the kind",
      () => field.u32({ min: -1 }),
      /a bound must be a whole number from 0 to 4294967295, not be -1/,
    ],
    ["a bound that is no whole number", () => field.i32({ max: 1.5 }), /a bound must be a whole number/],
    ["a bound that is no number", () => field.f64({ max: "1" } as never), /"max" must be a finite number/],
    ["an infinite bound", () => field.f64({ max: Number.POSITIVE_INFINITY }), /"max" must be a finite number/],
    ["a length that is no count", () => field.string({ min: -1 }), /whole numbers from 0 on, not -1/],
    ["a length that is no whole number", () => field.string({ max: 1.5 }), /whole numbers from 0 on, not 1.5/],
    [
      "an unknown format",
      () => field.string({ format: "mail" as never }),
      /unknown format "mail" \(known: email, uuid/,
    ],
    ["a format by a prototype's name", () => field.string({ format: "constructor" as never }), /unknown format/],
    ["a default over the bound", () => field.u32({ default: 11, max: 10 }), /field\.u32: "default" must be at most 10/],
    ["a default of another kind", () => field.u32({ default: "1" as never }), /"default" must be a whole number/],
    [
      "a default that is too short",
      () => field.string({ default: "", min: 1 }),
      /"default" must have at least 1 character/,
    ],
    [
      "a default without the format",
      () => field.string({ default: "x", format: "email" }),
      /"default" must be a valid email/,
    ],
    [
      "a default that is no word",
      () => field.enum("a", "b", { default: "c" as never }),
      /"default" must be one of "a", "b"/,
    ],
    [
      "a default with a wrong item",
      () => list(field.u32(), { default: [-1] }),
      /list: "default" must be a whole number/,
    ],
    ["docs that are no text", () => field.u32({ docs: 1 } as never), /"docs" must be a string/],
    [
      "deprecated that is no boolean",
      () => field.u32({ deprecated: "yes" } as never),
      /"deprecated" must be true or false/,
    ],
    ["attributes that are no object", () => field.u32(null as never), /attributes must be an object/],
    ["an enum without words", () => field.enum(), /one or more different texts/],
    ["an enum with a word twice", () => field.enum("a", "a"), /one or more different texts/],
    ["a list of no schema", () => list({} as never), /must be a schema/],
    ["a list of optional items", () => list(field.u32().optional() as never), /must not be optional/],
    ["a name that is none", () => Type("a b", {}), /Type: a name must have only letters, digits/],
    ["no name", () => Type(undefined as never, {}), /Type: a name must have only/],
    ["fields that are none", () => Type("T", { a: 1 } as never), /Type T: the field "a" is not a schema/],
    ["no fields", () => Type("T", null as never), /Type T: the fields must be an object/],
    [
      "a field that sets the prototype",
      () => Type("T", { __proto__: field.u32() } as never),
      /can't be named "__proto__"/,
    ],
    ["a field named __proto__", () => Type("T", { ["__proto__"]: field.u32() }), /can't be named "__proto__"/],
    [
      "an optional placeholder",
      () => Path("P", { a: field.u32().optional() } as never),
      /Path P: "a" is always there, it can't be optional/,
    ],
    ["a placeholder with a default", () => Path("P", { a: field.u32({ default: 1 }) } as never), /can't be default/],
    [
      "a placeholder that is a list",
      () => Path("P", { a: list(field.u32()) } as never),
      /Path P: "a" must be a single value/,
    ],
    [
      "an object in a query",
      () => Query("Q", { a: Type("T", {}) } as never),
      /Query Q: "a" must be a single value or a list/,
    ],
    ["a list of lists in a query", () => Query("Q", { a: list(list(field.u32())) } as never), /Query Q: "a" must be/],
  ])("%s", (_what, make, message) => {
    expect(loose(make)).toThrow(message);
  });
});

describe("a schema as data", () => {
  it("keeps its attributes, as they were given", () => {
    const attributes = {
      min: 1,
      max: 9,
      docs: "A name",
      deprecated: true,
      format: "email",
      x_internal_id: "n",
    } as const;
    const schema = field.string(attributes);
    expect(schema.attributes).toEqual(attributes);
    expect(schema.optional().attributes).toEqual(attributes);
    expect(Object.isFrozen(schema) && Object.isFrozen(schema.attributes)).toBe(true);
  });

  it("says its kind, presence and parts", () => {
    const User = Type("User", { id: field.u32(), role: field.enum("a", "b").optional() });
    const Users = Type("Users", { users: list(User), page: field.u32({ default: 1 }) });
    expect(Users).toMatchObject({ kind: "object", role: "type", name: "Users", presence: "required" });
    expect(Object.keys(Users.fields)).toEqual(["users", "page"]);
    expect(Users.fields["users"]).toMatchObject({ kind: "list", items: User });
    expect(Users.fields["page"]).toMatchObject({
      kind: "u32",
      presence: "default",
      takesNull: false,
    });
    expect(User.fields["role"]).toMatchObject({
      kind: "enum",
      values: ["a", "b"],
      presence: "optional",
      takesNull: false,
    });
    expect(User.optional()).toMatchObject({ name: "User", fields: User.fields, presence: "optional" });
    expect(Id).toMatchObject({ role: "path", name: "Id", fields: { id: { kind: "string" } } });
  });

  it("gives each request its own copy of a default list", () => {
    const Q = Query("Q", { tags: list(field.string(), { default: ["a"] }) });
    const parse = () => (Q["~standard"].validate({}) as { value: { tags: string[] } }).value.tags;
    parse().push("b");
    expect(parse()).toEqual(["a"]);
  });
});

describe("Standard Schema", () => {
  const User = Type("User", { name: field.string({ min: 2 }), tags: list(field.u32()).optional() });

  it("gives the value, and only what is declared", () => {
    expect(User["~standard"]).toMatchObject({ version: 1, vendor: "tenon" });
    expect(User["~standard"].validate({ name: "Ada", tags: [1], more: 1 })).toEqual({
      value: { name: "Ada", tags: [1] },
    });
  });

  it("gives issues with messages and paths", () => {
    expect(User["~standard"].validate({ name: "A", tags: ["x"] })).toMatchObject({
      issues: [
        { message: "must have at least 2 characters", path: ["name"] },
        { message: "must be a whole number from 0 to 4294967295", path: ["tags", 0] },
      ],
    });
  });

  it("takes text for a query and a path, and typed values too", () => {
    const Page = Query("Page", { page: field.u32({ default: 1 }), on: field.bool().optional() });
    expect(Page["~standard"].validate({ page: "2", on: "true" })).toEqual({ value: { page: 2, on: true } });
    expect(Page["~standard"].validate({ page: 2 })).toEqual({ value: { page: 2 } });
    expect(Page["~standard"].validate({})).toEqual({ value: { page: 1 } });
  });

  it("knows what may be absent", () => {
    expect(User.optional()["~standard"].validate(undefined)).toEqual({ value: undefined });
    expect(User.optional()["~standard"].validate(null)).toMatchObject({ issues: [{ message: "must be an object" }] });
    expect(field.u32({ default: 3 })["~standard"].validate(undefined)).toEqual({ value: 3 });
    expect(User["~standard"].validate(undefined)).toMatchObject({ issues: [{ message: "must be an object" }] });
  });

  it("reads own keys only", () => {
    const inherited = Object.create({ name: "Ada" });
    expect(User["~standard"].validate(inherited)).toMatchObject({
      issues: [{ path: ["name"], message: "is required" }],
    });
  });
});
