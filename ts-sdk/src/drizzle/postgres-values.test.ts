import * as pg from "drizzle-orm/pg-core";
import { describe, expect, it } from "vitest";
import { castOf, decoderOf, encode, withTexts } from "./postgres-values.ts";

const bytea = pg.customType<{ data: Uint8Array }>({ dataType: () => "bytea" });
const vector = pg.customType<{ data: string }>({ dataType: () => "tsvector" });
const mood = pg.pgEnum("mood", ["ok"]);
const all = pg.pgTable("all", {
  id: pg.bigserial({ mode: "number" }),
  name: pg.varchar({ length: 5 }),
  at: pg.timestamp({ mode: "string", withTimezone: true, precision: 3 }),
  time: pg.time({ withTimezone: true }),
  clock: pg.time(),
  span: pg.interval(),
  spans: pg.interval().array().array(),
  mood: mood(),
  moods: mood().array(),
  bytes: bytea(),
  many: bytea().array(),
  words: vector(),
  json: pg.jsonb(),
  address: pg.inet(),
});

describe("the casts of parameters", () => {
  it.each([
    ["id", ""],
    ["name", ""],
    ["at", ""],
    ["clock", ""],
    ["mood", ""],
    ["moods", ""],
    ["bytes", ""],
    ["json", ""],
    ["time", "::text::time with time zone"],
    ["span", "::text::interval"],
    ["spans", "::text[]::interval[][]"],
    ["words", "::text::tsvector"],
  ] as const)("%s", (name, cast) => {
    expect(castOf(all[name])).toBe(cast);
  });
});

it.each([
  ["{}", []],
  ['{1,null,"null",""}', ["1", null, "null", ""]],
  ['{"a\\"b\\\\c","{},"}', ['a"b\\c', "{},"]],
  [
    "{{1,2},{3,null}}",
    [
      ["1", "2"],
      ["3", null],
    ],
  ],
  ['{"unfinished', ["unfinished"]],
])("reads the array %s", (literal, list) => {
  expect(encode(literal, all.moods)).toEqual(list);
});

it("leaves other parameters as they are", () => {
  expect(encode("{1}", all.name)).toBe("{1}");
  expect(encode(null, all.moods)).toBe(null);
  expect(encode(["a"], all.moods)).toEqual(["a"]);
});

it("converts the values of columns", () => {
  expect(decoderOf(all.at)?.("2026-03-01T10:00:00.500Z")).toBe("2026-03-01 10:00:00.500+00");
  expect(decoderOf(all.bytes)?.("AP8=")).toEqual(new Uint8Array([0, 255]));
  expect(decoderOf(all.many)?.(["AA==", null])).toEqual([new Uint8Array([0]), null]);
  expect(decoderOf(all.json)?.("5")).toBe('"5"');
  expect(decoderOf(all.json)?.({ a: 1 })).toEqual({ a: 1 });
  const addresses = ["10.0.0.1/32", "10.0.0.0/8", "::1/128", "::/32"];
  expect(addresses.map((each) => decoderOf(all.address)?.(each))).toEqual(["10.0.0.1", "10.0.0.0/8", "::1", "::/32"]);
  expect(decoderOf(all.name)).toBeUndefined();
});

it("selects the texts of the other columns", () => {
  const fields = (...names: (keyof typeof all.$inferSelect)[]) =>
    names.map((name) => ({ path: [name], field: all[name] }));
  expect(withTexts("select a, b", fields("id", "bytes"))).toBe("select a, b");
  expect(withTexts("select a, b", fields("id", "spans"))).toBe(
    'select "1", "2"::text[] from (select a, b) as "_" ("1", "2")',
  );
  expect(withTexts("insert … returning a", fields("words"), "insert")).toBe(
    'with "_" ("1") as (insert … returning a) select "1"::text from "_"',
  );
});
