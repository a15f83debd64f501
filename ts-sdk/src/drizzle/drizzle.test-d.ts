import { relations } from "drizzle-orm";
import * as pg from "drizzle-orm/pg-core";
import * as lite from "drizzle-orm/sqlite-core";
import { expectTypeOf } from "vitest";
import { drizzle, type RunResult, type TenonPgDatabase, type TenonSqliteDatabase } from "./index.ts";

const people = pg.pgTable("people", { id: pg.serial().primaryKey(), name: pg.text().notNull() });
const pets = pg.pgTable("pets", { id: pg.serial().primaryKey(), owner: pg.integer().notNull(), kind: pg.text() });
const peopleRelations = relations(people, ({ many }) => ({ pets: many(pets) }));
const petsRelations = relations(pets, ({ one }) => ({
  person: one(people, { fields: [pets.owner], references: [people.id] }),
}));
const schema = { people, pets, peopleRelations, petsRelations };
const items = lite.sqliteTable("items", { id: lite.integer().primaryKey(), photo: lite.blob({ mode: "buffer" }) });

const postgres = drizzle({ schema, dialect: "postgres" });
expectTypeOf(postgres).toEqualTypeOf<TenonPgDatabase<typeof schema>>();
expectTypeOf(await postgres.select().from(people)).toEqualTypeOf<{ id: number; name: string }[]>();
const found = await postgres.query.people.findFirst({ columns: { name: true }, with: { pets: true } });
expectTypeOf(found).toEqualTypeOf<
  { name: string; pets: { id: number; owner: number; kind: string | null }[] } | undefined
>();
const done = await postgres.batch([
  postgres.insert(people).values({ name: "Ann" }).returning({ id: people.id }),
  postgres.select({ kind: pets.kind }).from(pets),
]);
expectTypeOf(done).toEqualTypeOf<[{ id: number }[], { kind: string | null }[]]>();
const moved = postgres.transaction(async (tx) => (await tx.query.pets.findMany()).length, {
  isolationLevel: "serializable",
});
expectTypeOf(moved).toEqualTypeOf<Promise<number>>();

const sqlite = drizzle({ schema: { items }, dialect: "sqlite" });
expectTypeOf(sqlite).toEqualTypeOf<TenonSqliteDatabase<{ items: typeof items }>>();
expectTypeOf(await sqlite.insert(items).values({})).toEqualTypeOf<RunResult>();
expectTypeOf(await sqlite.query.items.findMany({ columns: { id: true } })).toEqualTypeOf<{ id: number }[]>();

// Without a schema there are no relational queries.
const plain = drizzle({ dialect: "sqlite" });
expectTypeOf(plain).toEqualTypeOf<TenonSqliteDatabase>();
// @ts-expect-error: there is no schema
plain.query.items.findMany();
// @ts-expect-error: no sidecar has this database
drizzle({ dialect: "mysql" });
// @ts-expect-error: the dialect is not guessed
drizzle({ schema });
// @ts-expect-error: a table that the schema lacks
postgres.query.items.findMany();
// @ts-expect-error: SQLite's tables are not PostgreSQL's
postgres.select().from(items);
// @ts-expect-error: no database has this isolation
postgres.transaction(async () => 1, { isolationLevel: "none" });
// @ts-expect-error: a batch has statements
postgres.batch([1]);
