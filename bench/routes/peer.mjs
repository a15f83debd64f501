// The routes of src/handler.ts on Node with Hono, pg and Zod, for bench/routes to compare with.
// Prints its address. PGHOST names the database's socket, ECHO the trivial service.
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import pg from "pg";
import { z } from "zod";

const pool = new pg.Pool({ host: process.env.PGHOST, user: "tenon", database: "postgres", max: 10 });
const user = async (id) => {
  const { rows } = await pool.query("SELECT id, name, email, age FROM users WHERE id = $1", [id]);
  return rows[0];
};
const Order = z.object({
  items: z.array(
    z.object({
      sku: z.string().min(1).max(32),
      name: z.string().max(100),
      quantity: z.int().min(1).max(1000),
      price: z.number().min(0),
    }),
  ),
});
const objects = () =>
  Array.from({ length: 200 }, (_, id) => ({
    id,
    name: `user ${id}`,
    email: `user${id}@example.com`,
    active: id % 2 === 0,
  }));
const escaped = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

const app = new Hono();
app.get("/plain", (c) => c.json({ message: "hello", n: 1 }));
app.get("/log", (c) => {
  console.error("a line of the log");
  return c.json({ message: "hello", n: 1 });
});
app.get("/values", (c) => c.json({ time: new Date().toISOString(), id: crypto.randomUUID() }));
app.get("/timer", async (c) => {
  await new Promise((done) => setTimeout(done, 1));
  return c.json({ message: "hello", n: 1 });
});
app.get("/call", async (c) => c.json({ status: (await fetch(`${process.env.ECHO}/x`)).status }));
app.get("/row/:id", async (c) => {
  const found = await user(Number(c.req.param("id")));
  return found === undefined ? c.json({ status: 404 }, 404) : c.json(found);
});
app.get("/rows/:id", async (c) => {
  const id = Number(c.req.param("id"));
  return c.json(await Promise.all([user(id), user(id + 1), user(id + 2)]));
});
app.post("/items", async (c) => {
  const body = Order.safeParse(await c.req.json());
  if (!body.success) return c.json({ status: 400 }, 400);
  const { items } = body.data;
  return c.json({ count: items.length, total: items.reduce((sum, item) => sum + item.price * item.quantity, 0) });
});
app.get("/hmac", async (c) => {
  const key = await crypto.subtle.importKey(
    "raw",
    new TextEncoder().encode("a key of thirty-two bytes, or so."),
    { name: "HMAC", hash: "SHA-256" },
    false,
    ["sign"],
  );
  const signed = await crypto.subtle.sign("HMAC", key, new TextEncoder().encode("the message that is signed"));
  return c.json({ signature: Buffer.from(signed).toString("hex") });
});
app.get("/objects", (c) => c.json(objects()));
app.get("/html", (c) => {
  const rows = Array.from(
    { length: 60 },
    (_, n) => `<tr><td>${n}</td><td>${escaped(`<user ${n}> & "friends"`)}</td></tr>`,
  );
  return c.html(`<!doctype html><title>Users</title><table>${rows.join("\n")}</table>`);
});
app.get("/loop", (c) => {
  let sum = 0;
  for (let i = 0; i < 100_000; i++) sum = (sum + i * i) % 1_000_003;
  return c.json({ sum });
});
const server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) =>
  console.log(`http://127.0.0.1:${port}`),
);
process.on("SIGTERM", () => server.close());
