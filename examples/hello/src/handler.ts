import {
  created,
  del,
  ensure,
  field,
  get,
  guard,
  list,
  noContent,
  ok,
  Path,
  parseFilter,
  post,
  Query,
  routes,
  sqlRead,
  Type,
} from "@tenon/sdk";

export const Banner = Type("Banner", { service: field.string(), message: field.string() });
export const Health = Type("Health", { status: field.string() });
export const User = Type("User", { id: field.u32(), name: field.string({ docs: "Display name" }) });
export const Users = Type("Users", { users: list(User), page: field.u32(), limit: field.u32() });
export const NewUser = Type("NewUser", {
  name: field.string({ max: 100 }),
  email: field.string({ format: "email" }).nullish(),
});
export const Greeting = Type("Greeting", { greeting: field.string() });
export const Found = Type("Found", { query: field.string().nullish(), page: field.u32(), limit: field.u32() });

export const UserId = Path("UserId", { id: field.u32() });
export const Name = Path("Name", { name: field.string() });
export const Page = Query("Page", {
  page: field.u32({ default: 1, min: 1 }),
  limit: field.u32({ default: 10, max: 100 }),
});
export const Search = Query("Search", {
  q: field.string().optional(),
  page: field.u32({ default: 1, min: 1 }),
  limit: field.u32({ default: 20, max: 100 }),
});

// Every request gets an instance of its own, so a change of this data is not visible to the next request. Lasting data
// belongs in a database, which a handler reaches through a sidecar.
const users = Array.from({ length: 50 }, (_, index) => ({ id: index + 1, name: `User ${index + 1}` }));
let lastId = users.length;

export default routes({
  /** Service banner. */
  index: get(["/", ""], { response: Banner }, () => ok({ service: "hello", message: "Welcome" })),

  /** Health of the service. */
  health: get("/health", { response: Health }, () => ok({ status: "ok" })),

  /** List users, one page at a time. */
  listUsers: get("/users", { query: Page, response: Users }, ({ query: { page, limit } }) =>
    ok({ users: users.slice((page - 1) * limit, page * limit), page, limit }),
  ),

  /** Create a user. */
  createUser: post("/users", { body: NewUser, response: User, status: 201 }, ({ body }) => {
    guard(body.name !== "", 400, "name must not be empty");
    const user = { id: ++lastId, name: body.name };
    users.push(user);
    return created(`/users/${user.id}`, user);
  }),

  /** Get one user. */
  getUser: get("/users/{id}", { path: UserId, response: User }, ({ path }) =>
    ok(
      ensure(
        users.find((user) => user.id === path.id),
        404,
        "no such user",
      ),
    ),
  ),

  /** Delete a user. */
  deleteUser: del("/users/{id}", { path: UserId, status: 204 }, ({ path }) => {
    const index = users.findIndex((user) => user.id === path.id);
    guard(index >= 0, 404, "no such user");
    users.splice(index, 1);
    return noContent();
  }),

  /** Greet somebody. */
  greet: get("/hello/{name}", { path: Name, response: Greeting }, ({ path }) =>
    ok({ greeting: `Hello, ${path.name}!` }),
  ),

  /** Search; the answer repeats the query. */
  search: get("/search", { query: Search, response: Found }, ({ query: { q, page, limit } }) =>
    ok({ query: q ?? null, page, limit }),
  ),

  /** Search users by a filter, such as {"name":{"$starts_with":"A"}}; the answer is the statement for a database sidecar. */
  searchUsers: post("/users/search", { query: Page }, ({ query }, req) => {
    const filter = ensure(
      () => parseFilter(ensure(req.text(), 400, "the body must be a filter")),
      400,
      "invalid filter",
    );
    const [sql, params] = ensure(
      () => sqlRead("users", { select: ["id", "name"], merge: filter, allow: ["id", "name"], order: "id", ...query }),
      400,
      "the filter may use id and name only",
    );
    return ok({ sql, params, ...query });
  }),
});
