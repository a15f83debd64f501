import {
  created,
  db,
  ensure,
  field,
  group,
  type Infer,
  list,
  ok,
  pick,
  sqlCreate,
  sqlRead,
  Type,
  table,
} from "@tenon/sdk";
import { signedIn } from "./auth.ts";

const Note = Type("Note", {
  id: field.i32(),
  author: field.string(),
  title: field.string({ min: 1, max: 100 }),
  text: field.string({ max: 10_000 }),
});
const NewNote = pick(Note, ["title", "text"]);
const path = { id: field.i32() };

export const rows = table(Note);
const returning = ["id", "author", "title", "text"] as const;

export const notes = group("/notes", {
  /** The author's own notes, the newest first. */
  mine: signedIn.get("", { response: list(Note) }, async (_input, _req, { author }) =>
    ok(await db.query<Infer<typeof Note>>(sqlRead(rows, { filter: { author }, order: "-id", limit: 100 }))),
  ),

  /** Write a note. */
  create: signedIn.post("", { body: NewNote, response: Note, status: 201 }, async ({ body }, req, { author }) => {
    const [note] = await db.query<Infer<typeof Note>>(sqlCreate(rows, [{ ...body, author }], { returning }));
    const { id } = ensure(note, 500, "the note is not there");
    return created(`${req.base}/api/v1/notes/${id}`, { ...body, author, id });
  }),

  /** One of the author's notes. */
  one: signedIn.get("/{id}", { path, response: Note }, async ({ path: { id } }, _req, { author }) => {
    const [note] = await db.query<Infer<typeof Note>>(sqlRead(rows, { filter: { id, author } }));
    return ok(ensure(note, 404, "no such note"));
  }),
});
