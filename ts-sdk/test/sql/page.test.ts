/**
 * `db.page` on real databases, with the database's dialect and without: pages of random data, orders and sizes return
 * every row once, in the order of one long page.
 */
import { afterAll, beforeAll, expect, it } from "vitest";
import { field, Type } from "../../src/index.ts";
import { type DbPageOptions, readPage } from "../../src/outbound/page.ts";
import { type Dialect, type Page, sqlRead, table } from "../../src/sql/index.ts";
import { COLUMNS, fill, type Row, randomFilter, randomRows } from "./data.ts";
import type { Database } from "./database.ts";
import { describeDatabases } from "./databases.ts";
import { caseCount, Random, seed } from "./random.ts";

const WALKS = Math.ceil(caseCount(100));
const TIMEOUT_MS = 240_000;
const Thing = Type("Thing", {
  id: field.i32(),
  age: field.i32().nullable(),
  score: field.f64().nullable(),
  name: field.string().nullable(),
  title: field.string().nullable(),
  active: field.bool().nullable(),
  order: field.i32().nullable(),
});

describeDatabases("db.page", ({ dialect, start }) => {
  let database: Database;
  beforeAll(async () => {
    database = await start();
  }, 60_000);
  afterAll(() => database?.close());

  it.each<[string, Dialect[]]>([
    ["without a dialect", []],
    ["with the database's", [dialect]],
  ])(`returns every row once: %s, TENON_SQL_SEED=${seed}`, { timeout: TIMEOUT_MS }, async (_what, dialects) => {
    const random = new Random(seed + 5);
    let [pages, nulls] = [0, 0];
    let rows: Row[] = [];
    for (let i = 0; i < WALKS; i++) {
      if (i % 20 === 0) {
        rows = randomRows(random, random.integer(0, 30));
        await fill(database, "things", rows);
      }
      const target = random.pick([table(Thing, "things"), "things"]);
      const direction = random.chance(0.4) ? random.pick(["", "-"]) : undefined;
      const columns = random.shuffled(COLUMNS).slice(0, random.integer(1, 4));
      const options = {
        order: columns.map((column) => (direction ?? random.pick(["", "-"])) + column),
        key: "id",
        filter: randomCondition(random, dialects[0]) as never,
        ...(random.chance(0.3) && { select: ["id"] }),
      };
      const read = (more: Partial<DbPageOptions>) =>
        readPage([...dialects, target, { ...options, ...more }], (statement) =>
          database.query(statement as never),
        ) as Promise<Page<Row>>;
      const all = (await read({ limit: 1000, total: true })) as Page<Row>;
      const expected = all.rows.map(({ id }) => id);
      const what = JSON.stringify({ options, rows });
      expect(expected, what).toHaveLength(all.page.total ?? -1);
      if (dialects.length > 0) {
        const unpaged = await database.query(sqlRead(dialect, "things", options as never));
        expect(expected, what).toEqual(unpaged.map(({ id }) => id));
      }
      nulls += rows.filter((row) => columns.some((column) => row[column] === null)).length;

      const limit = random.integer(1, 7);
      const found: number[] = [];
      let page = await read({ limit });
      found.push(...page.rows.map(({ id }) => id));
      for (; page.page.has_next; pages++) {
        page = await read({ limit, after: page.page.next_cursor });
        found.push(...page.rows.map(({ id }) => id));
      }
      expect(found, what).toEqual(expected);
      const back = page.rows.map(({ id }) => id);
      for (; page.page.has_prev; pages++) {
        page = await read({ limit, before: page.page.prev_cursor });
        back.unshift(...page.rows.map(({ id }) => id));
      }
      expect(back, what).toEqual(expected);
    }
    expect(pages).toBeGreaterThan(WALKS);
    expect(nulls).toBeGreaterThan(WALKS);
  });
});

/** Without a dialect there are no operators that the databases spell differently. */
function randomCondition(random: Random, dialect: Dialect | undefined): object {
  if (random.chance(0.6)) return {};
  return dialect ? randomFilter(random, dialect, 1) : { id: { $lt: 20 }, $not: { name: { $contains: "_" } } };
}
