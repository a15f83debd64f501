/** Contacts in PostgreSQL: listed in pages, created, read, changed and deleted. */
import {
  created,
  db,
  del,
  ensure,
  error,
  field,
  get,
  guard,
  type Infer,
  list,
  noContent,
  ok,
  omit,
  pageInfo,
  partial,
  patch,
  post,
  routes,
  SidecarError,
  type Statement,
  sqlCount,
  sqlCreate,
  sqlDelete,
  sqlRead,
  sqlUpdate,
  Type,
  table,
} from "@tenon/sdk";

const Contact = Type("Contact", {
  id: field.i32(),
  name: field.string({ min: 1, max: 100 }),
  email: field.string({ format: "email" }),
  note: field.string({ max: 1000 }).nullable(),
});
const NewContact = omit(Contact, ["id"]);
const Contacts = Type("Contacts", { contacts: list(Contact), next: field.string().nullable(), total: field.u32() });
const query = { after: field.string().optional(), limit: field.u32({ default: 20, min: 1, max: 100 }) };
const path = { id: field.i32() };

const rows = table(Contact);
const order = { order: "name", key: "id" } as const;
const returning = ["id", "name", "email", "note"] as const;

const one = async (statement: Statement) =>
  ensure((await db.query<Infer<typeof Contact>>(statement))[0], 404, "no such contact");

export default routes(
  {
    /** List contacts by name, one page at a time. */
    list: get("/contacts", { query, response: Contacts }, async ({ query: { after, limit } }) => {
      const read = ensure(() => sqlRead(rows, { ...order, after, limit: limit + 1 }), 400, "after is not a cursor");
      const found = await db.query<Infer<typeof Contact>>(read);
      const [counted] = await db.query<{ count: number }>(sqlCount(rows));
      const { rows: contacts, page } = pageInfo(found, { ...order, after, limit });
      return ok({ contacts, next: page.next_cursor, total: Number(counted?.count) });
    }),

    /** Create a contact. */
    create: post("/contacts", { body: NewContact, response: Contact, status: 201 }, async ({ body }) => {
      const contact = await one(sqlCreate(rows, [body], { returning }));
      return created(`/contacts/${contact.id}`, contact);
    }),

    /** Get one contact. */
    read: get("/contacts/{id}", { path, response: Contact }, async ({ path: { id } }) =>
      ok(await one(sqlRead(rows, { filter: { id } }))),
    ),

    /** Change some of a contact. */
    change: patch("/contacts/{id}", { path, body: partial(NewContact), response: Contact }, async ({ path, body }) => {
      guard(Object.keys(body).length > 0, 400, "there is nothing to change");
      return ok(await one(sqlUpdate(rows, { set: body, filter: { id: path.id }, returning })));
    }),

    /** Delete a contact. */
    remove: del("/contacts/{id}", { path, status: 204 }, async ({ path: { id } }) => {
      guard((await db.execute(sqlDelete(rows, { filter: { id } }))) > 0, 404, "no such contact");
      return noContent();
    }),
  },
  {
    onError: (thrown) =>
      thrown instanceof SidecarError && thrown.sqlstate === "23505" ? error(409, "the email is taken") : undefined,
  },
);
