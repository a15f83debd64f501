import { describe, expect, it } from "vitest";
import { field, Type } from "../index.ts";
import {
  Cursor,
  type Dialect,
  type Filter,
  type FilterErrorCode,
  parseFilter,
  postgres,
  type ReadOptions,
  sqlite,
  sqlRead,
  table,
} from "./index.ts";
import { DEFAULT_MAX_CONDITIONS, DEFAULT_MAX_DEPTH, DEFAULT_MAX_LIST } from "./limits.ts";

const read = (merge: unknown, rules: ReadOptions = {}) => sqlRead("t", { ...rules, merge: merge as never });
const refused = (code: FilterErrorCode, field?: string, operator?: string) =>
  expect.objectContaining({ name: "FilterError", code, field, operator });

/** `levels` of `$not` around one condition. */
const nested = (levels: number): object => (levels === 0 ? { a: 1 } : { $not: nested(levels - 1) });

describe("allow", () => {
  it("refuses every field when it is missing or empty", () => {
    expect(() => read({ a: 1 })).toThrow(refused("field", "a"));
    expect(() => read({ a: 1 }, { allow: [] })).toThrow(refused("field", "a"));
    expect(() => read({ a: 1 }, { allow: {} })).toThrow(refused("field", "a"));
    expect(read({})).toEqual(["SELECT * FROM t", []]);
    expect(read(undefined)).toEqual(["SELECT * FROM t", []]);
  });

  it("names fields, at every depth", () => {
    const allow = ["a", "u.b"];
    expect(read({ a: 1, $or: [{ $not: { "u.b": 2 } }] }, { allow })[1]).toEqual([1, 2]);
    for (const field of ["c", "A", "b", "a ", "__proto__", "constructor", "toString", "length", "0"]) {
      expect(() => read(JSON.parse(`{"$not":{"$and":[{"a":1},{"${field}":1}]}}`), { allow })).toThrow(
        refused("field", field),
      );
    }
  });

  it("names operators by field", () => {
    const allow = { age: ["$gte", "$lt"], name: ["$eq"] } as const;
    expect(read({ age: { $gte: 1, $lt: 2 }, name: "x" }, { allow })[1]).toEqual([1, 2, "x"]);
    expect(read({ name: null }, { allow })[1]).toEqual([]);
    expect(() => read({ age: 1 }, { allow })).toThrow(refused("operator", "age", "$eq"));
    expect(() => read({ name: { $starts_with: "a" } }, { allow })).toThrow(refused("operator", "name", "$starts_with"));
    expect(() => read({ name: { $in: ["a"] } }, { allow })).toThrow(refused("operator", "name", "$in"));
    for (const field of ["toString", "__proto__", "constructor"]) {
      expect(() => read(JSON.parse(`{"${field}":1}`), { allow })).toThrow(refused("field", field));
    }
  });

  it("refuses rules that are wrong themselves", () => {
    const wrong = (option: string) => expect.objectContaining({ name: "SqlError", code: "option", field: option });
    expect(() => read({}, { allow: "a" as never })).toThrow(wrong("allow"));
    expect(() => read({}, { allow: { a: ["$gtee"] } as never })).toThrow(wrong("allow"));
    expect(() => read({}, { denyOps: ["$lik"] as never })).toThrow(wrong("denyOps"));
    expect(() => read({}, { denyOps: "$like" as never })).toThrow(wrong("denyOps"));
    expect(() => read({}, { allowOps: ["$eq"] as never })).toThrow(wrong("allowOps"));
    for (const bound of [-1, 1.5, Number.NaN, "5", null, 1e9]) {
      expect(() => read({}, { maxDepth: bound as never })).toThrow(wrong("maxDepth"));
      expect(() => read({}, { maxConditions: bound as never })).toThrow(wrong("maxConditions"));
      expect(() => read({}, { maxList: bound as never })).toThrow(wrong("maxList"));
    }
  });
});

describe("operators", () => {
  const allow = ["a"];

  it("denies those that denyOps names, logical ones too", () => {
    expect(() => read({ a: { $like: "x" } }, { allow, denyOps: ["$like"] })).toThrow(refused("operator", "a", "$like"));
    expect(() => read({ a: 1 }, { allow, denyOps: ["$eq"] })).toThrow(refused("operator", "a", "$eq"));
    expect(() => read({ $or: [{ a: 1 }] }, { allow, denyOps: ["$or"] })).toThrow(refused("operator", undefined, "$or"));
  });

  it("has $regex off until allowOps names it", () => {
    const merge = { a: { $regex: "^x" } };
    expect(() => read(merge, { allow })).toThrow(refused("operator", "a", "$regex"));
    expect(() => read(merge, { allow: { a: ["$regex"] } })).toThrow(refused("operator", "a", "$regex"));
    expect(read(merge, { allow, allowOps: ["$regex"] })).toEqual(["SELECT * FROM t WHERE a ~ $1", ["^x"]]);
    expect(() => read(merge, { allow, allowOps: ["$regex"], denyOps: ["$regex"] })).toThrow(
      refused("operator", "a", "$regex"),
    );
    expect(() => sqlRead(sqlite, "t", { merge, allow, allowOps: ["$regex"] })).toThrow(
      refused("operator", "a", "$regex"),
    );
  });

  it("refuses those it does not know", () => {
    for (const operator of ["$where", "$gtt", "$", "$__proto__", "$constructor", "$nor", "$EQ"]) {
      expect(() => read({ a: { [operator]: 1 } }, { allow })).toThrow(refused("operator", "a", operator));
      expect(() => read({ [operator]: [{ a: 1 }] }, { allow })).toThrow(refused("operator", undefined, operator));
    }
    for (const operator of ["toString", "constructor", "b", "eq"]) {
      expect(() => read({ a: { [operator]: 1 } }, { allow })).toThrow(refused("operator", "a", operator));
    }
    expect(() => read({ $gt: 1 }, { allow })).toThrow(refused("operator", undefined, "$gt"));
  });
});

describe("bounds", () => {
  const allow = ["a"];

  it("counts each $and, $or and $not as a level of depth", () => {
    expect(read(nested(DEFAULT_MAX_DEPTH), { allow })[1]).toEqual([1]);
    expect(() => read(nested(DEFAULT_MAX_DEPTH + 1), { allow })).toThrow(refused("depth", undefined, "$not"));
    expect(() => read({ $and: [{ $or: [{ a: 1 }] }] }, { allow, maxDepth: 1 })).toThrow(
      refused("depth", undefined, "$or"),
    );
    expect(read({ $and: [{ a: 1 }], $or: [{ a: 1 }] }, { allow, maxDepth: 1 })[1]).toEqual([1, 1]);
    expect(() => read({ $and: [{ a: 1 }] }, { allow, maxDepth: 0 })).toThrow(refused("depth", undefined, "$and"));
    expect(read({ a: 1 }, { allow, maxDepth: 0 })[1]).toEqual([1]);
  });

  it("counts each operator of each field as a condition", () => {
    const $or = Array.from({ length: DEFAULT_MAX_CONDITIONS }, () => ({ a: 1 }));
    expect(read({ $or }, { allow })[1]).toHaveLength(DEFAULT_MAX_CONDITIONS);
    expect(() => read({ $or: [...$or, { a: 1 }] }, { allow })).toThrow(refused("conditions", "a"));
    expect(() => read({ a: { $gt: 1, $lt: 2, $ne: 3 } }, { allow, maxConditions: 2 })).toThrow(
      refused("conditions", "a"),
    );
  });

  it("counts the elements of a list", () => {
    const $in = Array.from({ length: DEFAULT_MAX_LIST }, (_, i) => i);
    expect(read({ a: { $in } }, { allow })[1]).toHaveLength(DEFAULT_MAX_LIST);
    expect(() => read({ a: { $nin: [...$in, 0] } }, { allow })).toThrow(refused("list", "a", "$nin"));
    expect(() => read({ a: { $in: [1, 2] } }, { allow, maxList: 1 })).toThrow(refused("list", "a", "$in"));
  });

  it("leaves the parameters that the database takes to the rest first", () => {
    const full = (conditions: number) => ({
      $and: Array.from({ length: conditions }, () => ({ a: { $in: new Array(1_000).fill(1) } })),
    });
    const on = (dialect: Dialect, options: ReadOptions) => sqlRead(dialect, "t", { allow: ["a", "b"], ...options });
    const alone = { merge: full(33) };
    expect(() => on(sqlite, alone)).toThrow(refused("params", "a", "$in"));
    expect(on(postgres, alone)[1]).toHaveLength(33_000);
    expect(() => on(sqlite, { merge: parseFilter(JSON.stringify(alone.merge)) })).toThrow(
      "sqlite accepts at most 32766 parameters",
    );

    // 32,766 parameters: 32,000 in the lists, none for NULL, one for the cursor's id.
    const after = new Cursor().null("c").int("id", 7).encode();
    const rest = { order: ["c", "id"], after, filter: { $or: [{ x: { $in: [1, null] } }, { y: null, z: 2 }] } };
    const $in = [...new Array(763 - 2).fill(1), null];
    const filling: Filter = { ...full(32), b: { $in, $between: [1, 2], $ne: null } };
    expect(on(sqlite, { ...rest, merge: filling })[1]).toHaveLength(32_766);
    expect(() => on(sqlite, { ...rest, merge: { ...filling, $not: { b: { $gt: 1 } } } })).toThrow(
      refused("params", "b", "$gt"),
    );
    expect(on(sqlite, { merge: { ...filling, $not: { b: { $gt: 1 } } } })[1]).toHaveLength(32_764);

    // The trusted filter's own excess is not the user's mistake.
    const filter = { x: { $in: new Array(32_767).fill(1) } };
    const tooMany = expect.objectContaining({ name: "SqlError", code: "params" });
    expect(() => on(sqlite, { filter, merge: { a: 1 } })).toThrow(tooMany);
    expect(() => on(sqlite, { filter })).toThrow(tooMany);
  });

  it("ends at a hundred levels for trusted filters too, cyclic ones among them", () => {
    const cyclic: Record<string, unknown> = {};
    Object.assign(cyclic, { $not: cyclic });
    expect(() => sqlRead("t", { filter: cyclic as never })).toThrow(refused("depth", undefined, "$not"));
    expect(sqlRead("t", { filter: nested(100) as never })[1]).toEqual([1]);
  });
});

describe("values", () => {
  const allow = ["a"];

  it.each<[string, unknown, string]>([
    ["a list for a value", { a: [1] }, "$eq"],
    ["a value for a list", { a: { $in: 1 } }, "$in"],
    ["an object in a list", { a: { $in: [{}] } }, "$in"],
    ["a list in a list", { a: { $in: [[1]] } }, "$in"],
    ["null compared", { a: { $gt: null } }, "$gt"],
    ["null in $between", { a: { $between: [1, null] } }, "$between"],
    ["one in $between", { a: { $between: [1] } }, "$between"],
    ["three in $between", { a: { $between: [1, 2, 3] } }, "$between"],
    ["a number as a pattern", { a: { $like: 1 } }, "$like"],
    ["null as a text", { a: { $contains: null } }, "$contains"],
    ["an object as an operand", { a: { $eq: { $eq: 1 } } }, "$eq"],
    ["a Date", { a: new Date(0) }, "$eq"],
    ["NaN", { a: Number.NaN }, "$eq"],
    ["an inexact integer", { a: 2 ** 53 }, "$eq"],
    ["half a surrogate pair", { a: "x\ud800" }, "$eq"],
    ["U+0000, which PostgreSQL refuses", { a: { $in: ["x\0"] } }, "$in"],
    ["a pattern PostgreSQL fails on", { a: { $like: "x\\" } }, "$like"],
    ["another one", { a: { $ilike: "\\\\\\" } }, "$ilike"],
  ])("refuses %s", (_, merge, operator) => {
    expect(() => read(merge, { allow })).toThrow(refused("value", "a", operator));
  });

  it("takes what the dialect takes", () => {
    expect(sqlRead(sqlite, "t", { merge: { a: "x\0" }, allow })[1]).toEqual(["x\0"]);
    expect(() => sqlRead(sqlite, "t", { merge: { a: { $contains: "x\0y" } }, allow })).toThrow(
      refused("value", "a", "$contains"),
    );
    expect(sqlRead(sqlite, "t", { merge: { a: { $like: "x\\" } }, allow })[1]).toEqual(["x\\"]);
    expect(read({ a: { $like: "x\\\\" } }, { allow })[1]).toEqual(["x\\\\"]);
    expect(read({ a: "\u{1f600}" }, { allow })[1]).toEqual(["\u{1f600}"]);
    const Measured = table(Type("Measured", { a: field.f64() }));
    expect(sqlRead(Measured, { merge: { a: { $lt: 1e300 } }, allow: ["a"] })[1]).toEqual([1e300]);
  });

  it("bounds a pattern by its bytes where the database does", () => {
    const on = (operator: string, text: string) => sqlRead(sqlite, "t", { merge: { a: { [operator]: text } }, allow });
    // A backslash precedes each `_`.
    expect(on("$starts_with", "é".repeat(20_000) + "_".repeat(4_999))[1]).toHaveLength(1);
    expect(() => on("$starts_with", "é".repeat(20_000) + "_".repeat(5_000))).toThrow(
      refused("value", "a", "$starts_with"),
    );
    expect(on("$like", "x".repeat(50_000))[1]).toHaveLength(1);
    expect(() => on("$ilike", "x".repeat(50_001))).toThrow("is longer than 50000 bytes");
    expect(read({ a: { $like: "x".repeat(60_000) } }, { allow })[1]).toHaveLength(1);
  });

  it("bounds conditions by what the database nests", () => {
    const many = { $or: Array.from({ length: 901 }, () => ({ a: 1 })) };
    expect(read(many, { allow, maxConditions: 901 })[1]).toHaveLength(901);
    expect(() => sqlRead(sqlite, "t", { merge: many, allow, maxConditions: 901 })).toThrow("from 0 to 900");
  });

  it("refuses undefined anywhere", () => {
    for (const filter of [
      { a: undefined },
      { a: { $eq: undefined } },
      { a: { $in: [1, undefined] } },
      { a: { $in: new Array(1) } },
      { a: { $between: [1, undefined] } },
      { $and: undefined },
      { $and: [undefined] },
      { $or: new Array(1) },
      { $not: undefined },
      { $not: { a: undefined } },
    ]) {
      const undefinedError = expect.objectContaining({ name: "FilterError", code: "undefined" });
      expect(() => read(filter, { allow })).toThrow(undefinedError);
      expect(() => sqlRead("t", { filter: filter as never })).toThrow(undefinedError);
    }
  });

  it("refuses what is no filter", () => {
    for (const filter of [null, 1, "x", true, [], [{ a: 1 }], new Map([["a", 1]]), new Date(0), () => ({})]) {
      expect(() => read(filter, { allow })).toThrow(refused("shape"));
    }
    for (const operand of [{}, "x", 1, null]) {
      expect(() => read({ $or: operand }, { allow })).toThrow(refused("value", undefined, "$or"));
    }
  });

  it("names the operator that an empty filter, or none, stands in", () => {
    for (const inner of [{}, 5, null, [], "x"]) {
      for (const operator of ["$and", "$or"]) {
        expect(() => read({ [operator]: [{ a: 1 }, inner] }, { allow })).toThrow(refused("shape", undefined, operator));
      }
      expect(() => read({ $or: [{ $not: inner }] }, { allow })).toThrow(refused("shape", undefined, "$not"));
    }
    expect(() => read({ $or: [undefined] }, { allow })).toThrow(refused("undefined", undefined, "$or"));
  });

  it("never repeats a value, and cuts names short", () => {
    const secret = "s3cret";
    for (const merge of [
      { a: [secret] },
      { a: { $gt: [secret] } },
      { a: { $like: `${secret}\\` } },
      { a: { $between: [secret] } },
    ]) {
      expect(() => read(merge, { allow })).toThrow(
        expect.not.objectContaining({ message: expect.stringContaining(secret) }),
      );
    }
    expect(() => parseFilter(`{"a": ${secret}`)).toThrow(expect.objectContaining({ message: "the text is not JSON" }));
    const long = "x".repeat(1_000_000);
    expect(() => read({ [long]: 1 }, { allow })).toThrow(refused("field", `${"x".repeat(64)}…`));
    expect(() => read({ "a\r\nb": 1 }, { allow })).toThrow(
      expect.objectContaining({ message: '"a\\r\\nb": is not allowed' }),
    );
  });
});
