/**
 * Keyset pagination on real databases: pages of random data, orders and sizes, read to the end with `after` and back
 * with `before`, return every row once, in the database's own order.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Dialect, pageInfo, sqlRead } from "../../src/sql/index.ts";
import { COLUMNS, fill, type Row, randomFilter, randomRows } from "./data.ts";
import type { Database } from "./database.ts";
import { describeDatabases } from "./databases.ts";
import { keeps, sorted } from "./evaluate.ts";
import { caseCount, Random, seed } from "./random.ts";

const WALKS = Math.ceil(caseCount(600));
const TIMEOUT_MS = 240_000;

interface Walk {
  readonly order: string[];
  readonly limit: number;
  readonly filter: object;
  readonly notNull: string[];
}

interface Place {
  readonly after?: string | null | undefined;
  readonly before?: string | null;
}

describeDatabases("keyset", ({ dialect, start }) => {
  let database: Database;
  beforeAll(async () => {
    database = await start();
  }, 60_000);
  afterAll(() => database?.close());

  async function readPage({ order, limit, filter, notNull }: Walk, place: Place) {
    const keys = { order, key: "id" };
    const statement = sqlRead(dialect, "things", {
      ...keys,
      filter: filter as never,
      limit: limit + 1,
      ...(notNull.length > 0 && { notNull }),
      ...place,
    });
    const rows = (await database.query(statement)) as unknown as Row[];
    return { statement, ...pageInfo(rows, { ...keys, limit, ...place }) };
  }

  it(`walks ${WALKS} orders to the end and back, TENON_SQL_SEED=${seed}`, { timeout: TIMEOUT_MS }, async () => {
    const random = new Random(seed + 2);
    let pages = 0;
    let rows: Row[] = [];
    for (let i = 0; i < WALKS; i++) {
      if (i % 20 === 0) {
        rows = randomRows(random, random.integer(0, 30));
        await fill(database, "things", rows);
      }
      const walk = randomWalk(random, rows, dialect);
      const expected = sorted(
        rows.filter((row) => keeps(walk.filter, { ...row }, dialect)),
        [...walk.order, lastKey(walk.order)],
        dialect,
      ).map(({ id }) => id);
      const what = JSON.stringify({ walk, rows });

      const forward: number[] = [];
      let page = await readPage(walk, { after: undefined });
      forward.push(...page.rows.map(({ id }) => id));
      expect(page.page.has_prev, what).toBe(false);
      while (page.page.has_next) {
        page = await readPage(walk, { after: page.page.next_cursor });
        expect(page.rows.length, `${page.statement[0]} ${what}`).toBeGreaterThan(0);
        forward.push(...page.rows.map(({ id }) => id));
        pages++;
      }
      expect(forward, what).toEqual(expected);

      const backward = page.rows.map(({ id }) => id);
      while (page.page.has_prev) {
        page = await readPage(walk, { before: page.page.prev_cursor });
        backward.unshift(...page.rows.map(({ id }) => id));
        expect(page.rows.length, `${page.statement[0]} ${what}`).toBeGreaterThan(0);
        pages++;
      }
      expect(backward, what).toEqual(expected);
    }
    expect(pages).toBeGreaterThan(WALKS);
    process.stderr.write(`keyset, ${dialect.name}: ${WALKS} walks, ${pages} pages, TENON_SQL_SEED=${seed}\n`);
  });

  describe("an order without a unique key", () => {
    it("skips the rest of a tie that a page ends in, which is why the key is there", async () => {
      const rows = [1, 2, 3].map((id) => ({ id, age: 1, score: 0, name: "", title: "", active: true, order: 0 }));
      await fill(database, "things", rows);
      const walk = async (keyed: { key?: string }) => {
        const options = { order: "age", limit: 2, ...keyed };
        const first = (await database.query(sqlRead(dialect, "things", options))) as unknown as Row[];
        const { page } = pageInfo(first, { ...options, limit: 1 });
        return database.query(sqlRead(dialect, "things", { ...options, after: page.next_cursor }));
      };
      expect(await walk({})).toHaveLength(0);
      expect(await walk({ key: "id" })).toHaveLength(2);
    });
  });
});

/** The key takes the direction of the last term: see `order.ts`. */
function lastKey(order: readonly string[]): string {
  return order[order.length - 1]?.startsWith("-") ? "-id" : "id";
}

function randomWalk(random: Random, rows: readonly Row[], dialect: Dialect): Walk {
  const columns = random.shuffled(COLUMNS).slice(0, random.integer(1, 4));
  const uniform = random.chance(0.4) ? random.pick(["", "-"]) : undefined;
  return {
    order: columns.map((column) => (uniform ?? random.pick(["", "-"])) + column),
    limit: random.integer(1, 7),
    filter: random.chance(0.4) ? randomFilter(random, dialect, 1) : {},
    notNull: random.chance(0.4) ? COLUMNS.filter((column) => rows.every((row) => row[column] !== null)) : [],
  };
}
