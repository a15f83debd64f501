import { type Dialect, type Generated, type InsertResult, Kysely } from "kysely";
import { expectTypeOf } from "vitest";
import { TenonDialect, type TenonDialectConfig } from "./index.ts";

interface Database {
  people: { id: Generated<number>; name: string };
}

const dialect = new TenonDialect({ dialect: "postgres" });
expectTypeOf(dialect).toExtend<Dialect>();
expectTypeOf<TenonDialectConfig["dialect"]>().toEqualTypeOf<"postgres" | "sqlite">();

const db = new Kysely<Database>({ dialect });
expectTypeOf(await db.selectFrom("people").select("name").execute()).toEqualTypeOf<{ name: string }[]>();
expectTypeOf(await db.insertInto("people").values({ name: "Ann" }).execute()).toEqualTypeOf<InsertResult[]>();
const found = db.transaction().execute((trx) => trx.selectFrom("people").select("id").executeTakeFirst());
expectTypeOf(found).toEqualTypeOf<Promise<{ id: number } | undefined>>();

// @ts-expect-error: no sidecar has this database
new TenonDialect({ dialect: "mysql" });
// @ts-expect-error: the dialect is not guessed
new TenonDialect({});
// @ts-expect-error: the dialect is not guessed
new TenonDialect();
// @ts-expect-error: a column that the table lacks
db.selectFrom("people").select("nam");
