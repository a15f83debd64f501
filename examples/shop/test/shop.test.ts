import { createHmac } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { client } from "@tenon/sdk/client";
import { testApp } from "@tenon/sdk/testing";
import { migrate, Services, Sidecar } from "tenon";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import app from "../src/handler.ts";

const secrets = { JWT: "a key of at least thirty-two bytes…", STRIPE: "whsec_of_stripe" };
const folder = mkdtempSync(join(tmpdir(), "shop-"));
/** The development services' SQLite, or the PostgreSQL of DATABASE_URL. */
const store = process.env["DATABASE_URL"]?.startsWith("postgres") ? process.env["DATABASE_URL"] : undefined;
const dialect = store === undefined ? "sqlite" : "postgres";
let services: Services;
let database: Services | Sidecar;
let api: ReturnType<typeof testApp>;

beforeAll(async () => {
  services = await Services.start({ folder });
  database = services;
  let db = services.url;
  if (store !== undefined) {
    const sidecar = await Sidecar.start({ kind: "sql", url: store, listen: "127.0.0.1:0", logLevel: "warn" });
    database = sidecar;
    db = sidecar.address;
  }
  await migrate({ address: db, folder: fileURLToPath(new URL("../migrations", import.meta.url)) });
  api = testApp(app, { env: { SIDECAR_DB_URL: db, SIDECAR_STORAGE_URL: services.url, DIALECT: dialect }, secrets });
});
afterAll(async () => {
  if (database !== services) await database.close();
  await services.close();
  rmSync(folder, { recursive: true });
});

function token(claims: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const signed = `${part({ alg: "HS256" })}.${part({ iss: "shop", ...claims })}`;
  return `${signed}.${createHmac("sha256", secrets.JWT).update(signed).digest("base64url")}`;
}

/** Returns the shop's API for a customer with these claims, or for anyone without a token. */
const as = (claims?: object) =>
  client<typeof app>(api, claims === undefined ? {} : { headers: { authorization: `Bearer ${token(claims)}` } });
const admin = () => as({ sub: "Grace", role: "admin" });
const ada = () => as({ sub: "Ada" });

async function addProduct(name: string, price = 100): Promise<number> {
  const added = await admin().products.create({ body: { name, price, note: null } });
  if (!added.ok) throw new Error(added.problem.detail);
  return added.data.id;
}

describe("products", () => {
  test("come by name, in pages, with the number of all", async () => {
    for (const name of ["pen", "ink", "cap"]) await addProduct(name);
    const first = await as().products.list({ query: { limit: 2 } });
    if (!first.ok) throw new Error(first.problem.detail);
    expect(first.data.products.map(({ name }) => name)).toEqual(["cap", "ink"]);
    expect(first.data.page).toMatchObject({ has_next: true, has_prev: false, total: 3 });
    const second = await as().products.list({ query: { limit: 2, after: first.data.page.next_cursor ?? "" } });
    expect(second.ok && second.data.products.map(({ name }) => name)).toEqual(["pen"]);
    expect(await as().products.list({ query: { after: "nonsense" } })).toMatchObject({ ok: false, status: 400 });
  });

  test("are changed by administrators alone, and who asks is looked at before what is asked", async () => {
    const id = await addProduct("note");
    const body = { note: "blue" };
    expect(await as().products.change({ path: { id }, body })).toMatchObject({ status: 401 });
    expect(await ada().products.change({ path: { id }, body })).toMatchObject({ status: 403 });
    expect((await api.post("/api/v1/products", { body: "garbage" })).status).toBe(401);
    expect(await admin().products.change({ path: { id }, body })).toMatchObject({ ok: true, status: 204 });
    expect(await as().products.one({ path: { id } })).toMatchObject({ data: { note: "blue" } });
    await admin().products.change({ path: { id }, body: { note: null } });
    expect(await as().products.one({ path: { id } })).toMatchObject({ data: { note: null } });
    expect(await admin().products.change({ path: { id: 999 }, body })).toMatchObject({ status: 404 });
    expect(await admin().products.change({ path: { id }, body: {} })).toMatchObject({ status: 400 });
  });

  test("have pictures", async () => {
    const id = await addProduct("picture");
    const picture = new File([new Uint8Array([1, 2, 3])], "a.png", { type: "image/png" });
    expect((await api.get(`/api/v1/products/${id}/picture`)).status).toBe(404);
    expect(await admin().products.upload({ path: { id }, form: { picture } })).toMatchObject({ status: 204 });
    const answer = await api.get(`/api/v1/products/${id}/picture`);
    expect([answer.headers.get("content-type"), [...answer.bytes()]]).toEqual(["image/png", [1, 2, 3]]);
    const text = new File(["x"], "a.txt", { type: "text/plain" });
    expect(await admin().products.upload({ path: { id }, form: { picture: text } })).toMatchObject({ status: 400 });
  });
});

describe("orders", () => {
  const place = (product_id: number, key: string, of = ada()) =>
    of.orders.place({ body: { product_id, quantity: 2 }, headers: { "idempotency-key": key } });

  test("are placed once, however often they are sent", async () => {
    const product = await addProduct("once");
    const [first, again] = [await place(product, "k1"), await place(product, "k1")];
    expect(first).toMatchObject({ ok: true, status: 201, data: { product_id: product, quantity: 2, state: "open" } });
    expect(first.ok && again.ok && again.data).toEqual(first.ok && first.data);
    const grace = await place(product, "k1", as({ sub: "Grace" }));
    expect(grace.ok && first.ok && grace.data.id !== first.data.id).toBe(true);
    const mine = await ada().orders.mine();
    expect(mine.ok && mine.data).toHaveLength(1);
    expect(await place(999, "k2")).toMatchObject({ status: 422 });
    expect(await ada().orders.place({ body: { product_id: product, quantity: 1 } })).toMatchObject({ status: 400 });
  });

  test("are seen by their customer alone, and paid by what Stripe has signed", async () => {
    const placed = await place(await addProduct("paid"), "k3");
    if (!placed.ok) throw new Error(placed.problem.detail);
    const path = { id: placed.data.id };
    expect(await as({ sub: "Grace" }).orders.one({ path })).toMatchObject({ status: 404 });

    const metadata = { order: String(path.id) };
    const body = JSON.stringify({ type: "payment_intent.succeeded", data: { object: { metadata } } });
    const pay = (key: string) => {
      const at = Math.floor(Date.now() / 1000);
      const signature = createHmac("sha256", key).update(`${at}.${body}`).digest("hex");
      return api.post("/api/v1/payments/stripe", { body, headers: { "stripe-signature": `t=${at},v1=${signature}` } });
    };
    expect((await pay("another")).status).toBe(401);
    expect(await ada().orders.one({ path })).toMatchObject({ data: { state: "open" } });
    expect((await pay(secrets.STRIPE)).status).toBe(204);
    expect(await ada().orders.one({ path })).toMatchObject({ data: { state: "paid" } });
  });
});

test("the shop's pages may ask from their origin, and others may not", async () => {
  const allowed = async (origin: string) =>
    (await api.get("/api/v1/products", { headers: { origin } })).headers.get("access-control-allow-origin");
  expect(await allowed("https://shop.example")).toBe("https://shop.example");
  expect(await allowed("https://evil.example")).toBe(undefined);
});

test("without its database the shop is closed", async () => {
  const alone = testApp(app, { secrets });
  expect((await alone.get("/api/v1/products")).status).toBe(503);
});

describe("tools", () => {
  test("are the routes of products and orders, with the customer's own rights", async () => {
    const ask = async (method: string, params: object, headers: Record<string, string> = {}) => {
      const answer = await api.post("/mcp", { json: { jsonrpc: "2.0", id: 1, method, params }, headers });
      return (answer.json() as { result: Record<string, never> }).result;
    };
    const { tools } = (await ask("tools/list", {})) as unknown as { tools: { name: string }[] };
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(["products_list", "orders_mine"]));
    expect(tools.every(({ name }) => /^(?:products|orders)_/.test(name))).toBe(true);
    await addProduct("quill");
    const listed = await ask("tools/call", { name: "products_list", arguments: { limit: 100 } });
    expect(JSON.stringify(listed["structuredContent"])).toContain('"quill"');
    const add = { name: "products_create", arguments: { name: "nib", price: 5, note: null } };
    const refused = await ask("tools/call", add, { authorization: `Bearer ${token({ sub: "Ada" })}` });
    expect(refused["isError"]).toBe(true);
    const added = await ask("tools/call", add, { authorization: `Bearer ${token({ sub: "Grace", role: "admin" })}` });
    expect(added).not.toHaveProperty("isError");
  }, 60_000);
});

test("in code mode two tools stand for all routes", async () => {
  const { default: coded } = await import("../src/code-mode.ts");
  const ask = async (method: string, params: object) => {
    const answer = await testApp(coded).post("/mcp", { json: { jsonrpc: "2.0", id: 1, method, params } });
    return (answer.json() as { result: { tools?: { name: string }[]; content?: { text: string }[] } }).result;
  };
  expect((await ask("tools/list", {})).tools?.map(({ name }) => name)).toEqual(["search", "execute"]);
  const found = await ask("tools/call", { name: "search", arguments: { query: "place an order" } });
  expect(found.content?.[0]?.text).toContain("api.orders.place(input: { body:");
});
