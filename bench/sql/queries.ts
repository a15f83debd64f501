/** The same queries for Tenon and for Kysely. Both produce the same statement for the same input. */
import {
  DummyDriver,
  type ExpressionBuilder,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from "kysely";
import { Cursor, sqlCreate, sqlDelete, sqlRead, sqlUpdate } from "../../ts-sdk/src/sql/index.ts";

interface Schema {
  users: { id: number; name: string; age: number; active: boolean; created_at: string };
}

/** A query in both notations. `i` varies the values, so that results cannot be cached between runs. */
export interface Query {
  readonly name: string;
  tenon(i: number): readonly [string, readonly unknown[]];
  kysely(i: number): { readonly sql: string; readonly parameters: readonly unknown[] };
}

/** Returns the queries. Kysely only compiles them, like `sqlRead`; nothing is executed. */
export function queries(): Query[] {
  const db = new Kysely<Schema>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (k) => new PostgresIntrospector(k),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
  type Where = ExpressionBuilder<Schema, "users">;
  return [
    {
      name: "select by key",
      tenon: (i) => sqlRead("users", { select: ["id", "name"], filter: { id: i } }),
      kysely: (i) => db.selectFrom("users").select(["id", "name"]).where("id", "=", i).compile(),
    },
    {
      name: "list: filter, order, page",
      tenon: (i) =>
        sqlRead("users", {
          select: ["id", "name", "age"],
          filter: { active: true, age: { $gte: i, $lt: 65 }, name: { $in: ["a", "b", "c"] } },
          order: ["-created_at", "name"],
          limit: 20,
          page: 3,
        }),
      kysely: (i) =>
        db
          .selectFrom("users")
          .select(["id", "name", "age"])
          .where("active", "=", true)
          .where("age", ">=", i)
          .where("age", "<", 65)
          .where("name", "in", ["a", "b", "c"])
          .orderBy("created_at", "desc")
          .orderBy("name", "asc")
          .limit(20)
          .offset(40)
          .compile(),
    },
    {
      name: "nested: $or, $and, $not",
      tenon: (i) =>
        sqlRead("users", {
          filter: {
            active: true,
            $or: [{ age: { $gt: i } }, { $and: [{ name: "x" }, { $not: { age: { $lt: 3 } } }] }],
          },
        }),
      kysely: (i) =>
        db
          .selectFrom("users")
          .selectAll()
          .where("active", "=", true)
          .where((eb: Where) => eb.or([eb("age", ">", i), eb.and([eb("name", "=", "x"), eb.not(eb("age", "<", 3))])]))
          .compile(),
    },
    {
      name: "merged user filter (Kysely: the same conditions, unchecked)",
      tenon: (i) =>
        sqlRead("users", {
          filter: { active: true },
          merge: { age: { $gte: i, $lt: 65 }, $or: [{ name: "x" }, { name: "y" }] },
          allow: ["age", "name"],
          denyOps: ["$like"],
        }),
      kysely: (i) =>
        db
          .selectFrom("users")
          .selectAll()
          .where("active", "=", true)
          .where((eb: Where) =>
            eb.and([eb("age", ">=", i), eb("age", "<", 65), eb.or([eb("name", "=", "x"), eb("name", "=", "y")])]),
          )
          .compile(),
    },
    {
      name: "keyset, mixed (with the cursor's decoding; Kysely: the conditions by hand)",
      tenon: (i) =>
        sqlRead("users", {
          order: ["-created_at", "id"],
          limit: 20,
          after: cursors[i % cursors.length],
          notNull: ["created_at", "id"],
        }),
      kysely: (i) =>
        db
          .selectFrom("users")
          .selectAll()
          .where("created_at", "<=", "2026-01-01")
          .where((eb: Where) =>
            eb.or([
              eb("created_at", "<", "2026-01-01"),
              eb.and([eb("created_at", "=", "2026-01-01"), eb("id", ">", i)]),
            ]),
          )
          .orderBy("created_at", "desc")
          .orderBy("id", "asc")
          .limit(20)
          .compile(),
    },
    {
      name: "insert",
      tenon: (i) => sqlCreate("users", { name: "x", age: i, active: true, returning: ["id"] }),
      kysely: (i) =>
        db
          .insertInto("users")
          .values({ name: "x", age: i, active: true } as never)
          .returning("id")
          .compile(),
    },
    {
      name: "update",
      tenon: (i) => sqlUpdate("users", { set: { name: "x", age: i }, filter: { id: i } }),
      kysely: (i) => db.updateTable("users").set({ name: "x", age: i }).where("id", "=", i).compile(),
    },
    {
      name: "delete",
      tenon: (i) => sqlDelete("users", { filter: { id: i } }),
      kysely: (i) => db.deleteFrom("users").where("id", "=", i).compile(),
    },
  ];
}

const cursors = Array.from({ length: 64 }, (_, i) =>
  new Cursor().string("created_at", "2026-01-01").int("id", i).encode(),
);
