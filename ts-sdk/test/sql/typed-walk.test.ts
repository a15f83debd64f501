/**
 * Keyset pagination of `table(Type)` on real databases, over drivers' rows: booleans as 0 and 1 from SQLite, `bigint`
 * and `numeric` as texts from PostgreSQL. Every order returns each row once.
 */
import { afterAll, beforeAll, expect, it } from "vitest";
import { field, type Infer, Type } from "../../src/index.ts";
import { type OrderOf, type Page, pageInfo, type Statement, sqlRead, table } from "../../src/sql/index.ts";
import type { Database } from "./database.ts";
import { describeDatabases } from "./databases.ts";

const Task = Type("Task", { id: field.i64(), done: field.bool(), size: field.u32(), price: field.f64() });
const tasks = table(Task);
type Order = OrderOf<Infer<typeof Task>>[];
/** A row of `tasks` from a driver. */
interface Given {
  readonly id: unknown;
  readonly done: unknown;
  readonly size: unknown;
  readonly price: unknown;
}

/** The first two differ in a digit beyond the precision of a JavaScript number. */
const PRICES = ["0.1234567890123456788", "0.1234567890123456789", "1.50", "-2"];
const LIMIT = 4;

/** Integers as texts, as PostgreSQL's drivers return a `bigint`, and some of SQLite's drivers integers beyond 2^53. */
const withTexts = (row: Given): Given => ({ ...row, id: String(row.id), size: String(row.size) });

const ORDERS: Order[] = [
  ["-done", "id"],
  ["done", "-id"],
  ["-done", "-size", "id"],
  ["size", "price", "done"],
  ["-price", "id"],
  ["price", "-size"],
  ["-id"],
];

describeDatabases("keyset of table(Type)", ({ dialect, start }) => {
  let database: Database;
  beforeAll(async () => {
    database = await start();
    // Without a declared type, SQLite compares a number with a text by type: the number is less.
    const size = dialect.name === "sqlite" ? "size" : "size BIGINT";
    await database.query([`CREATE TABLE tasks (id BIGINT, done BOOLEAN, ${size}, price NUMERIC(40, 19))`, []]);
    const rows: string[] = [];
    for (let i = 0; i < 30; i++) {
      rows.push(`(${(i * 7) % 30}, ${i % 2 === 0}, ${i % 4}, ${PRICES[i % PRICES.length]})`);
    }
    await database.query([`INSERT INTO tasks VALUES ${rows.join(", ")}`, []]);
  }, 60_000);
  afterAll(() => database?.close());

  const read = async (statement: Statement) => (await database.query(statement)) as unknown as Given[];

  /** The ids of all pages. It also ends for an order that goes in circles. */
  async function walk(order: Order, seen: (row: Given) => Given): Promise<string[]> {
    const found: string[] = [];
    let after: string | null = null;
    do {
      const statement: Statement = sqlRead(dialect, tasks, { order, key: "id", limit: LIMIT + 1, after });
      const given = (await read(statement)).map(seen);
      const { rows, page }: Page<Given> = pageInfo(given, { order, key: "id", limit: LIMIT, after });
      found.push(...rows.map(({ id }) => String(id)));
      after = page.next_cursor;
    } while (after !== null && found.length <= 30);
    return found;
  }

  it.each(ORDERS.map((order) => [order]))("walks %j", async (order) => {
    const all = await read(sqlRead(dialect, tasks, { order, key: "id" }));
    const expected = all.map(({ id }) => String(id));
    expect(new Set(expected).size).toBe(30);
    expect(await walk(order, (row) => row)).toEqual(expected);
    expect(await walk(order, withTexts)).toEqual(expected);
  });

  it("is given what makes it hard", async () => {
    const [row] = await read(sqlRead(dialect, tasks, { filter: { id: 0 } }));
    // As texts, because drivers differ in their types for 64 bits.
    const given = { postgres: ["0", "true", "0", PRICES[0]], sqlite: ["0", "1", "0", String(Number(PRICES[0]))] };
    expect([row?.id, row?.done, row?.size, row?.price].map(String)).toEqual(given[dialect.name]);
  });
});
