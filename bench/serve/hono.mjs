// The handler of examples/hello on Node and Hono, as the peer in bench/serve.
import { serve } from "@hono/node-server";
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
const server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) =>
  console.log(`http://127.0.0.1:${port}`),
);
process.on("SIGTERM", () => server.close());
