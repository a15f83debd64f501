/**
 * Hostile names, values, filter texts and cursors: by the databases' own parsers, each built statement is one statement
 * of the requested kind, with only the requested tables, columns and parameters; or one of the three errors is thrown.
 */
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import {
  Cursor,
  CursorError,
  FilterError,
  pageInfo,
  parseFilter,
  postgres,
  SqlError,
  type Statement,
  sqlCount,
  sqlCreate,
  sqlDelete,
  sqlite,
  sqlRead,
  sqlUpdate,
} from "../../src/sql/index.ts";
import { loadParser, type Shape } from "./parsers.ts";
import { caseCount, seed } from "./random.ts";

const RUNS = caseCount(3_000);
const TIMEOUT_MS = 120_000;
const COLUMNS = ["a", "b", "c", "d"];
const run = (property: fc.IPropertyWithHooks<never> | fc.IRawProperty<never>) =>
  fc.assert(property as fc.IRawProperty<unknown>, { seed, numRuns: RUNS });

const PIECES = [
  ..."'\";-_%\\()[]{}$?:,.*/ \0\n\t=<>|&!`".split(""),
  ...[
    "--",
    "/*",
    "*/",
    "''",
    "$1",
    "?1",
    "$$",
    "OR 1=1",
    "UNION SELECT",
    "; DROP TABLE t",
    "NULL",
    "E'\\''",
    "0x",
    "\u2019",
    "\uff07",
  ],
  ...[
    "a",
    "b",
    "order",
    "select",
    "__proto__",
    "constructor",
    "$or",
    "$eq",
    "id",
    "\ud800",
    "\u{1f600}",
    "\u202e",
    "ſ",
    "K",
  ],
];
const hostile = fc.oneof(
  fc.array(fc.constantFrom(...PIECES), { maxLength: 6 }).map((pieces) => pieces.join("")),
  fc.string({ unit: "binary", maxLength: 12 }),
);
const scalar = fc.oneof(
  hostile,
  fc.integer(),
  fc.double(),
  fc.boolean(),
  fc.constant(null),
  fc.bigInt({ min: -(2n ** 62n), max: 2n ** 62n }),
);

/** The result of `build`, or `undefined` when it threw one of the three errors. It rethrows any other error. */
function attempt<T>(build: () => T): T | undefined {
  try {
    return build();
  } catch (error) {
    if (error instanceof SqlError || error instanceof FilterError || error instanceof CursorError) return undefined;
    throw error;
  }
}

/** Every node that the printer can write for a condition, an order and a limit. */
const POSTGRES_NODES = new Set([
  ...[
    "RawStmt",
    "SelectStmt",
    "ResTarget",
    "ColumnRef",
    "A_Star",
    "String",
    "RangeVar",
    "A_Expr",
    "ParamRef",
    "BoolExpr",
  ],
  ...["NullTest", "List", "RowExpr", "SortBy", "A_Const", "Integer", "FuncCall"],
]);

describe.each([postgres, sqlite])("$name", (dialect) => {
  let shapeOf: (statement: Statement) => Shape;
  beforeAll(async () => {
    shapeOf = await loadParser(dialect);
  });

  /** Expects one SELECT on `t` of these columns only, with all its parameters, and without user text in it. */
  function expectHarmless(statement: Statement): void {
    const shape = shapeOf(statement);
    const what = JSON.stringify(statement[0]);
    expect(shape.statements, what).toBe(1);
    expect(shape.writes, what).toBe(false);
    expect(shape.params, what).toBeLessThanOrEqual(statement[1].length);
    if (dialect.name === "sqlite") {
      for (const constant of shape.constants) expect(constant, what).toBe("\\");
      for (const called of shape.kinds) expect(called, what).toMatch(/^like\([23]\)$/);
      return;
    }
    expect(shape.params, what).toBe(statement[1].length);
    expect([...shape.tables], what).toEqual(["t"]);
    for (const column of shape.columns) expect([...COLUMNS, "id", "*"], what).toContain(column);
    for (const kind of shape.kinds) expect(POSTGRES_NODES, what).toContain(kind);
    for (const constant of shape.constants) expect(constant, what).toEqual(expect.any(Number));
  }

  it(`values never change the text: ${RUNS} cases, TENON_SQL_SEED=${seed}`, { timeout: TIMEOUT_MS }, () => {
    const general = ["$eq", "$ne", "$gt", "$lte"] as const;
    const textual = ["$like", "$ilike", "$starts_with", "$ends_with", "$contains"] as const;
    const build = (one: unknown, two: unknown, operators: readonly string[]): Statement[] => {
      const filter = {
        a: one,
        b: { [operators[0] as string]: one, $in: [two, one], $between: [one, two] },
        $or: [{ c: { [operators[1] as string]: two } }, { $not: { d: two } }],
      } as never;
      const cursor = Cursor.from({ a: one, id: two }, ["-a", "id"]).encode();
      return [
        sqlRead(dialect, "t", { filter, merge: filter, allow: COLUMNS, order: ["-a", "id"], limit: 3, after: cursor }),
        sqlCreate(dialect, "t", { a: one as string, b: two as string }),
        sqlCount(dialect, "t", { filter, merge: filter, allow: COLUMNS }),
        sqlCreate(
          dialect,
          "t",
          [
            { id: 1, a: one as string },
            { a: two as string, id: 2 },
          ],
          {
            onConflict: { columns: ["id"], set: { a: two as string, b: one as string } },
            returning: ["id"],
          },
        ),
        sqlUpdate(dialect, "t", { set: { a: one as string }, filter }),
        sqlDelete(dialect, "t", { filter }),
      ];
    };
    let built = 0;
    run(
      fc.property(
        hostile,
        hostile,
        fc.constantFrom(...general),
        fc.constantFrom(...textual),
        (one, two, first, second) => {
          const statements = attempt(() => build(one, two, [first, second]));
          if (statements === undefined) return;
          built++;
          const benign = build("x", "y", [first, second]);
          expect(statements.map(([sql]) => sql)).toEqual(benign.map(([sql]) => sql));
          expect(statements.map(([, params]) => params.length)).toEqual(benign.map(([, params]) => params.length));
          expect(statements[1]?.[1]).toEqual([one, two]);
          expect(statements[3]?.[1]).toEqual([1, one, 2, two, two, one]);
          expectHarmless(statements[0] as Statement);
          expectHarmless(statements[2] as Statement);
        },
      ) as never,
    );
    expect(built).toBeGreaterThan(RUNS / 2);
  });

  it(`names are names or refused: ${RUNS} cases, TENON_SQL_SEED=${seed}`, { timeout: TIMEOUT_MS }, () => {
    run(
      fc.property(hostile, (name) => {
        const isName = /^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)?$/.test(name);
        const builds = [
          () => sqlRead(dialect, name),
          () => sqlRead(dialect, "t", { select: [name] }),
          () => sqlRead(dialect, "t", { filter: { $not: { [name]: 1 } } as never }),
          () => sqlRead(dialect, "t", { order: name }),
          () => sqlRead(dialect, "t", { order: ["a"], key: name }),
          () => sqlRead(dialect, "t", { order: name, after: Cursor.from({ [name]: 1 }, [name]).encode() }),
          () => sqlRead(dialect, "t", { merge: { [name]: 1 } as never, allow: [name] }),
          () => sqlCreate(dialect, name, { a: 1 }),
          () => sqlCreate(dialect, "t", { [name]: 1 }),
          () => sqlCreate(dialect, "t", { a: 1, returning: [name] }),
          () => sqlCreate(dialect, "t", [{ [name]: 1 }, { [name]: 2 }]),
          () => sqlCreate(dialect, "t", [{ a: 1 }], { onConflict: { columns: [name], nothing: true } }),
          () => sqlCreate(dialect, "t", [{ a: 1 }], { onConflict: { columns: ["a"], set: { [name]: 1 } } }),
          () => sqlCreate(dialect, "t", [{ a: 1, [name]: 1 }], { onConflict: { columns: ["a"], set: "excluded" } }),
          () => sqlCount(dialect, name),
          () => sqlCount(dialect, "t", { filter: { [name]: 1 } as never }),
          () => sqlUpdate(dialect, "t", { set: { [name]: 1 }, filter: { a: 1 } }),
          () => sqlUpdate(dialect, name, { set: { a: 1 }, filter: { a: 1 } }),
          () => sqlDelete(dialect, name, { filter: { a: 1 } }),
        ];
        for (const build of builds) {
          const statement = attempt(build);
          if (!isName) {
            // "-a" is a column to order by, "returning" an option of sqlCreate; the dash of a descending name is not
            // part of it.
            if (statement !== undefined && !name.startsWith("-"))
              expect(statement[0]).not.toContain(name === "" ? "\0" : name);
            continue;
          }
          if (statement !== undefined && dialect.name === "postgres") expect(shapeOf(statement).statements).toBe(1);
        }
      }) as never,
    );
  });

  it(`filter texts give harmless statements or are refused: ${RUNS} cases, TENON_SQL_SEED=${seed}`, {
    timeout: TIMEOUT_MS,
  }, () => {
    const rarely = <T>(usual: fc.Arbitrary<T>, odd: fc.Arbitrary<T>) =>
      fc.oneof({ weight: 40, arbitrary: usual }, { weight: 1, arbitrary: odd });
    const known = scalar.filter((value) => value !== null);
    const texts = hostile.map((value) => value.replaceAll("\0", "").replaceAll("\\", "%"));
    const test = rarely<unknown>(
      fc.oneof(
        scalar,
        fc.record({ $ne: scalar }),
        fc.record({ $gt: known, $lte: known }),
        fc.record({ $in: fc.array(scalar, { maxLength: 3 }) }),
        fc.record({ $nin: fc.array(scalar, { maxLength: 3 }) }),
        fc.record({ $between: fc.tuple(known, known) }),
        fc.record({ $like: texts }),
        fc.record({ $starts_with: texts, $contains: texts }),
      ),
      fc.oneof(fc.dictionary(hostile, scalar), fc.array(scalar), fc.record({ $regex: hostile })),
    );
    const { filter } = fc.letrec((tie) => ({
      fields: fc.dictionary(rarely(fc.constantFrom(...COLUMNS), hostile), test, { minKeys: 1, maxKeys: 3 }),
      filter: fc.oneof(
        { depthSize: "small" },
        tie("fields"),
        fc.record({ $or: fc.array(tie("filter"), { minLength: 1, maxLength: 3 }) }),
        fc.record({ $and: fc.array(tie("filter"), { minLength: 1, maxLength: 3 }), a: test }),
        fc.record({ $not: tie("filter") }),
      ),
    }));
    const text = filter.map((value) =>
      JSON.stringify(value, (_, item) => (typeof item === "bigint" ? Number(item) : item)),
    );
    const spoilt = fc.tuple(text, fc.nat(), hostile).map(([json, at, piece]) => {
      const i = at % (json.length + 1);
      return json.slice(0, i) + piece + json.slice(i);
    });
    let built = 0;
    run(
      fc.property(fc.oneof({ weight: 3, arbitrary: text }, spoilt, hostile), (json) => {
        const statement = attempt(() =>
          sqlRead(dialect, "t", { filter: { a: 1 }, merge: parseFilter(json), allow: COLUMNS, allowOps: ["$regex"] }),
        );
        if (statement === undefined) return;
        built++;
        expectHarmless(statement);
        // The trusted condition comes first, separated from all that the user wrote.
        const mark = dialect.placeholder;
        expect(statement[0]).toMatch(
          mark === "$"
            ? /^SELECT \* FROM t WHERE (?:a = \$1$|\(a = \$1\) AND \()/
            : /^SELECT \* FROM t WHERE (?:a = \?1$|\(a = \?1\) AND \()/,
        );
      }) as never,
    );
    expect(built).toBeGreaterThan(RUNS / 10);
  });

  it(`cursors only move the place: ${RUNS} cases, TENON_SQL_SEED=${seed}`, { timeout: TIMEOUT_MS }, () => {
    const order = ["-a", "b", "id"];
    const real = fc
      .tuple(scalar, scalar, scalar)
      .map(([a, b, id]) => attempt(() => Cursor.from({ a, b, id }, order).encode()) ?? "");
    const json = fc.oneof(
      fc.json(),
      fc
        .array(fc.tuple(fc.oneof(fc.constantFrom("a", "b", "id", "-a"), hostile), fc.oneof(scalar, fc.constant([]))))
        .map((entries) => JSON.stringify(entries, (_, item) => (typeof item === "bigint" ? String(item) : item))),
    );
    const forged = json.map((text) => Buffer.from(text.padEnd(Math.ceil(text.length / 3) * 3)).toString("base64"));
    const spoilt = fc.tuple(real, fc.nat(), fc.constantFrom(..."AZaz09+/=-_ \n")).map(([text, at, character]) => {
      const i = at % (text.length + 1);
      return text.slice(0, i) + character + text.slice(i + 1);
    });
    let built = 0;
    run(
      fc.property(fc.oneof({ weight: 2, arbitrary: real }, forged, spoilt, hostile), fc.boolean(), (text, backward) => {
        const place = backward ? { before: text } : { after: text };
        const statement = attempt(() => sqlRead(dialect, "t", { filter: { c: 1 }, order, limit: 2, ...place }));
        if (statement === undefined) return;
        built++;
        expectHarmless(statement);
        // SQLite has one statement for each combination of NULLs in the cursor: two to the third.
        expect(statement[0]).toMatch(
          /^SELECT \* FROM t WHERE c = .1 AND .* ORDER BY a (?:ASC|DESC), b (?:ASC|DESC), id (?:ASC|DESC) LIMIT 2$/,
        );
      }) as never,
    );
    expect(built).toBeGreaterThan(RUNS / 10);
  });

  it(`anything at all is a statement or one of the three errors: ${RUNS} cases, TENON_SQL_SEED=${seed}`, {
    timeout: TIMEOUT_MS,
  }, () => {
    const any = fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withNullPrototype: true,
      withSparseArray: true,
      withTypedArray: true,
    });
    const key = fc.constantFrom(
      "select",
      "filter",
      "merge",
      "allow",
      "denyOps",
      "allowOps",
      "maxDepth",
      "order",
      "key",
      "limit",
      "page",
      "after",
      "before",
      "notNull",
      "set",
      "returning",
      "onConflict",
      "columns",
      "nothing",
    );
    run(
      fc.property(any, fc.dictionary(key, any, { maxKeys: 4 }), (thing, options) => {
        const given = thing as never;
        attempt(() => sqlRead(given));
        attempt(() => sqlRead(dialect, given, given));
        attempt(() => sqlRead(dialect, "t", given));
        attempt(() => sqlRead(dialect, "t", options as never));
        attempt(() => sqlRead(dialect, "t", { filter: given, order: "a", after: given }));
        attempt(() => sqlRead(dialect, "t", { merge: given, allow: COLUMNS }));
        attempt(() => sqlCreate(dialect, "t", given));
        attempt(() => sqlCreate(dialect, "t", [given, given]));
        attempt(() => sqlCreate(dialect, "t", [{ a: 1 }], given));
        attempt(() => sqlCreate(dialect, "t", [{ a: 1 }], options as never));
        attempt(() => sqlCreate(dialect, "t", { a: 1, onConflict: given }));
        attempt(() => sqlCreate(dialect, "t", { a: 1, onConflict: options as never }));
        attempt(() => sqlCount(dialect, given, given));
        attempt(() => sqlCount(dialect, "t", options as never));
        attempt(() => sqlUpdate(dialect, "t", options as never));
        attempt(() => sqlUpdate(dialect, "t", { set: given, filter: given }));
        attempt(() => sqlDelete(dialect, "t", { filter: given }));
        attempt(() => parseFilter(given));
        attempt(() => Cursor.decode(given));
        attempt(() => Cursor.from(given, given));
        attempt(() => pageInfo(given, given));
      }) as never,
    );
  });
});
