/**
 * Random inserts on real databases: afterwards the table has the rows that the INSERT and its conflicts should leave.
 */
import { afterAll, beforeAll, expect, it } from "vitest";
import { type OnConflict, sqlCount, sqlCreate, sqlRead, type Value } from "../../src/sql/index.ts";
import { COLUMNS, type ColumnName, fill, type Row, randomFilter, randomRows, randomValue } from "./data.ts";
import type { Database } from "./database.ts";
import { describeDatabases } from "./databases.ts";
import { keeps } from "./evaluate.ts";
import { caseCount, Random, seed } from "./random.ts";

const CASES = caseCount(300);
const TIMEOUT_MS = 240_000;

type Given = { [Column in ColumnName]?: Value };

/** A list of rows with the same columns, including `id`, and the action for existing ones. */
interface Insert {
  readonly rows: Given[];
  readonly onConflict: OnConflict | undefined;
}

describeDatabases("writes", ({ dialect, start }) => {
  let database: Database;
  beforeAll(async () => {
    database = await start();
  }, 60_000);
  afterAll(() => database?.close());

  const stored = async () => {
    const rows = await database.query(sqlRead(dialect, "things", { order: "id" }));
    return rows.map(comparable);
  };

  it(`inserts and counts: ${CASES} cases, TENON_SQL_SEED=${seed}`, { timeout: TIMEOUT_MS }, async () => {
    const random = new Random(seed + 3);
    const seen = { refused: 0, updated: 0, kept: 0, many: 0 };
    for (let i = 0; i < CASES; i++) {
      const before = randomRows(random, random.integer(0, 8));
      await fill(database, "things", before);
      const insert = randomInsert(random);
      const expected = insertInto(before, insert, seen);
      const statement =
        insert.rows.length === 1 && random.chance(0.5)
          ? sqlCreate(dialect, "things", {
              ...insert.rows[0],
              ...(insert.onConflict && { onConflict: insert.onConflict }),
              returning: ["id"],
            })
          : sqlCreate(dialect, "things", insert.rows, {
              ...(insert.onConflict && { onConflict: insert.onConflict }),
              returning: ["id"],
            });
      const what = `${statement[0]} ${JSON.stringify(statement[1])} into ${JSON.stringify(before)}`;
      const returned = await database.query(statement).then(
        (rows) => rows.map(({ id }) => id),
        () => undefined,
      );
      expect(returned, what).toEqual(expected?.returned);
      expect(await stored(), what).toEqual((expected?.rows ?? before).map(comparable).sort(byId));

      const filter = randomFilter(random, dialect, 2);
      const merge = randomFilter(random, dialect, 1);
      const count = sqlCount(dialect, "things", { filter: filter as never, merge: merge as never, allow: COLUMNS });
      const kept = (expected?.rows ?? before).filter(
        (row) => keeps(filter, { ...row }, dialect) && keeps(merge, { ...row }, dialect),
      );
      const [counted] = await database.query(count);
      // PostgreSQL's driver returns its 64 bits as a text.
      expect(Number(counted?.["count"]), `${count[0]} ${JSON.stringify(count[1])}`).toBe(kept.length);
    }
    // Each of these must have happened often enough to prove something.
    for (const [what, times] of Object.entries(seen)) expect([what, times > CASES / 20]).toEqual([what, true]);
  });

  it("takes as many values as it says, in one statement", { timeout: TIMEOUT_MS }, async () => {
    await fill(database, "things", []);
    const rows = Array.from({ length: Math.floor(dialect.maxParams / 2) }, (_, id) => ({ id, age: id % 10 }));
    await database.query(sqlCreate(dialect, "things", rows));
    await database.query(sqlCreate(dialect, "things", rows, { onConflict: { columns: ["id"], set: "excluded" } }));
    const [all] = await database.query(sqlCount(dialect, "things"));
    expect(Number(all?.["count"])).toBe(rows.length);
  });
});

function randomInsert(random: Random): Insert {
  const columns: ColumnName[] = ["id", ...random.shuffled(COLUMNS.filter((name) => name !== "id"))];
  const used = columns.slice(0, random.integer(1, 4));
  const ids = random.shuffled(Array.from({ length: 12 }, (_, i) => i + 1)).slice(0, random.integer(1, 5));
  const value = (column: ColumnName) => (random.chance(0.2) ? null : randomValue(random, column));
  const rows = ids.map((id) =>
    // In another order than the first row's.
    Object.fromEntries(random.shuffled(used).map((column) => [column, column === "id" ? id : value(column)])),
  );
  const set = random.shuffled(columns.slice(1)).slice(0, random.integer(1, 2));
  const excluded = used.length > 1 ? { columns: ["id"], set: "excluded" as const } : undefined;
  return {
    rows,
    onConflict: random.pick([
      undefined,
      { columns: ["id"], nothing: true },
      { nothing: true },
      { columns: ["id"], set: Object.fromEntries(set.map((column) => [column, value(column)])) },
      excluded,
    ]),
  };
}

/**
 * The rows that an INSERT leaves and returns; `undefined` when it fails as a whole. No two of its rows have one `id`.
 */
function insertInto(
  before: readonly Row[],
  { rows, onConflict }: Insert,
  seen: { refused: number; updated: number; kept: number; many: number },
): { readonly rows: Row[]; readonly returned: unknown[] } | undefined {
  const after = new Map(before.map((row) => [row.id, row]));
  const returned: unknown[] = [];
  if (rows.length > 1) seen.many++;
  for (const row of rows) {
    const id = row.id as number;
    const there = after.get(id);
    if (there === undefined) {
      const none = { age: null, score: null, name: null, title: null, active: null, order: null };
      after.set(id, { ...none, ...row } as Row);
      returned.push(id);
    } else if (onConflict === undefined) {
      seen.refused++;
      return undefined;
    } else if (onConflict.nothing) {
      seen.kept++;
    } else {
      seen.updated++;
      after.set(id, { ...there, ...(onConflict.set === "excluded" ? row : onConflict.set) } as Row);
      returned.push(id);
    }
  }
  return { rows: [...after.values()], returned };
}

/** A row in the form of both databases: SQLite has 0 and 1 for booleans. */
function comparable(row: object): Record<string, unknown> {
  const { active, ...rest } = row as Row;
  return { ...rest, active: active === null ? null : Boolean(active) };
}

function byId(a: Record<string, unknown>, b: Record<string, unknown>): number {
  return Number(a["id"]) - Number(b["id"]);
}
