import { describe, expect, it } from "vitest";
import { all, ids, postgres, sqlCount, sqlCreate, sqlDelete, sqlite, sqlRead, sqlUpdate } from "./index.ts";

const error = (name: string, code: string, field?: string) =>
  expect.objectContaining(field === undefined ? { name, code } : { name, code, field });

describe("sqlCreate", () => {
  it("writes NULLs as parameters and a row of defaults without columns", () => {
    expect(sqlCreate("t", { a: null, b: 2n })).toEqual(["INSERT INTO t (a, b) VALUES ($1, $2)", [null, 2n]]);
    expect(sqlCreate(sqlite, "t", { returning: ["id"] })).toEqual(["INSERT INTO t DEFAULT VALUES RETURNING id", []]);
  });

  it("refuses what is no value, and a returning that is no list of columns", () => {
    for (const value of [undefined, {}, [], new Date(), Number.NaN, Symbol("x"), () => 1]) {
      expect(() => sqlCreate("t", { a: value as never })).toThrow(error("SqlError", "value", "a"));
    }
    for (const returning of [undefined, "id", [], [1]]) {
      expect(() => sqlCreate("t", { a: 1, returning: returning as never })).toThrow(
        error("SqlError", "option", "returning"),
      );
    }
    expect(() => sqlCreate("t", { "a, b": 1 })).toThrow(error("SqlError", "identifier"));
    expect(() => sqlCreate("t", { a: 1, returning: ["*"] })).toThrow(error("SqlError", "identifier"));
  });
});

describe("sqlCreate of many rows", () => {
  it("writes the rows in their order, with the columns of the first", () => {
    expect(sqlCreate("t", [{ a: 1, b: "x" }])).toEqual(["INSERT INTO t (a, b) VALUES ($1, $2)", [1, "x"]]);
    expect(
      sqlCreate(
        sqlite,
        "t",
        [
          { a: 1, order: null },
          { order: true, a: 2n },
        ],
        { returning: ["id"] },
      ),
    ).toEqual(['INSERT INTO t (a, "order") VALUES (?1, ?2), (?3, ?4) RETURNING id', [1, null, 2n, true]]);
    // With a list of rows, keys named like options are columns.
    expect(sqlCreate("t", [{ returning: 1, onConflict: 2 }])[0]).toBe(
      'INSERT INTO t ("returning", onConflict) VALUES ($1, $2)',
    );
  });

  it("refuses rows that differ, or are none", () => {
    const rows =
      (...given: unknown[]) =>
      () =>
        sqlCreate("t", given as never);
    expect(rows()).toThrow(error("SqlError", "option", "rows"));
    expect(rows({})).toThrow(error("SqlError", "option", "rows"));
    expect(rows({ a: 1 }, {})).toThrow(error("SqlError", "value", "a"));
    expect(rows({ a: 1 }, { b: 1 })).toThrow(error("SqlError", "value", "a"));
    expect(rows({ a: 1 }, { a: 1, b: 1 })).toThrow(error("SqlError", "value", "b"));
    expect(rows({ a: 1, b: 1 }, { a: 1 })).toThrow(error("SqlError", "value", "b"));
    expect(rows({ a: 1 }, { a: undefined })).toThrow(error("SqlError", "value", "a"));
    expect(rows({ a: 1 }, Object.create({ a: 1 }))).toThrow(error("SqlError", "option", "rows"));
    expect(rows({ constructor: 1 }, {})).toThrow(error("SqlError", "value", "constructor"));
    for (const row of [null, undefined, 1, "a", [1], new Date()]) {
      expect(rows(row)).toThrow(error("SqlError", "option", "rows"));
      expect(rows({ a: 1 }, row)).toThrow(error("SqlError", "option", "rows"));
    }
    // A hole in a list is not a row.
    const holed = [{ a: 1 }];
    holed[2] = { a: 2 };
    expect(rows(...holed)).toThrow(error("SqlError", "option", "rows"));
    expect(() => sqlCreate("t", holed)).toThrow(error("SqlError", "option", "rows"));
  });

  it("refuses more values than the database takes, before it reads them", () => {
    const read = new Proxy({ a: 1 }, { get: () => expect.unreachable("it was read") });
    const rows = Array.from({ length: 32_767 }, () => read);
    expect(() => sqlCreate(sqlite, "t", rows)).toThrow(error("SqlError", "params"));
    expect(
      sqlCreate(
        sqlite,
        "t",
        Array.from({ length: 32_766 }, () => ({ a: 1 })),
      )[1],
    ).toHaveLength(32_766);
    const full = Array.from({ length: 32_766 }, () => ({ a: 1 }));
    expect(() => sqlCreate(sqlite, "t", full, { onConflict: { columns: ["a"], set: { b: 1 } } })).toThrow(
      error("SqlError", "params"),
    );
  });

  it("refuses other options", () => {
    expect(() => sqlCreate("t", [{ a: 1 }], { filter: all } as never)).toThrow(error("SqlError", "option", "filter"));
    expect(() => sqlCreate("t", [{ a: 1 }], { returning: [] })).toThrow(error("SqlError", "option", "returning"));
    expect(() => sqlCreate("t", [{ a: 1 }], null as never)).toThrow(error("SqlError", "option"));
  });

  it("takes options behind a single row as behind a list of one", () => {
    const options = { returning: ["id"], onConflict: { columns: ["a"], nothing: true } } as const;
    expect(sqlCreate("t", { a: 1 }, options)).toEqual(sqlCreate("t", [{ a: 1 }], options));
    expect(sqlCreate(sqlite, "t", { a: 1, returning: 2 } as never, {})).toEqual([
      'INSERT INTO t (a, "returning") VALUES (?1, ?2)',
      [1, 2],
    ]);
    // Keys beside the columns are columns then, and their values invalid.
    expect(() => sqlCreate("t", { a: 1, returning: ["id"] }, {})).toThrow(error("SqlError", "value", "returning"));
  });
});

describe("onConflict", () => {
  const row = { email: "a", name: "b", age: 7 };

  it("sets what it is told, after the values of the rows", () => {
    const onConflict = { columns: ["email"], set: { name: "c", age: null } };
    expect(sqlCreate("t", { ...row, onConflict, returning: ["id"] })).toEqual([
      "INSERT INTO t (email, name, age) VALUES ($1, $2, $3) ON CONFLICT (email) DO UPDATE SET name = $4, age = $5 RETURNING id",
      ["a", "b", 7, "c", null],
    ]);
    expect(sqlCreate(sqlite, "t", [row, row], { onConflict })[1]).toEqual(["a", "b", 7, "a", "b", 7, "c", null]);
  });

  it("takes what was to be inserted, in every column but the conflict's", () => {
    expect(sqlCreate("t", { ...row, onConflict: { columns: ["email"], set: "excluded" } })[0]).toBe(
      "INSERT INTO t (email, name, age) VALUES ($1, $2, $3) ON CONFLICT (email) DO UPDATE SET name = excluded.name, age = excluded.age",
    );
    expect(sqlCreate(sqlite, "t", [{ id: 1, order: 2 }], { onConflict: { columns: ["id"], set: "excluded" } })[0]).toBe(
      'INSERT INTO t (id, "order") VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET "order" = excluded."order"',
    );
  });

  it("leaves the row that is there", () => {
    expect(sqlCreate("t", { ...row, onConflict: { columns: ["email", "age"], nothing: true } })[0]).toMatch(
      / ON CONFLICT \(email, age\) DO NOTHING$/,
    );
    expect(sqlCreate("t", [row], { onConflict: { nothing: true } })[0]).toMatch(
      / \(\$1, \$2, \$3\) ON CONFLICT DO NOTHING$/,
    );
  });

  it.each<[string, unknown, string]>([
    ["what is no object", "nothing", "onConflict"],
    ["a list", [], "onConflict"],
    ["undefined", undefined, "onConflict"],
    ["neither set nor nothing", { columns: ["email"] }, "onConflict"],
    ["both", { columns: ["email"], set: { name: "c" }, nothing: true }, "onConflict"],
    ["nothing that is not true", { columns: ["email"], nothing: false }, "nothing"],
    ["set without columns", { set: { name: "c" } }, "columns"],
    ["no columns", { columns: [], nothing: true }, "columns"],
    ["columns that are none", { columns: "email", nothing: true }, "columns"],
    ["an empty set", { columns: ["email"], set: {} }, "set"],
    ["a set of another word", { columns: ["email"], set: "EXCLUDED" }, "set"],
    ["an undefined set", { columns: ["email"], set: undefined }, "set"],
    ["a set that leaves nothing", { columns: ["email", "name", "age"], set: "excluded" }, "set"],
    ["another option", { columns: ["email"], set: { name: "c" }, where: {} }, "where"],
  ])("refuses %s", (_what, onConflict, field) => {
    expect(() => sqlCreate("t", { ...row, onConflict } as never)).toThrow(error("SqlError", "option", field));
  });

  it("refuses what is no value, no name, and no row to conflict", () => {
    const create = (onConflict: object) => () => sqlCreate("t", { ...row, onConflict } as never);
    expect(create({ columns: ["email"], set: { name: undefined } })).toThrow(error("SqlError", "value", "name"));
    expect(create({ columns: ["email"], set: { name: {} } })).toThrow(error("SqlError", "value", "name"));
    expect(create({ columns: ["email"], set: { "a = 1, b": 1 } })).toThrow(error("SqlError", "identifier"));
    expect(create({ columns: ["email) DO NOTHING --"], nothing: true })).toThrow(error("SqlError", "identifier"));
    expect(() => sqlCreate("t", { "t.a": 1, b: 2, onConflict: { columns: ["b"], set: "excluded" } })).toThrow(
      error("SqlError", "identifier"),
    );
    expect(() => sqlCreate("t", { onConflict: { nothing: true } })).toThrow(error("SqlError", "option", "onConflict"));
  });
});

it("onConflict takes the table's own columns, which have no dot", () => {
  for (const rest of [{ nothing: true }, { set: { a: 1 } }, { set: "excluded" }] as const) {
    const conflict = { columns: ["t.a"], ...rest } as never;
    expect(() => sqlCreate("t", [{ a: 1, b: 2 }], { onConflict: conflict })).toThrow(
      error("SqlError", "identifier", "t.a"),
    );
  }
});

describe("sqlCount", () => {
  it("counts what a read with the same filters gives", () => {
    expect(sqlCount("t")).toEqual(["SELECT COUNT(*) AS count FROM t", []]);
    expect(sqlCount("t", { filter: all })[0]).toBe("SELECT COUNT(*) AS count FROM t");
    expect(sqlCount("t", { filter: {} })[0]).toBe("SELECT COUNT(*) AS count FROM t");
    const given = { filter: { tenant: 7 }, merge: { $or: [{ a: 1 }, { a: { $in: [2, 3] } }] }, allow: ["a"] } as const;
    for (const dialect of [postgres, sqlite]) {
      const [sql, params] = sqlCount(dialect, "order", given as never);
      const [read, values] = sqlRead(dialect, "order", given as never);
      expect([sql, params]).toEqual([read.replace("*", "COUNT(*) AS count"), values]);
    }
  });

  it("refuses what a read refuses, and what has no meaning for a number", () => {
    expect(() => sqlCount("t", { merge: { a: 1 } })).toThrow(error("FilterError", "field", "a"));
    expect(() => sqlCount("t", { merge: { a: { $in: [1, 2, 3] } }, allow: ["a"], maxList: 2 })).toThrow(
      error("FilterError", "list", "a"),
    );
    expect(() => sqlCount("t", { filter: undefined } as never)).toThrow(error("FilterError", "undefined"));
    expect(() => sqlCount("a b")).toThrow(error("SqlError", "identifier"));
    for (const option of ["limit", "page", "order", "select", "after", "returning", "filtre"]) {
      expect(() => sqlCount("t", { [option]: 1 } as never)).toThrow(error("SqlError", "option", option));
    }
  });
});

describe.each([
  [
    "sqlUpdate",
    (options: object) => sqlUpdate("t", { set: { a: 1 }, ...options } as never),
    "UPDATE t SET a = $1",
    [1],
  ],
  ["sqlDelete", (options: object) => sqlDelete("t", options as never), "DELETE FROM t", []],
] as const)("%s", (_, build, sql, params) => {
  it("refuses to go without a filter", () => {
    const refused = error("SqlError", "filter", "filter");
    expect(() => build({})).toThrow(refused);
    expect(() => build({ filter: undefined })).toThrow(refused);
    expect(() => build({ filter: {} })).toThrow(refused);
    expect(() => build({ filter: Object.create(null) })).toThrow(refused);
    expect(() => build({ filter: Object.create({ id: 1 }) })).toThrow(error("FilterError", "shape"));
    for (const filter of [null, "all", true, [], [{ id: 1 }], Symbol("tenon.sql.all")]) {
      expect(() => build({ filter })).toThrow(error("FilterError", "shape"));
    }
    for (const filter of [
      { $and: [] },
      { $and: [{}] },
      { $or: [] },
      { $not: {} },
      { $or: [{ a: 1 }, {}] },
      { a: {} },
    ]) {
      expect(() => build({ filter })).toThrow(error("FilterError", "shape"));
    }
  });

  it("takes every row when told so", () => {
    expect(build({ filter: all })).toEqual([sql, params]);
  });

  it("gives columns back", () => {
    expect(build({ filter: { id: 7 }, returning: ["id"] })[0]).toMatch(/ WHERE id = \$\d RETURNING id$/);
  });

  it("refuses other options", () => {
    expect(() => build({ filter: all, limit: 1 })).toThrow(error("SqlError", "option", "limit"));
  });
});

describe("sqlUpdate", () => {
  it("refuses an empty set", () => {
    for (const set of [undefined, null, {}, []]) {
      expect(() => sqlUpdate("t", { set, filter: all } as never)).toThrow(error("SqlError", "option", "set"));
    }
  });
});

describe("ids", () => {
  it("gives distinct values in the order of the rows, without NULLs", () => {
    expect(ids([{ id: 3 }, { id: 1 }, { id: 3 }])).toEqual([3, 1]);
    expect(ids([{ user_id: "b" }, { user_id: null }, { user_id: "a" }], "user_id")).toEqual(["b", "a"]);
    expect(ids([])).toEqual([]);
  });

  it("refuses rows without the field", () => {
    expect(() => ids([{ name: "x" }] as never)).toThrow(error("SqlError", "value", "id"));
    expect(() => ids([{}], "toString" as never)).toThrow(error("SqlError", "value"));
    expect(() => ids([{ id: {} }])).toThrow(error("SqlError", "value"));
  });
});
