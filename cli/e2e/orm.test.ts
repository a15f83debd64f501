/** Kysely and Drizzle in a component, on the real server, with SQLite and PostgreSQL (`fixtures/orm`). */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeEach, type Needs } from "../../testing/needs.ts";
import { Sidecar } from "../src/embed/sidecar.ts";
import { type Ask, askAt } from "../test/services/ask.ts";
import { folder, startPostgres } from "../test/services/stores.ts";
import { developing, project } from "./develop.ts";
import { type Running, root, startTenon, tenon } from "./servers.ts";

developing();

const tables = {
  postgres: [
    "CREATE TABLE people (id serial PRIMARY KEY, name text NOT NULL UNIQUE, age int, born timestamptz, photo bytea, data jsonb, score double precision)",
    "CREATE TABLE pets (id serial PRIMARY KEY, owner int NOT NULL REFERENCES people (id), name text NOT NULL)",
    "CREATE TABLE kinds (id serial PRIMARY KEY, local timestamp, day date, span interval, spans interval[], address inet, at point, tags text[], grid int[][], big bigint, price numeric, note json)",
  ],
  sqlite: [
    "CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, age INTEGER, born, photo BLOB, data TEXT, score REAL)",
    "CREATE TABLE pets (id INTEGER PRIMARY KEY, owner INTEGER NOT NULL REFERENCES people (id), name TEXT NOT NULL)",
  ],
};

type Name = keyof typeof tables;

/** A sidecar with the tables, and how to end it. */
async function startDatabase(name: Name) {
  const store = name === "postgres" ? await startPostgres() : undefined;
  const url = store?.url ?? `sqlite:${join(folder(), "orm.db")}`;
  const limits = { transactionIdleMs: 600_000, transactionTimeoutMs: 600_000 };
  const sidecar = await Sidecar.start({ kind: "sql", url, listen: "127.0.0.1:0", logLevel: "off", ...limits });
  const statements = tables[name].map((sql) => ({ sql }));
  expect((await askAt(sidecar.address)("POST", "/sql/batch", { json: { statements } })).status).toBe(200);
  return {
    address: sidecar.address,
    stop: async () => {
      await sidecar.close();
      await store?.stop();
    },
  };
}

/** Builds one of the fixtures; returns the project's folder. */
async function built(orm: string): Promise<string> {
  const at = await project(orm, readFileSync(join(root, `cli/e2e/fixtures/orm/${orm}.ts`), "utf8"));
  const { status, stderr } = spawnSync(process.execPath, [tenon, "build", "-rc"], { cwd: at, encoding: "utf8" });
  expect(status, stderr).toBe(0);
  return at;
}

const databases: readonly { readonly name: Name; readonly needs?: Needs }[] = [
  { name: "sqlite" },
  { name: "postgres", needs: "postgresql" },
];

/** Serves a fixture with a database, and declares how to run its cases. */
function serving(orm: string, name: Name): { run(each: string): Promise<unknown> } {
  let database: Awaited<ReturnType<typeof startDatabase>>;
  let server: Running;
  let ask: Ask;
  beforeAll(async () => {
    database = await startDatabase(name);
    server = await startTenon([], orm, await built(orm), { TENON_SIDECARS_DB: database.address });
    ask = askAt(new URL(server.base).origin);
  });
  afterAll(async () => {
    await server?.stop();
    await database?.stop();
  });
  return {
    run: async (each) => {
      const { status, json, text } = await ask("POST", `/run/${orm}/${name}/${each}`);
      expect(status, `${text}\n${server.errors()}`).toBe(200);
      return json.result;
    },
  };
}

const NESTED = /transaction/;

describeEach("Kysely in a component, $name", databases, ({ name }) => {
  const { run } = serving("kysely", name);

  test("writes, and counts", async () => {
    expect(await run("write")).toEqual({
      many: 2,
      ...(name === "sqlite" ? { insertId: 2 } : {}),
      ignored: [0],
      updated: 3,
      returned: [["Ann", 8]],
      raw: 1,
      deleted: 1,
    });
  });

  test("binds and reads values", async () => {
    const data = { a: [1, { b: '"' }], at: "2026-03-01T10:00:00.123Z", base64: "AA==", float: "-0" };
    const { id, ...read } = (await run("values")) as { id: number; data: unknown };
    expect(read).toEqual({
      name: "Dee",
      age: null,
      born: "2026-03-01T10:00:00.123Z",
      photo: "AP8=",
      data: name === "postgres" ? data : JSON.stringify(data),
      score: -1.5,
    });
    expect(id).toBeGreaterThan(0);
    expect(await run("numbers")).toEqual([name === "postgres" ? "NaN" : 400, "Infinity", -1e300, 0.1, `${2n ** 62n}`]);
    const lists = { a: [1, 2, 3], b: ["a", null, '{"}'], c: ["Infinity"], d: [{ x: [1] }] };
    expect(await run("lists")).toEqual({ rows: name === "postgres" ? [lists] : [{ v: 1 }, { v: 2 }] });
  });

  test("refuses values without a form, and takes hostile ones as values", async () => {
    expect(await run("hostile")).toEqual({
      undefined: "parameter 1 must not be undefined; use null",
      symbol: "parameter 1 must not be a symbol",
      invalidDate: "parameter 1 must be a valid date",
      bigints: "parameter 1 must be a value that JSON has a form for",
      zero: name === "postgres" ? expect.stringContaining("is not a value of the type text") : ["a\0b"],
      surrogate: expect.stringContaining("half of a surrogate pair"),
      quote: ["'); DROP TABLE people; --"],
    });
    expect(await run("large")).toBe(400);
  });

  test("keeps the code of errors", async () => {
    expect(await run("duplicate")).toEqual({ isSidecarError: true, sqlstate: "23505", table: "people", status: 400 });
  });

  test("joins, streams and describes tables", async () => {
    expect(await run("join")).toEqual([
      { owner: "Fay", pet: "Rex" },
      { owner: "Fay", pet: "Tom" },
    ]);
    expect(await run("stream")).toEqual([325, [10, 10, 5]]);
    expect(await run("tables")).toEqual([
      ["people", ["id", "name", "age", "born", "photo", "data", "score"]],
      ["pets", ["id", "owner", "name"]],
    ]);
  });

  test("commits, rolls back, and ends with a failed statement", async () => {
    expect(await run("commit")).toEqual([true, true, true]);
    expect(await run("throws")).toEqual(["no", false]);
    expect(await run("caught")).toEqual([404, false, false]);
  });

  test("refuses a transaction in another, and statements after the end", async () => {
    expect(await run("nested")).toMatch(NESTED);
    expect(await run("concurrent")).toEqual([true, true]);
    expect(await run("after")).toEqual([
      expect.stringMatching(/committed|ended/),
      expect.stringMatching(/rolled back/),
      expect.stringMatching(/savepoint/),
      false,
    ]);
    expect(await run("refused")).toEqual([
      "TenonDialect: there are no read-only transactions",
      'TenonDialect: there is no isolation level "snapshot"',
      expect.stringContaining("a transaction is a /sql/batch"),
    ]);
  });

  test("rolls back when the request ends within a transaction", async () => {
    expect(await run("leave")).toBe(true);
    expect(await run("names")).not.toContain("Mia");
    // The lock is free.
    expect(await run("throws")).toEqual(["no", false]);
  });
});

describeEach("Drizzle in a component, $name", databases, ({ name }) => {
  const { run } = serving("drizzle", name);

  test("writes, and returns rows", async () => {
    expect(await run("write")).toEqual({ kept: [], updated: [["Ann", 7]], deleted: [{ name: "Ann" }] });
  });

  test("binds and reads values of its columns", async () => {
    const row = {
      id: 0,
      name: "Dee",
      age: null,
      born: "2026-03-01T10:00:00.123Z",
      photo: [0, 255],
      data: { a: [1, { b: '"' }], base64: "AA==", float: "-0" },
      score: -1.5,
      isDate: true,
    };
    expect(await run("values")).toEqual([row, row]);
    if (name === "sqlite") return;
    expect(await run("kinds")).toEqual({
      raw: [{ id: 1 }],
      same: true,
      read: {
        id: 1,
        local: "2026-03-01 10:00:00.500",
        day: "2026-03-01T00:00:00.000Z",
        span: "1 day 02:00:00",
        spans: ["1 day", "2 days"],
        address: "10.0.0.1",
        at: { x: 1, y: -2.5 },
        tags: ["a", 'q"\\{,}', "null", ""],
        grid: [
          [1, 2],
          [3, 4],
        ],
        big: `${2n ** 60n}n`,
        price: "12345678901234567890.10",
        note: "5",
      },
      found: 1,
    });
  });

  test("refuses values without a form, and keeps the code of errors", async () => {
    expect(await run("hostile")).toEqual({
      undefined: "parameter 1 must not be undefined; use null",
      invalidDate: "parameter 1 must be a valid date",
      zero: name === "postgres" ? expect.stringContaining("is not a value of the type text") : 0,
      quote: 0,
    });
    expect(await run("duplicate")).toEqual({ isQueryError: true, isSidecarError: true, sqlstate: "23505" });
  });

  test("reads relations, joins with repeated names, and raw SQL", async () => {
    expect(await run("relations")).toEqual([
      [{ name: "Fay", photo: null, pets: [{ name: "Rex" }, { name: "Tom" }] }],
      { name: "Rex", person: { name: "Fay" } },
      [
        ["Fay", "Rex"],
        ["Fay", "Tom"],
      ],
    ]);
    const row = { b: 1, a: 2, c: "x" };
    const run0 = { rows: [], rowsAffected: 1 };
    expect(await run("raw")).toEqual(name === "postgres" ? [row] : [[row], row, [[1, 2, "x"]], 1, true, run0]);
  });

  test("runs a batch: all, or none", async () => {
    const bea = { name: "Bea" };
    expect(await run("batch")).toEqual([[[bea], [bea], bea, [bea]], "23505", 0]);
  });

  test("commits, rolls back, and ends with a failed statement", async () => {
    expect(await run("commit")).toEqual([["Gus", true, true], true]);
    expect(await run("throws")).toEqual(["no", "string", false]);
    expect(await run("caught")).toEqual([404, false, false]);
  });

  test("refuses a transaction in another, and statements after the end", async () => {
    const [inner, outer] = (await run("nested")) as string[];
    expect(inner).toMatch(/not nested/);
    expect(outer).toMatch(NESTED);
    expect(await run("after")).toMatch(/has ended/);
  });

  test("rolls back when the request ends within a transaction", async () => {
    expect(await run("leave")).toBe(true);
    expect(await run("names")).not.toContain("Mia");
    expect(await run("throws")).toEqual(["no", "string", false]);
  });
});
