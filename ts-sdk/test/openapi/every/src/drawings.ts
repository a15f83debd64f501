import { field, get, group, list, noContent, ok, patch, post, put } from "@tenon/sdk";
import { Drawing, DrawingPatch, Drawings, SignedDrawing } from "./schemas.ts";

const page = { has_next: false, has_prev: false, next_cursor: null, prev_cursor: null };
const at = { id: field.u32({ min: 1, docs: "Number" }) };

/** Routes with unions, records, null, and Types that are made of others. */
export const drawings = group("/drawings", {
  /** List drawings; the fields of the query stand at the route. */
  listDrawings: get(
    "",
    {
      query: {
        after: field.string({ max: 40, docs: "A cursor" }).optional(),
        sides: list(field.u32(), { max: 3 }).optional(),
      },
      response: Drawings,
    },
    () => ok({ drawings: [], page }),
  ),
  /** Sign a drawing. */
  signDrawing: post("", { body: Drawing, response: SignedDrawing, status: 200 }, ({ body }) =>
    ok({ ...body, by: "ada" }),
  ),
  /** Change what is given of a drawing; null clears its title. */
  changeDrawing: patch("/{id}", { path: at, body: DrawingPatch, response: DrawingPatch }, ({ body }) => ok(body)),
  /** Put a drawing in the place of another, or null to remove it. */
  replaceDrawing: put("/{id}", { path: at, body: Drawing.nullable(), status: 204 }, () => noContent()),
});
