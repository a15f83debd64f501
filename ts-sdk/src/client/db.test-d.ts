import { expectTypeOf } from "vitest";
import { db, type Row, type Statement, type Transaction } from "../index.ts";

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
