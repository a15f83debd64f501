import { db, field, group, guard, noContent, sqlDelete } from "@tenon/sdk";
import { administrator } from "./auth.ts";
import { rows } from "./notes.ts";

export const admin = group("/admin", {
  /** Delete anybody's note. */
  remove: administrator.del("/notes/{id}", { path: { id: field.i32() }, status: 204 }, async ({ path: { id } }) => {
    guard((await db.execute(sqlDelete(rows, { filter: { id } }))) > 0, 404, "no such note");
    return noContent();
  }),
});
