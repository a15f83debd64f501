/** The routes of `bench/routes`: one for each typical task of a handler. `peer.mjs` has the same ones. */
import {
  cache,
  db,
  ensure,
  env,
  field,
  get,
  httpClient,
  list,
  ok,
  Path,
  post,
  random,
  respond,
  routes,
  Type,
  time,
} from "@tenon/sdk";

const Id = Path("Id", { id: field.u32() });
const Item = Type("Item", {
  sku: field.string({ min: 1, max: 32 }),
  name: field.string({ max: 100 }),
  quantity: field.u32({ min: 1, max: 1000 }),
  price: field.f64({ min: 0 }),
});
const Order = Type("Order", { items: list(Item) });

interface User {
  id: number;
  name: string;
  email: string;
  age: number;
}

const user = async (id: number) =>
  (await db.query<User>(["SELECT id, name, email, age FROM users WHERE id = $1", [id]]))[0];

/** Makes a list that is some 20 KB of JSON. */
const objects = () =>
  Array.from({ length: 200 }, (_, id) => ({
    id,
    name: `user ${id}`,
    email: `user${id}@example.com`,
    active: id % 2 === 0,
  }));

const escaped = (text: string) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

export default routes({
  plain: get("/plain", () => ok({ message: "hello", n: 1 })),
  log: get("/log", () => {
    console.log("a line of the log");
    return ok({ message: "hello", n: 1 });
  }),
  values: get("/values", () => ok({ time: time.nowIso(), id: random.uuid() })),
  sleep: get("/timer", async () => {
    await new Promise((done) => setTimeout(done, 1));
    return ok({ message: "hello", n: 1 });
  }),
  call: get("/call", async () => ok({ status: (await httpClient.get(`${env("SIDECAR_ECHO_URL")}/x`)).status })),
  cached: get("/cached", async () => ok({ value: ensure(await cache.get("greeting"), 404, "nothing").text() })),
  row: get("/row/{id}", { path: Id }, async ({ path }) => ok(ensure(await user(path.id), 404, "no such user"))),
  rows: get("/rows/{id}", { path: Id }, async ({ path: { id } }) =>
    ok(await Promise.all([user(id), user(id + 1), user(id + 2)])),
  ),
  items: post("/items", { body: Order }, ({ body }) =>
    ok({ count: body.items.length, total: body.items.reduce((sum, item) => sum + item.price * item.quantity, 0) }),
  ),
  hmac: get("/hmac", async () => {
    const key = await crypto.subtle.importKey(
      "raw",
      new TextEncoder().encode("a key of thirty-two bytes, or so."),
      { name: "HMAC", hash: "SHA-256" },
      false,
      ["sign"],
    );
    const signed = await crypto.subtle.sign("HMAC", key, new TextEncoder().encode("the message that is signed"));
    return ok({ signature: Array.from(new Uint8Array(signed), (byte) => byte.toString(16).padStart(2, "0")).join("") });
  }),
  objects: get("/objects", () => ok(objects())),
  html: get("/html", () => {
    const rows = Array.from(
      { length: 60 },
      (_, n) => `<tr><td>${n}</td><td>${escaped(`<user ${n}> & "friends"`)}</td></tr>`,
    );
    const body = `<!doctype html><title>Users</title><table>${rows.join("\n")}</table>`;
    return respond(200, { headers: { "content-type": "text/html; charset=utf-8" }, body });
  }),
  loop: get("/loop", () => {
    let sum = 0;
    for (let i = 0; i < 100_000; i++) sum = (sum + i * i) % 1_000_003;
    return ok({ sum });
  }),
});
