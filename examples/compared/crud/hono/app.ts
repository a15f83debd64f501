/** Contacts in PostgreSQL: listed in pages, created, read, changed and deleted. */
import { zValidator } from "@hono/zod-validator";
import { Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import pg from "pg";
import { z } from "zod";

const Contact = z.object({
  id: z.int32(),
  name: z.string().min(1).max(100),
  email: z.email(),
  note: z.string().max(1000).nullable(),
});
const NewContact = Contact.omit({ id: true });
const Path = z.object({ id: z.coerce.number().pipe(z.int32()) });

const Key = z.tuple([z.string(), z.int32()]);
const cursor = (name: string, id: number) => Buffer.from(JSON.stringify([name, id])).toString("base64url");
const Cursor = z.string().transform((text, context) => {
  try {
    return Key.parse(JSON.parse(Buffer.from(text, "base64url").toString()));
  } catch {
    context.addIssue("after is not a cursor");
    return z.NEVER;
  }
});
const Query = z.object({
  after: Cursor.optional(),
  limit: z.coerce.number().pipe(z.int().min(1).max(100)).default(20),
});

const pool = new pg.Pool({ connectionString: process.env["DATABASE_URL"] });
const columns = "id, name, email, note";

async function one(sql: string, params: unknown[]) {
  const [contact] = (await pool.query<z.infer<typeof Contact>>(sql, params)).rows;
  if (contact === undefined) throw new HTTPException(404, { message: "no such contact" });
  return contact;
}

const app = new Hono()
  .get("/contacts", zValidator("query", Query), async (c) => {
    const { after, limit } = c.req.valid("query");
    const from = after === undefined ? "" : "WHERE (name, id) > ($2, $3)";
    const { rows } = await pool.query<z.infer<typeof Contact>>(
      `SELECT ${columns} FROM contacts ${from} ORDER BY name, id LIMIT $1`,
      [limit + 1, ...(after ?? [])],
    );
    const counted = await pool.query<{ total: number }>("SELECT COUNT(*)::int AS total FROM contacts");
    const contacts = rows.slice(0, limit);
    const last = contacts.at(-1);
    const next = rows.length > limit && last !== undefined ? cursor(last.name, last.id) : null;
    return c.json({ contacts, next, total: counted.rows[0]?.total });
  })
  .post("/contacts", zValidator("json", NewContact), async (c) => {
    const { name, email, note } = c.req.valid("json");
    const insert = `INSERT INTO contacts (name, email, note) VALUES ($1, $2, $3) RETURNING ${columns}`;
    const contact = await one(insert, [name, email, note]);
    return c.json(contact, 201, { location: `/contacts/${contact.id}` });
  })
  .get("/contacts/:id", zValidator("param", Path), async (c) =>
    c.json(await one(`SELECT ${columns} FROM contacts WHERE id = $1`, [c.req.valid("param").id])),
  )
  .patch("/contacts/:id", zValidator("param", Path), zValidator("json", NewContact.partial()), async (c) => {
    const body = c.req.valid("json");
    const set = Object.keys(body).map((column, i) => `${column} = $${i + 2}`);
    if (set.length === 0) throw new HTTPException(400, { message: "there is nothing to change" });
    const update = `UPDATE contacts SET ${set.join(", ")} WHERE id = $1 RETURNING ${columns}`;
    return c.json(await one(update, [c.req.valid("param").id, ...Object.values(body)]));
  })
  .delete("/contacts/:id", zValidator("param", Path), async (c) => {
    const { rowCount } = await pool.query("DELETE FROM contacts WHERE id = $1", [c.req.valid("param").id]);
    if (rowCount === 0) throw new HTTPException(404, { message: "no such contact" });
    return c.body(null, 204);
  });

app.onError((thrown, c) => {
  if (thrown instanceof HTTPException) return thrown.getResponse();
  if (thrown instanceof pg.DatabaseError && thrown.code === "23505") return c.text("the email is taken", 409);
  // biome-ignore lint/suspicious/noConsole: the log of a server
  console.error(thrown);
  return c.text("Internal Server Error", 500);
});

export default app;
