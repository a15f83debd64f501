import { Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import { administrators, named, token } from "./auth.ts";
import { query } from "./database.ts";
import { valid } from "./errors.ts";
import { Path } from "./notes.ts";

export const admin = new Hono()
  .use(token, named, administrators)
  .delete("/notes/:id", valid("param", Path), async (c) => {
    const { rowCount } = await query("DELETE FROM notes WHERE id = $1", [c.req.valid("param").id]);
    if (rowCount === 0) throw new HTTPException(404, { message: "no such note" });
    return c.body(null, 204);
  });
