import { describe, expect, it } from "vitest";
import { FilterError, type FilterErrorCode, parseFilter } from "./index.ts";
import { MAX_FILTER_NESTING, MAX_FILTER_TEXT, MAX_PARSED_LIST } from "./limits.ts";

const refused = (code: FilterErrorCode) => expect.objectContaining({ name: "FilterError", code });

describe("parseFilter", () => {
  it.each([
    {},
    { name: "x", age: { $gte: 18, $lt: 65 } },
    { $or: [{ a: 1 }, { $not: { $and: [{ b: null }] } }], c: { $in: [1, "2", true, null] } },
    { a: { $between: [1, 2] }, b: { $nin: [] }, c: { $regex: "^x" }, "t.d": { $like: "\\" } },
    { a: '"{[,]}\\"', "u.b": "\u0000" },
  ])("reads %j", (filter) => {
    expect(parseFilter(JSON.stringify(filter))).toEqual(filter);
    expect(parseFilter(JSON.stringify(filter, null, 2))).toEqual(filter);
  });

  it.each<[string, FilterErrorCode]>([
    ["", "json"],
    ["{", "json"],
    ["{'a':1}", "json"],
    ['{"a":1,}', "json"],
    ['{"a":NaN}', "json"],
    ['\ufeff{"a":1}', "json"],
    ['{"a":1} {"b":2}', "json"],
    ['{"a":1,"a":2}', "json"],
    ['{"a":1,"\\u0061":2}', "json"],
    ['{"a":{"$gt":1,"$gt":2}}', "json"],
    ['{"$or":[{"b":1}],"a":[],"$or":[{"c":1}]}', "json"],
    ['{"a":"\\x"}', "json"],
    ['{"\\x":1}', "json"],
    ["null", "shape"],
    ["[]", "shape"],
    ["1", "shape"],
    ['"x"', "shape"],
    ['{"a":{}}', "shape"],
    ['{"$and":[]}', "shape"],
    ['{"$or":[{}]}', "shape"],
    ['{"a b":1}', "field"],
    ['{"":1}', "field"],
    ['{"a.b.c":1}', "field"],
    ['{"a;--":1}', "field"],
    ['{"$where":1}', "operator"],
    ['{"a":{"$x":1}}', "operator"],
    ['{"a":{"b":1}}', "operator"],
    ['{"__proto__":{"a":1}}', "operator"],
    ['{"a":[1]}', "value"],
    ['{"a":{"$in":1}}', "value"],
    ['{"a":1e999}', "value"],
  ])("refuses %s", (text, code) => {
    expect(() => parseFilter(text)).toThrow(refused(code));
  });

  it.each([
    ['{"$not":[]}', "$not"],
    ['{"$not":{}}', "$not"],
    ['{"$or":[{}]}', "$or"],
    ['{"$or":[{"$and":[5]}]}', "$and"],
  ])("names the operator at fault in %s", (text, operator) => {
    expect(() => parseFilter(text)).toThrow(
      expect.objectContaining({
        name: "FilterError",
        code: "shape",
        operator,
        message: expect.stringContaining(operator),
      }),
    );
  });

  it("leaves nothing behind of __proto__", () => {
    const filter = parseFilter('{"__proto__": 1, "a": {"$eq": 1}}');
    expect(Object.keys(filter)).toEqual(["__proto__", "a"]);
    expect(Object.getPrototypeOf({})).toBe(Object.prototype);
  });

  it("takes strings only", () => {
    for (const text of [undefined, null, 1, {}, [], new String("{}")]) {
      expect(() => parseFilter(text as never)).toThrow(refused("json"));
    }
  });

  it("refuses what is too long, too deep or too wide, at its bounds", () => {
    const list = (length: number) => JSON.stringify({ a: { $in: new Array(length).fill(1) } });
    expect(parseFilter(list(MAX_PARSED_LIST))).toBeDefined();
    expect(() => parseFilter(list(MAX_PARSED_LIST + 1))).toThrow(refused("list"));
    const pad = (length: number) => `{"a":"${"x".repeat(length - 8)}"}`;
    expect(parseFilter(pad(MAX_FILTER_TEXT))).toBeDefined();
    expect(() => parseFilter(pad(MAX_FILTER_TEXT + 1))).toThrow(refused("size"));
    const deep = (levels: number) => `${'{"$not":'.repeat(levels - 1)}{"a":1}${"}".repeat(levels - 1)}`;
    expect(() => parseFilter(deep(MAX_FILTER_NESTING + 1))).toThrow(refused("size"));
    expect(() => parseFilter(deep(MAX_FILTER_NESTING))).toThrow(refused("depth"));
    expect(parseFilter(deep(101))).toBeDefined();
  });

  it.each([
    ["20,000 nested lists", "[".repeat(20_000)],
    ["20,000 nested parentheses", "(".repeat(20_000)],
    ["20,000 nested filters", `${'{"$not":'.repeat(20_000)}{"a":1}${"}".repeat(20_000)}`],
    ["a megabyte of text", `{"a":"${"x".repeat(1_000_000)}"}`],
    ["100,000 elements", JSON.stringify({ a: { $in: new Array(100_000).fill(1) } })],
    ["100,000 conditions", `{${Array.from({ length: 15_000 }, (_, i) => `"a${i}":{"$x":1}`).join()}}`],
    ["a long run of backslashes", `{"a":"${"\\".repeat(200_001)}"}`],
    ["quotes without end", '"'.repeat(200_001)],
    ["repeated long keys", `{"${"k".repeat(100_000)}":1,"${"k".repeat(100_000)}":1}`],
  ])("refuses %s at once", (_, text) => {
    expect(() => parseFilter(text)).toThrow(FilterError);
  });
});
