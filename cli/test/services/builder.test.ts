/** Statements of the SQL builder pass `--tables`: random ones, and those of its test suite. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeWith } from "../../../testing/needs.ts";
import {
  parseFilter,
  postgres,
  type Statement,
  sqlCreate,
  sqlDelete,
  sqlRead,
  sqlUpdate,
} from "../../../ts-sdk/src/sql/index.ts";
import { COLUMNS, randomFilter } from "../../../ts-sdk/test/sql/data.ts";
import { caseCount, Random, seed } from "../../../ts-sdk/test/sql/random.ts";
import { Sidecar } from "../../src/embed/sidecar.ts";
import { askAt } from "./ask.ts";
import { type Store, startPostgres } from "./stores.ts";

const CASES = caseCount(400);
const sources = fileURLToPath(new URL("../../../ts-sdk/src/sql", import.meta.url));

/** The statements that the builder's tests expect, each in quotes of one kind. */
const expected = readdirSync(sources)
  .filter((file) => file.endsWith(".test.ts"))
  .flatMap(
    (file) => readFileSync(join(sources, file), "utf8").match(/(["'`])(SELECT|INSERT|UPDATE|DELETE) [^\n]*?\1/g) ?? [],
  )
  .map((quoted) => quoted.slice(1, -1).replaceAll('\\"', '"'))
  // SQLite's placeholders, and texts that a test completes.
  .filter((sql) => !/\?\d|\$\{|\s$/.test(sql));

let store: Store;
let all: Sidecar;
let listed: Sidecar;

const query = (sidecar: Sidecar, [sql, params]: Statement | readonly [string, readonly unknown[]]) =>
  askAt(sidecar.address)("POST", "/sql/query", { json: { sql, params } });

describeWith("postgresql", "the SQL builder behind a list of tables", () => {
  beforeAll(async () => {
    store = await startPostgres();
    const start = (tables?: string[]) =>
      Sidecar.start({
        kind: "sql",
        url: store.url,
        listen: "127.0.0.1:0",
        logLevel: "off",
        ...(tables === undefined ? {} : { tables }),
      });
    all = await start();
    const named = expected.flatMap((sql) => /(?:FROM|INTO|UPDATE) ([\w."]+)/.exec(sql)?.[1]?.replaceAll('"', "") ?? []);
    listed = await start(["things", ...named]);
  });
  afterAll(async () => {
    await listed?.close();
    await all?.close();
    await store?.stop();
  });

  it(`random statements give the same with a list and without, TENON_SQL_SEED=${seed}`, async () => {
    const columns = "id int PRIMARY KEY, name text, title text, age int, score double precision, active boolean";
    const made = await query(all, [`CREATE TABLE things (${columns}, "order" int)`, []]);
    expect(made.text).toContain("rows");
    const random = new Random(seed);
    let ran = 0;
    for (let n = 0; n < CASES; n++) {
      const filter = randomFilter(random, postgres, random.integer(0, 3)) as never;
      const merge = random.chance(0.3)
        ? { merge: parseFilter(JSON.stringify(randomFilter(random, postgres, 1))), allow: COLUMNS }
        : {};
      const statements: Statement[] = [
        sqlRead("things", { filter, ...merge, order: random.pick(["id", "-age", "name"]), limit: 5, page: 2 }),
        sqlCreate("things", { id: n, name: `n ${n}`, returning: ["id"] }),
        sqlUpdate("things", { set: { name: "x" }, filter }),
        sqlDelete("things", { filter }),
      ];
      for (const statement of statements) {
        const answer = await query(listed, statement);
        expect(answer.status, `${statement[0]} → ${answer.text}`).not.toBe(403);
        if (answer.status === 200) ran++;
      }
    }
    expect(ran).toBeGreaterThan(CASES * 2);
  });

  it("every statement that the builder's tests expect", async () => {
    expect(expected.length).toBeGreaterThan(20);
    for (const sql of expected) {
      const answer = await query(listed, [sql, []]);
      // The tables and parameters are not there, which the database says after the statement has passed.
      expect([200, 400], `${sql} → ${answer.text}`).toContain(answer.status);
      expect(answer.text, sql).not.toContain("syntax error");
    }
  });
});
