import { Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import { z } from "zod";
import { named, token } from "./auth.ts";
import { query } from "./database.ts";
import { valid } from "./errors.ts";

const Note = z.object({
  id: z.int32(),
  author: z.string(),
  title: z.string().min(1).max(100),
  text: z.string().max(10_000),
});
const NewNote = Note.pick({ title: true, text: true });
export const Path = z.object({ id: z.coerce.number().pipe(z.int32()) });

export const notes = new Hono()
  .use(token, named)
  .get("/", async (c) => {
    const select = "SELECT id, author, title, text FROM notes WHERE author = $1 ORDER BY id DESC LIMIT 100";
    return c.json((await query<z.infer<typeof Note>>(select, [c.get("author")])).rows);
  })
  .post("/", valid("json", NewNote), async (c) => {
    const { title, text } = c.req.valid("json");
    const insert = "INSERT INTO notes (author, title, text) VALUES ($1, $2, $3) RETURNING id, author, title, text";
    const [note] = (await query<z.infer<typeof Note>>(insert, [c.get("author"), title, text])).rows;
    if (note === undefined) throw new HTTPException(500);
    return c.json(note, 201, { location: `/api/v1/notes/${note.id}` });
  })
  .get("/:id", valid("param", Path), async (c) => {
    const select = "SELECT id, author, title, text FROM notes WHERE id = $1 AND author = $2";
    const [note] = (await query<z.infer<typeof Note>>(select, [c.req.valid("param").id, c.get("author")])).rows;
    if (note === undefined) throw new HTTPException(404, { message: "no such note" });
    return c.json(note);
  });
