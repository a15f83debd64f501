/** Random filters on random tables: a real database must return the rows that an evaluator in TypeScript keeps. */

import { Query } from "mingo";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parseFilter, sqlRead } from "../../src/sql/index.ts";
import { COLUMNS, fill, type Row, randomFilter, randomRows } from "./data.ts";
import type { Database } from "./database.ts";
import { describeDatabases } from "./databases.ts";
import { keeps } from "./evaluate.ts";
import { caseCount, Random, seed } from "./random.ts";

const CASES = caseCount(20_000);
const CASES_PER_TABLE = 200;
const TIMEOUT_MS = 240_000;

interface Case {
  readonly filter: object;
  readonly merge: object | undefined;
}

describeDatabases("differential", ({ dialect, start }) => {
  let database: Database;
  beforeAll(async () => {
    database = await start();
  }, 60_000);
  afterAll(() => database?.close());

  it(`gives the rows that SQL's meaning keeps: ${CASES} cases, TENON_SQL_SEED=${seed}`, {
    timeout: TIMEOUT_MS,
  }, async () => {
    const random = new Random(seed);
    let mergedCases = 0;
    let matched = 0;
    let possible = 0;
    for (let done = 0; done < CASES; done += CASES_PER_TABLE) {
      const rows = randomRows(random, random.integer(5, 40));
      await fill(database, "things", rows);
      const cases = random.list(Math.min(CASES_PER_TABLE, CASES - done), () => randomCase(random));
      for (const one of cases) {
        const statement = sqlRead(dialect, "things", {
          select: ["id"],
          filter: one.filter as never,
          order: "id",
          ...(one.merge && {
            merge: parseFilter(JSON.stringify(one.merge)),
            allow: COLUMNS,
          }),
        });
        const found = (await database.query(statement)).map(({ id }) => id);
        const expected = expectedIds(rows, one);
        if (one.merge) mergedCases++;
        matched += expected.length;
        possible += rows.length;
        if (found.join() !== expected.join()) {
          expect(found, `${statement[0]} ${JSON.stringify(statement[1])} for ${JSON.stringify(one)}`).toEqual(expected);
        }
      }
    }
    // Both outcomes must be frequent, or the comparison proves little.
    expect(mergedCases).toBeGreaterThan(CASES / 4);
    expect(matched / possible).toBeGreaterThan(0.1);
    expect(matched / possible).toBeLessThan(0.9);
    process.stderr.write(
      `differential, ${dialect.name}: ${CASES} cases (${mergedCases} merged), ${Math.round((100 * matched) / possible)} % of rows kept, TENON_SQL_SEED=${seed}\n`,
    );
  });

  function randomCase(random: Random): Case {
    return {
      filter: randomFilter(random, dialect, random.integer(0, 3)),
      merge: random.chance(0.5) ? randomFilter(random, dialect, random.integer(0, 2)) : undefined,
    };
  }

  function expectedIds(rows: readonly Row[], { filter, merge }: Case): number[] {
    return rows
      .filter((row) => keeps(filter, { ...row }, dialect) && (!merge || keeps(merge, { ...row }, dialect)))
      .map(({ id }) => id)
      .sort((a, b) => a - b);
  }

  it(`agrees with mingo where its meaning is SQL's, TENON_SQL_SEED=${seed}`, { timeout: TIMEOUT_MS }, async () => {
    const random = new Random(seed + 1);
    let compared = 0;
    for (let tables = 0; tables < 10; tables++) {
      const rows = randomRows(random, 40).map((row): Row => ({ ...row, age: row.age ?? 0, order: row.order ?? 1 }));
      await fill(database, "things", rows);
      for (let i = 0; i < 100; i++) {
        const filter = mongoFilter(random, 3);
        const query = new Query(filter as never);
        const expected = rows.filter((row) => query.test({ ...row })).map(({ id }) => id);
        const found = await database.query(sqlRead(dialect, "things", { select: ["id"], filter: filter as never }));
        expect(new Set(found.map(({ id }) => id)), JSON.stringify(filter)).toEqual(new Set(expected));
        compared++;
      }
    }
    expect(compared).toBe(1_000);
  });
});

/** MongoDB and SQL agree on these operators, on columns without NULLs. It has `$nor` where SQL has `$not`. */
function mongoFilter(random: Random, depth: number): object {
  if (depth > 0 && random.chance(0.5)) {
    return { [random.pick(["$and", "$or"])]: random.list(random.integer(1, 3), () => mongoFilter(random, depth - 1)) };
  }
  const value = () => random.integer(-3, 6);
  const operator = random.pick(["$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in", "$nin"]);
  const operand = operator.endsWith("in") ? random.list(random.integer(0, 3), value) : value();
  return {
    [random.pick(["id", "age", "order"])]: { [operator]: operand, ...(random.chance(0.3) && { $gte: value() }) },
  };
}
