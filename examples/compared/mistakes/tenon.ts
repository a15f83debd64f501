/**
 * Mistakes in Tenon; `hono.ts` has the same ones. A test compiles both: the compiler's errors are marked as expected.
 */
import {
  bearer,
  error,
  field,
  get,
  middleware,
  ok,
  post,
  routes,
  sqlCreate,
  sqlRead,
  Type,
  table,
  use,
} from "@tenon/sdk";
import { client } from "@tenon/sdk/client";

const User = Type("User", { id: field.u32(), name: field.string(), note: field.string().nullable() });
const NewUser = Type("NewUser", { name: field.string() });
const users = table(User);
const signedIn = bearer(() => ({ name: "Ada" }));
const admins = middleware((_req, next, { user }: { user: { name: string } }) =>
  user.name === "Ada" ? next() : error(403, "for Ada only"),
);
const app = routes({ create: post("/users", { body: NewUser, response: NewUser }, ({ body }) => ok(body)) });
const api = client<typeof app>("https://api.example");

// Mistake: A handler reads a field that the declared body lacks
post("/users", { body: NewUser }, ({ body }) =>
  // @ts-expect-error
  ok({ hello: body.nmae }),
);

// Mistake: A constraint of a schema is misspelt
// @ts-expect-error
field.string({ maximum: 3 });

// Mistake: A client sends a body of another shape
// @ts-expect-error
api.create({ body: { title: "x" } });

// Mistake: A client calls a route that does not exist
// @ts-expect-error
api.remove();

// Mistake: A handler uses the user of a middleware that its route lacks
// @ts-expect-error
routes({ me: get("/me", (_input, _req, { user }) => ok({ name: user.name })) });

// Mistake: A middleware runs before the one whose user it needs
// @ts-expect-error
use(admins, signedIn);

// Mistake: The schema of a path has another name than the placeholder
// @ts-expect-error
get("/users/{id}", { path: { ident: field.u32() } }, ({ path }) => ok({ id: path.ident }));

// Mistake: An answer lacks a field that clients rely on
// @ts-expect-error
get("/users/{id}", { path: { id: field.u32() }, response: User }, ({ path: { id } }) => ok({ id, name: "Ada" }));

// Mistake: A route answers with a success status that it does not declare
// @ts-expect-error
post("/users", { body: NewUser, response: NewUser, status: 201 }, ({ body }) => ok(body));

// Mistake: A branch of a handler answers nothing
// @ts-expect-error
post("/users", { body: NewUser }, ({ body }) => {
  if (body.name === "Ada") return ok(body);
});

// Mistake: A filter names a column that the table lacks
// @ts-expect-error
sqlRead(users, { filter: { nmae: "Ada" } });

// Mistake: A text is inserted into a column of numbers
// @ts-expect-error
sqlCreate(users, [{ id: "one", name: "Ada", note: null }]);

// Mistake: A column that is never NULL is given null
// @ts-expect-error
sqlCreate(users, [{ id: 1, name: null, note: null }]);
