import { expectTypeOf } from "vitest";
import {
  type Column,
  db,
  field,
  type PageInfo,
  type Row,
  type Statement,
  type Transaction,
  Type,
  table,
} from "../index.ts";

declare const statement: Statement;

// A transaction resolves to its function's result, and its rows are typed like those of `db`.
const answered = db.transaction(async (tx) => {
  expectTypeOf(tx).toEqualTypeOf<Transaction>();
  expectTypeOf(await tx.query(statement)).toEqualTypeOf<Row[]>();
  expectTypeOf(await tx.execute(statement)).toEqualTypeOf<number>();
  const [user] = await tx.query<{ name: string }>(statement);
  return user?.name;
});
expectTypeOf(answered).toEqualTypeOf<Promise<string | undefined>>();

// @ts-expect-error: a transaction has no transaction inside
db.transaction((tx) => tx.transaction(async () => 1));
// @ts-expect-error: its function is asynchronous
db.transaction(() => 1);
// @ts-expect-error: an idempotency key is for one request
db.transaction(async () => 1, { idempotencyKey: "a" });
// @ts-expect-error: no database has this isolation
db.transaction(async () => 1, { isolation: "none" });

// A page in one call.

const byName = await db.page<{ id: number }>("users", { order: ["-created_at"], key: "id", limit: 20, total: true });
expectTypeOf(byName.rows).toEqualTypeOf<{ id: number }[]>();
expectTypeOf(byName.page).toEqualTypeOf<PageInfo>();
const Item = Type("Item", { id: field.u32(), name: field.string() });
expectTypeOf((await db.page(table(Item), { order: "name", limit: 1 })).rows).toEqualTypeOf<
  { id: number; name: string }[]
>();
// @ts-expect-error a column that the table lacks
db.page(table(Item), { order: "nam", limit: 1 });
// @ts-expect-error a page has an order
db.page("users", { limit: 1 });

// Rows as arrays.

expectTypeOf(await db.values(statement)).toEqualTypeOf<Column[][]>();
expectTypeOf(await db.values<[id: number, name: string]>(statement)).toEqualTypeOf<[id: number, name: string][]>();
db.transaction(async (tx) => expectTypeOf(await tx.values<[number]>(statement)).toEqualTypeOf<[number][]>());
// @ts-expect-error: a row is a list
db.values<{ id: number }>(statement);
// @ts-expect-error: a statement has its text first
db.values([1, []]);
