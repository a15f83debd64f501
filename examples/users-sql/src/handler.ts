import {
  created,
  db,
  del,
  ensure,
  env,
  error,
  type FieldOperator,
  get,
  guard,
  type Infer,
  int,
  noContent,
  ok,
  pageInfo,
  parseFilter,
  patch,
  post,
  postgres,
  routes,
  SidecarError,
  type Statement,
  sqlCreate,
  sqlDelete,
  sqlite,
  sqlRead,
  sqlUpdate,
  str,
} from "@tenon/sdk";
import { Banner, Changes, NewUser, Search, User, UserId, Users } from "./users.ts";

type Row = Infer<typeof User>;

const columns = ["id", "name", "email", "age", "created_at"];

/** Operators that a client's filter may use: enough to find people, and too few to guess values. */
const allow: Record<string, readonly FieldOperator[]> = {
  name: ["$eq", "$in", "$starts_with", "$contains"],
  age: ["$eq", "$gt", "$gte", "$lt", "$lte", "$between"],
};

/** Newest first; `id` makes the order total. */
const order = { order: "-created_at", key: "id", notNull: ["created_at"] };

const dialect = () => (env("DIALECT") === "postgres" ? postgres : sqlite);

/** Returns the row of a statement, or undefined when it found none. */
async function one(statement: Statement): Promise<Row | undefined> {
  return (await db.query<Row>(statement))[0];
}

/** Runs a statement. Returns undefined when another user has the address. */
async function unlessTaken<T>(run: () => Promise<T>): Promise<T | undefined> {
  try {
    return await run();
  } catch (thrown) {
    // The code of SQL for a value that has to be unique.
    if (thrown instanceof SidecarError && thrown.sqlstate === "23505") return undefined;
    throw thrown;
  }
}

export default routes({
  /** Service banner. */
  index: get(["/", ""], { response: Banner }, () => ok({ service: "users-sql", message: "Users are at /users" })),

  /** List users, newest first: by a filter, one page at a time. */
  listUsers: get("/users", { query: Search, response: Users }, async ({ query }) => {
    const { filter, after, before, limit } = query;
    guard(after === undefined || before === undefined, 400, "take after or before, not both");
    const place = { after, before };
    const statement = ensure(
      () => {
        const merge = filter === undefined ? {} : { merge: parseFilter(filter), allow };
        return sqlRead(dialect(), "users", { select: columns, ...merge, ...order, ...place, limit: limit + 1 });
      },
      400,
      "the filter or the cursor is not valid",
    );
    const { rows, page } = pageInfo(await db.query<Row>(statement), { ...order, ...place, limit });
    return ok({ users: rows, page });
  }),

  /** Create a user. */
  createUser: post("/users", { body: NewUser, response: User, status: 201 }, async ({ body }) => {
    const { name, email = null, age = null } = body;
    const values = { name: str(name), email: str(email), age: int(age) };
    const user = await unlessTaken(() => one(sqlCreate(dialect(), "users", { ...values, returning: columns })));
    if (user === undefined) return error(409, "another user has this address");
    return created(`/users/${user.id}`, user);
  }),

  /** Get one user. */
  getUser: get("/users/{id}", { path: UserId, response: User }, async ({ path }) => {
    const user = await one(sqlRead(dialect(), "users", { select: columns, filter: { id: path.id } }));
    return ok(ensure(user, 404, "no such user"));
  }),

  /** Change some of a user. */
  changeUser: patch("/users/{id}", { path: UserId, body: Changes, response: User }, async ({ path, body }) => {
    const { name, email, age } = body;
    const set = {
      ...(name === undefined ? {} : { name }),
      ...(email === undefined ? {} : { email }),
      ...(age === undefined ? {} : { age }),
    };
    guard(Object.keys(set).length > 0, 400, "there is nothing to change");
    const statement = sqlUpdate(dialect(), "users", { set, filter: { id: path.id }, returning: columns });
    const rows = await unlessTaken(() => db.query<Row>(statement));
    if (rows === undefined) return error(409, "another user has this address");
    return ok(ensure(rows[0], 404, "no such user"));
  }),

  /** Delete a user. */
  deleteUser: del("/users/{id}", { path: UserId, status: 204 }, async ({ path }) => {
    const deleted = await db.execute(sqlDelete(dialect(), "users", { filter: { id: path.id } }));
    guard(deleted > 0, 404, "no such user");
    return noContent();
  }),
});
