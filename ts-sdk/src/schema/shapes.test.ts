/** Null as a value, records, any JSON, unions, and derived Types: definitions, plain data, Standard Schema. */
import { describe, expect, it, vi } from "vitest";
import {
  extend,
  field,
  get,
  Id,
  list,
  ok,
  omit,
  oneOf,
  PageInfo,
  Path,
  pageInfo,
  partial,
  pick,
  Query,
  record,
  routes,
  type Schema,
  Type,
  type TypeSchema,
} from "../index.ts";
import { testApp } from "../testing/index.ts";
import { Failures } from "./failures.ts";

const loose = (make: () => unknown) => make as () => never;
const validate = (schema: Schema, value: unknown) => schema["~standard"].validate(value);

const User = Type("User", {
  id: field.u32(),
  created_at: field.string({ format: "date", docs: "The day" }),
  note: field.string().nullable(),
  tags: list(field.string(), { max: 3, default: ["new"] }),
  home: Type("Home", { zip: field.string(), floor: field.u32({ default: 0 }) }),
});
const Circle = Type("Circle", { radius: field.f64() });
const Square = Type("Square", { kind: field.enum("square"), side: field.f64() });

describe("definitions that can't be", () => {
  it.each([
    ["a record of no schema", () => record({} as never), /record: the first argument must be a schema/],
    ["a record of optional values", () => record(field.u32().optional() as never), /must not be optional/],
    [
      "an unknown attribute of a record",
      () => record(field.u32(), { unique: true } as never),
      /record: unknown "unique"/,
    ],
    ["a record's bound that is no count", () => record(field.u32(), { max: -1 }), /whole numbers from 0 on, not -1/],
    [
      "min greater than a record's usual max",
      () => record(field.u32(), { min: 1001 }),
      /"min" 1001 is greater than "max" 1000/,
    ],
    [
      "a record's default with a wrong value",
      () => record(field.u32(), { default: { a: -1 } }),
      /record: "default" must be/,
    ],
    ["a bound of any JSON", () => field.json({ max: 1 } as never), /field\.json: unknown "max"/],
    ["a default that is no JSON", () => field.json({ default: (() => 1) as never }), /"default" must be a JSON value/],
    [
      "a union without a tag",
      () => oneOf("", { circle: Circle }),
      /oneOf: the first argument must be the name of a field, not ""/,
    ],
    [
      "a tag that sets the prototype",
      () => oneOf("__proto__", { circle: Circle }),
      /must be the name of a field, not "__proto__"/,
    ],
    ["a union without variants", () => oneOf("kind", {}), /oneOf: it must have at least one variant/],
    ["a union of no object", () => oneOf("kind", [Circle] as never), /the variants must be an object of Types/],
    ["a variant named __proto__", () => oneOf("kind", { ["__proto__"]: Circle }), /none may be named "__proto__"/],
    ["a variant that is no Type", () => oneOf("kind", { a: field.u32() } as never), /the variant "a" must be a Type/],
    ["a variant that is a Path", () => oneOf("kind", { a: Id } as never), /the variant "a" must be a Type/],
    ["an optional variant", () => oneOf("kind", { a: Circle.optional() } as never), /neither optional nor nullable/],
    ["a nullable variant", () => oneOf("kind", { a: Circle.nullable() } as never), /neither optional nor nullable/],
    [
      "a variant with another tag",
      () => oneOf("kind", { circle: Square }),
      /the variant "circle" declares "kind" itself, which must be field\.enum\("circle"\)/,
    ],
    [
      "a variant with more tags than its own",
      () => oneOf("kind", { a: Type("A", { kind: field.enum("a", "b") }) }),
      /must be field\.enum\("a"\)/,
    ],
    [
      "a variant whose tag is no enum",
      () => oneOf("kind", { a: Type("A", { kind: field.string() }) }),
      /must be field\.enum\("a"\)/,
    ],
    [
      "a variant whose tag may be absent",
      () => oneOf("kind", { a: Type("A", { kind: field.enum("a").optional() }) }),
      /must be field\.enum\("a"\)/,
    ],
    ["a part of no Type", () => partial(Id as never), /partial: the first argument must be a Type/],
    [
      "a part of a union",
      () => pick(oneOf("kind", { circle: Circle }) as never, []),
      /pick: the first argument must be/,
    ],
    [
      "a field that is not there",
      () => pick(User, ["nam"] as never),
      /pick User: there is no field "nam" \(known: id, /,
    ],
    ["a field to leave out that is not there", () => omit(User, ["toString"] as never), /omit User: there is no field/],
    [
      "a field for a list",
      () => pick(User, "id" as never),
      /pick User: the second argument must be a list of field names/,
    ],
    ["a name that is none", () => partial(User, "a b"), /a name must have only letters, digits/],
    ["no name", () => extend(User, undefined as never, {}), /a name must have only letters, digits/],
    ["more of no Type", () => extend({} as never, "A", {}), /extend: the first argument must be a Type/],
    [
      "more fields that are none",
      () => extend(User, "A", { a: 1 } as never),
      /extend A: the field "a" is not a schema/,
    ],
    [
      "a field more that sets the prototype",
      () => extend(User, "A", { __proto__: field.u32() } as never),
      /"__proto__"/,
    ],
    [
      "null in a path",
      () => Path("P", { a: field.u32().nullable() } as never),
      /Path P: "a" is a text and must not be null/,
    ],
    [
      "null in a query",
      () => Query("Q", { a: field.u32().nullable() } as never),
      /Query Q: "a" is a text and must not be null/,
    ],
    [
      "a null item in a query",
      () => Query("Q", { a: list(field.u32().nullable()) } as never),
      /"a" is a text and must not be null/,
    ],
    [
      "a record in a query",
      () => Query("Q", { a: record(field.u32()) } as never),
      /"a" must be a single value or a list/,
    ],
    ["any JSON in a query", () => Query("Q", { a: field.json() } as never), /"a" must be a single value or a list/],
    [
      "a union in a path",
      () => Path("P", { a: oneOf("kind", { circle: Circle }) } as never),
      /"a" must be a single value/,
    ],
    [
      "an inline path with a field that may be absent",
      () => get("/{a}", { path: { a: field.u32().optional() } } as never, (() => ok({})) as never),
      /get\("\/\{a\}"\) path: "a" is always there, it can't be optional/,
    ],
    [
      "an inline query with an object",
      () => get("/", { query: { a: Circle } } as never, (() => ok({})) as never),
      /get\("\/"\) query: "a" must be a single value or a list/,
    ],
    [
      "an inline query with what is no schema",
      () => get("/", { query: { a: field.u32(), b: 1 } } as never, (() => ok({})) as never),
      /get\("\/"\) query: the field "b" is not a schema/,
    ],
    [
      "an inline query without fields",
      () => get("/", { query: {} }, () => ok({})),
      /get\("\/"\): "query" is not a schema and has no fields/,
    ],
    [
      "an inline path without fields",
      () => get("/", { path: {} }, () => ok({})),
      /get\("\/"\): "path" is not a schema and has no fields/,
    ],
    [
      "no schema in the place of a body",
      () => get("/", { body: { a: 1 } } as never, (() => ok({})) as never),
      /get\("\/"\): "body" is not a schema/,
    ],
  ])("%s", (_what, make, message) => {
    expect(loose(make)).toThrow(message);
  });
});

it("names the variants of words that differ only in characters that a name can't have apart", () => {
  const { variants } = oneOf("kind", { "a-b": Circle, "a b": Circle, "+": Circle, "-": Circle });
  const names = Object.values(variants).map(({ name }) => name);
  expect(names).toEqual(["CircleWithKindAB", "CircleWithKindAB2", "CircleWithKind", "CircleWithKind2"]);
});

it.each<[string, () => unknown]>([
  ["list: the first argument is undefined", () => list(undefined as never)],
  ["record: the first argument is undefined", () => record(undefined as never)],
  ['Type T: the field "a" is undefined', () => Type("T", { a: undefined as never })],
  ['get("/"): "response" is undefined', () => get("/", { response: undefined } as never, (() => ok({})) as never)],
])("%s, as in a circle of imports", (message, make) => {
  expect(make).toThrow(message);
});

describe("null", () => {
  it("is a value after .nullable(), and refused after .optional() alone", () => {
    expect(field.u32()).toMatchObject({ takesNull: false });
    expect(field.u32().optional()).toMatchObject({ takesNull: false, presence: "optional" });
    for (const schema of [
      field.u32(),
      field.u32().optional(),
      field.u32({ default: 1 }),
      field.u32({ default: 1 }).optional(),
    ]) {
      expect(validate(schema, null)).toMatchObject({ issues: [{ code: "type", path: [] }] });
      expect(validate(Type("T", { a: schema }), { a: null })).toMatchObject({
        issues: [{ code: "type", path: ["a"] }],
      });
    }
    expect(field.u32().nullable()).toMatchObject({ takesNull: true, presence: "required" });
    const { nullable } = field.u32();
    for (const both of [nullable().optional(), field.u32().optional().nullable(), field.u32().nullish()]) {
      expect(both).toMatchObject({ takesNull: true, presence: "optional" });
      expect(validate(both, null)).toEqual({ value: null });
      expect(validate(both, undefined)).toEqual({ value: undefined });
    }
    expect(field.u32({ default: 1 }).nullable()).toMatchObject({ presence: "default", takesNull: true });
    expect(field.json().optional()).toMatchObject({ takesNull: true });
  });

  it("is not part of a schema that is not nullable itself", () => {
    expect(validate(field.string(), null)).toMatchObject({ issues: [{ code: "type" }] });
    expect(validate(list(field.string()).nullable(), [null])).toMatchObject({ issues: [{ path: [0] }] });
    expect(validate(field.string().nullable().nullable(), null)).toEqual({ value: null });
  });

  it("keeps what the schema is", () => {
    const schema = User.nullable();
    expect(schema).toMatchObject({ kind: "object", name: "User", fields: User.fields });
    expect(Object.isFrozen(schema)).toBe(true);
    expect(field.enum("a").nullable()).toMatchObject({ kind: "enum", values: ["a"] });
  });
});

describe("a record", () => {
  it("has no prototype, so that every key is data", () => {
    const scores = record(field.u32(), { max: 2 });
    const { value } = validate(scores, JSON.parse('{"__proto__":1,"constructor":2}')) as {
      value: Record<string, number>;
    };
    expect(Object.getPrototypeOf(value)).toBeNull();
    expect(Object.entries(value)).toEqual([
      ["__proto__", 1],
      ["constructor", 2],
    ]);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  it("says what is wrong as a list does, and nothing more than the bound of one with too many keys", () => {
    const hostile = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`k${i}`, "x"]));
    const failures = new Failures();
    record(field.u32()).parsers.json(hostile, failures);
    expect(failures.list.length).toBeLessThan(110);
    expect(validate(record(field.u32()), { ...hostile, more: 1 })).toEqual({
      issues: [{ message: "must have at most 1000 keys", path: [], code: "max" }],
    });
    expect(validate(record(field.u32(), { min: 1 }), {})).toMatchObject({
      issues: [{ message: "must have at least 1 key" }],
    });
  });

  it("gives each request its own copy of a default", () => {
    const T = Type("T", {
      counts: record(field.u32(), { default: { a: 1 } }),
      any: field.json({ default: { b: [] } }),
    });
    const parse = () => (validate(T, {}) as { value: { counts: { a?: number }; any: { b: number[] } } }).value;
    const first = parse();
    delete first.counts.a;
    first.any.b.push(1);
    expect(parse()).toEqual({ counts: { a: 1 }, any: { b: [] } });
  });

  it("is plain data", () => {
    expect(record(Circle, { docs: "By name" })).toMatchObject({
      kind: "record",
      items: Circle,
      attributes: { docs: "By name", max: 1000 },
    });
  });
});

it("takes any JSON, and of other values what is no JSON by itself is refused", () => {
  for (const value of [null, 0, "", false, [], {}, { a: [null] }]) {
    expect(validate(field.json(), value)).toEqual({ value });
  }
  for (const value of [undefined, 1n, Number.NaN, Symbol("x"), () => 1]) {
    expect(validate(field.json(), value)).toMatchObject({ issues: [{ message: "must be a JSON value" }] });
  }
});

describe("a union", () => {
  const Shape = oneOf("kind", { circle: Circle, round: Circle, square: Square });

  it("gives a Type its tag, or takes the one that it declares", () => {
    expect(Shape).toMatchObject({ kind: "union", tag: "kind", presence: "required" });
    expect(Shape.variants["square"]).toBe(Square);
    expect(Shape.variants["circle"]).toMatchObject({ name: "CircleWithKind", role: "type" });
    expect(Shape.variants["round"]).toMatchObject({ name: "CircleWithKindRound" });
    expect(Object.keys((Shape.variants["circle"] as TypeSchema).fields)).toEqual(["kind", "radius"]);
    expect(Object.isFrozen(Shape) && Object.isFrozen(Shape.variants)).toBe(true);
  });

  it("takes one Type for several tags when it declares them", () => {
    const Round = Type("Round", { kind: field.enum("circle", "ball"), radius: field.f64() });
    const Any = oneOf("kind", { circle: Round, ball: Round });
    expect(validate(Any, { kind: "ball", radius: 1 })).toEqual({ value: { kind: "ball", radius: 1 } });
  });

  it("says at its tag what is wrong with it, and of the rest what the variant says", () => {
    expect(validate(Shape, { kind: "oval" })).toEqual({
      issues: [{ message: 'must be one of "circle", "round", "square"', path: ["kind"], code: "enum" }],
    });
    expect(validate(Shape, { radius: 1 })).toEqual({
      issues: [{ message: "is required", path: ["kind"], code: "required" }],
    });
    expect(validate(Shape, { kind: "square" })).toMatchObject({ issues: [{ path: ["side"], code: "required" }] });
    expect(validate(Shape, Object.create({ kind: "circle", radius: 1 }))).toMatchObject({
      issues: [{ path: ["kind"] }],
    });
  });

  it("has tags that any object inherits", () => {
    const Odd = oneOf("constructor", { a: Circle });
    expect(validate(Odd, { radius: 1 })).toMatchObject({ issues: [{ path: ["constructor"], code: "required" }] });
    expect(validate(Odd, { constructor: "a", radius: 1 })).toEqual({ value: { constructor: "a", radius: 1 } });
  });
});

describe("Types that are made of others", () => {
  it("have names of their own, one for each shape", () => {
    expect(partial(User).name).toBe("PartialUser");
    expect(pick(User, ["created_at", "id"]).name).toBe("UserIdAndCreatedAt");
    expect(omit(User, ["id"]).name).toBe("UserWithoutId");
    expect(omit(User, ["tags", "id"]).name).toBe("UserWithoutIdAndTags");
    expect(partial(omit(User, ["id"])).name).toBe("PartialUserWithoutId");
    expect([partial(User, "A"), pick(User, ["id"], "B"), omit(User, [], "C")].map(({ name }) => name)).toEqual([
      "A",
      "B",
      "C",
    ]);
  });

  it("keep the other's fields, in its order, and leave it as it is", () => {
    expect(Object.keys(pick(User, ["tags", "id"]).fields)).toEqual(["id", "tags"]);
    expect(Object.keys(omit(User, ["tags", "id"]).fields)).toEqual(["created_at", "note", "home"]);
    expect(pick(User, ["created_at"]).fields["created_at"]).toBe(User.fields["created_at"]);
    const Admin = extend(User, "Admin", { id: field.string(), level: field.u32() });
    expect(Object.keys(Admin.fields)).toEqual([...Object.keys(User.fields), "level"]);
    expect(Admin.fields["id"]).toMatchObject({ kind: "string" });
    expect(User.fields["id"]).toMatchObject({ kind: "u32" });
  });

  it("partial drops defaults, which would overwrite what a PATCH leaves out", () => {
    const Patch = partial(User);
    expect(Patch.fields["tags"]).toMatchObject({ kind: "list", presence: "optional", attributes: { max: 3 } });
    expect(Patch.fields["tags"]?.attributes).not.toHaveProperty("default");
    expect(validate(Patch, {})).toEqual({ value: {} });
    expect(validate(Patch, { tags: ["a", "b", "c", "d"] })).toMatchObject({
      issues: [{ path: ["tags"], code: "max" }],
    });
    // Null clears a nullable field, and is refused elsewhere.
    expect(validate(Patch, { note: null })).toEqual({ value: { note: null } });
    expect(validate(Patch, { id: null })).toMatchObject({ issues: [{ path: ["id"], code: "type" }] });
    // Nested fields stay as they are.
    expect(validate(Patch, { home: { zip: "1" } })).toEqual({ value: { home: { zip: "1", floor: 0 } } });
    expect(validate(partial(Type("T", { a: field.json({ default: 1 }) })), { a: null })).toEqual({
      value: { a: null },
    });
  });
});

it("PageInfo is the Type of what pageInfo gives", () => {
  const { page } = pageInfo([{ id: 1 }, { id: 2 }], { order: "id", limit: 1, total: 2 });
  expect(validate(PageInfo, JSON.parse(JSON.stringify(page)))).toEqual({ value: page });
  expect(PageInfo).toMatchObject({ name: "PageInfo", role: "type" });
});

describe("an answer", () => {
  const answers = (response: Schema, body: unknown) => {
    const app = routes({ read: get("/", { response } as never, (() => ok(body)) as never) });
    return testApp(app).get("/");
  };

  it.each<[string, Schema, unknown]>([
    ["null of a nullable Type", Circle.nullable(), null],
    ["a Type that may be null", Circle.nullable(), { radius: 1 }],
    ["a record", record(field.u32().nullable()), { a: 1, b: null }],
    ["a variant", oneOf("kind", { circle: Circle, square: Square }), { kind: "circle", radius: 1 }],
    ["any JSON", Type("Any", { any: field.json() }), { any: { a: [null] } }],
    ["a part", partial(User), {}],
    ["a date in any JSON, which is sent as a text", Type("Any", { any: field.json() }), { any: new Date(0) }],
  ])("may be %s", async (_what, response, body) => {
    const answer = await answers(response, body);
    expect([answer.status, answer.json()]).toEqual([200, JSON.parse(JSON.stringify(body))]);
  });

  it.each<[string, Schema, unknown, string]>([
    ["null of what is not nullable", Circle, null, "# must be an object"],
    ["without what may be null", pick(User, ["note"]), {}, "#/note is required"],
    ["a record with a wrong value", record(field.u32()), { "a/b": -1 }, "#/a~1b must be a whole number"],
    ["no variant", oneOf("kind", { circle: Circle }), { kind: "oval" }, '#/kind must be one of "circle"'],
    ["without any JSON", Type("Any", { any: field.json() }), {}, "#/any is required"],
  ])("is compared with its type: %s", async (_what, response, body, where) => {
    const reported = vi.spyOn(console, "error").mockImplementation(() => {});
    const answer = await answers(response, body);
    reported.mockRestore();
    expect(answer.status).toBe(500);
    expect(answer.json()).toMatchObject({ detail: expect.stringContaining(where) });
  });
});
