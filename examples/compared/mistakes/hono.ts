/** The mistakes of `tenon.ts` in Hono with Zod and `pg`. */
import { zValidator } from "@hono/zod-validator";
import { Hono } from "hono";
import { hc } from "hono/client";
import { createMiddleware } from "hono/factory";
import { HTTPException } from "hono/http-exception";
import pg from "pg";
import { z } from "zod";

const NewUser = z.object({ name: z.string() });
const pool = new pg.Pool();
type WithUser = { Variables: { user: { name: string } } };
const signedIn = createMiddleware<WithUser>(async (c, next) => {
  c.set("user", { name: "Ada" });
  await next();
});
const admins = createMiddleware<WithUser>(async (c, next) => {
  if (c.get("user").name !== "Ada") throw new HTTPException(403);
  await next();
});
const app = new Hono().post("/users", zValidator("json", NewUser), (c) => c.json(c.req.valid("json")));
const api = hc<typeof app>("https://api.example");

// Mistake: A handler reads a field that the declared body lacks
new Hono().post("/users", zValidator("json", NewUser), (c) =>
  // @ts-expect-error
  c.json({ hello: c.req.valid("json").nmae }),
);

// Mistake: A constraint of a schema is misspelt
// @ts-expect-error
z.string().maximum(3);

// Mistake: A client sends a body of another shape
// @ts-expect-error
api.users.$post({ json: { title: "x" } });

// Mistake: A client calls a route that does not exist
// @ts-expect-error
api.users.$delete();

// Mistake: A handler uses the user of a middleware that its route lacks
new Hono().get("/me", (c) =>
  // @ts-expect-error
  c.json({ name: c.get("user").name }),
);

// Mistake: A middleware runs before the one whose user it needs
new Hono().use(admins, signedIn);

// Mistake: The schema of a path has another name than the placeholder
new Hono().get("/users/:id", zValidator("param", z.object({ ident: z.coerce.number() })), (c) =>
  c.json({ id: c.req.valid("param").ident }),
);

// Mistake: An answer lacks a field that clients rely on
new Hono().get("/users/:id", zValidator("param", z.object({ id: z.coerce.number() })), (c) =>
  c.json({ id: c.req.valid("param").id, name: "Ada" }),
);

// Mistake: A route answers with a success status that it does not declare
new Hono().post("/users", zValidator("json", NewUser), (c) => c.json(c.req.valid("json")));

// Mistake: A branch of a handler answers nothing
// @ts-expect-error
new Hono().post("/users", zValidator("json", NewUser), (c) => {
  if (c.req.valid("json").name === "Ada") return c.json({});
});

// Mistake: A filter names a column that the table lacks
pool.query("SELECT id, name FROM users WHERE nmae = $1", ["Ada"]);

// Mistake: A text is inserted into a column of numbers
pool.query("INSERT INTO users (id, name, note) VALUES ($1, $2, $3)", ["one", "Ada", null]);

// Mistake: A column that is never NULL is given null
pool.query("INSERT INTO users (id, name, note) VALUES ($1, $2, $3)", [1, null, null]);
