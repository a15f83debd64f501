// The handler of examples/hello on Hono, for Node (bench/serve/hono.mjs) and for Tenon.
import { Hono } from "hono";

const app = new Hono();
app.get("/hello/:name", (c) => c.json({ greeting: `Hello, ${c.req.param("name")}!` }));
app.post("/users", async (c) => {
  const { name } = await c.req.json();
  if (typeof name !== "string" || name === "") return c.json({ status: 400 }, 400);
  return c.json({ id: 1, name }, 201, { location: "/users/1" });
});
app.get("/search", (c) => {
  const { q, page = "1", limit = "20" } = c.req.query();
  return c.json({ ...(q === undefined ? {} : { query: q }), page: Number(page), limit: Number(limit) });
});

export default app;
