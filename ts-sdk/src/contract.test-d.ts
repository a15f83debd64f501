import {
  created,
  del,
  ensure,
  field,
  get,
  guard,
  type Infer,
  list,
  noContent,
  ok,
  Path,
  post,
  Query,
  routes,
  Type,
} from "./index.ts";

// The contract's example, as it stands there.

export const User = Type("User", { id: field.u32(), name: field.string({ docs: "Display name" }) });
export const Users = Type("Users", { users: list(User), page: field.u32(), limit: field.u32() });
export const NewUser = Type("NewUser", {
  name: field.string({ max: 100 }),
  email: field.string({ format: "email" }).optional(),
});
export const UserId = Path("UserId", { id: field.u32() });
export const Page = Query("Page", { page: field.u32({ default: 1 }), limit: field.u32({ default: 10, max: 100 }) });

declare function find(id: number): Promise<Infer<typeof User> | undefined>;

export default routes({
  /** Service banner. */
  index: get(["/", ""], () => ok({ service: "hello", message: "Welcome" })),
  /** List users, one page at a time. */
  listUsers: get("/users", { query: Page, response: Users }, ({ query }) => ok({ users: [], ...query })),
  createUser: post("/users", { body: NewUser, response: User, status: 201 }, ({ body }, req) => {
    guard(body.name !== "", 400, "name must not be empty");
    guard(req.method === "POST", 400, "");
    return created("/users/1", { id: 1, name: body.name });
  }),
  getUser: get("/users/{id}", { path: UserId, response: User }, async ({ path }) =>
    ok(ensure(await find(path.id), 404, "no such user")),
  ),
  deleteUser: del("/users/{id}", { path: UserId, status: 204, deprecated: true }, () => noContent()),
});
