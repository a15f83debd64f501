/** examples/shop as a component, on `tenon run` and on `wasmtime serve`, each with SQLite and PostgreSQL. */
import { spawnSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { client } from "@tenon/sdk/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeEach, type Needs } from "../../testing/needs.ts";
import { migrate, Services, Sidecar } from "../src/index.ts";
import { type Store, startPostgres } from "../test/services/stores.ts";
import { type Running, root, startTenon, startWasmtime, tenon } from "./servers.ts";

const project = join(root, "examples/shop");
const folder = mkdtempSync(join(tmpdir(), "shop-e2e-"));
const secrets = { JWT: "a key of at least thirty-two bytes…", STRIPE: "whsec_of_stripe" };

beforeAll(() => {
  const { status, stderr } = spawnSync(process.execPath, [tenon, "build", "-rc"], { cwd: project, encoding: "utf8" });
  expect(status, stderr).toBe(0);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The sidecars of the shop, and the SQL that its database speaks. */
interface Stores {
  readonly db: string;
  readonly storage: string;
  readonly dialect: string;
}

interface Database {
  readonly name: string;
  readonly needs?: Needs;
  /** @param services the development services, which have the storage */
  start(services: Services): Promise<{ readonly db: string; stop(): Promise<void> }>;
}

const databases: readonly Database[] = [
  { name: "sqlite", start: async ({ url }) => ({ db: url, stop: async () => {} }) },
  {
    name: "postgres",
    needs: "postgresql",
    start: async () => {
      const store: Store = await startPostgres();
      const sidecar = await Sidecar.start({ kind: "sql", url: store.url, listen: "127.0.0.1:0", logLevel: "off" });
      const stop = () => sidecar.close().finally(() => store.stop());
      return { db: sidecar.address, stop };
    },
  },
];

/** `tenon run` in a folder whose `tenon.toml` names the sidecars and the secrets. */
async function runTenon(file: string, { db, storage, dialect }: Stores): Promise<Running> {
  const at = mkdtempSync(join(folder, "run-"));
  const config = `
[project]
name = "shop"
[secrets]
JWT = "env:SHOP_JWT"
STRIPE = "env:SHOP_STRIPE"
[sidecars]
db = "${db}"
storage = "${storage}"
[env]
DIALECT = "${dialect}"
`;
  writeFileSync(join(at, "tenon.toml"), config);
  const environment = { SHOP_JWT: secrets.JWT, SHOP_STRIPE: secrets.STRIPE };
  return startTenon([join(project, "dist", file)], "shop", at, environment);
}

const servers: readonly { name: string; needs?: Needs; start(stores: Stores): Promise<Running> }[] = [
  { name: "tenon run, bare", start: (stores) => runTenon("shop.wasm", stores) },
  { name: "tenon run, composed", start: (stores) => runTenon("shop-composed.wasm", stores) },
  {
    name: "wasmtime serve",
    needs: "wasmtime",
    start: ({ db, storage, dialect }) =>
      startWasmtime(join(project, "dist/shop-composed.wasm"), {
        SIDECAR_DB_URL: db,
        SIDECAR_STORAGE_URL: storage,
        DIALECT: dialect,
        TENON_SECRET_JWT: secrets.JWT,
        TENON_SECRET_STRIPE: secrets.STRIPE,
      }),
  },
];

function token(claims: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const signed = `${part({ alg: "HS256" })}.${part({ iss: "shop", ...claims })}`;
  return `${signed}.${createHmac("sha256", secrets.JWT).update(signed).digest("base64url")}`;
}

describeEach("the shop on $name", databases, ({ name: dialect, start: startDatabase }) => {
  let services: Services;
  let database: Awaited<ReturnType<Database["start"]>>;

  beforeAll(async () => {
    const own = join(folder, dialect);
    mkdirSync(own);
    services = await Services.start({ folder: own });
    database = await startDatabase(services);
    await migrate({ address: database.db, folder: join(root, "examples/shop/migrations") });
  });
  afterAll(async () => {
    await database?.stop();
    await services?.close();
  });

  describeEach("$name", servers, ({ name: how, start }) => {
    let server: Running;
    beforeAll(async () => {
      server = await start({ db: database.db, storage: services.url, dialect });
    });
    afterAll(() => server?.stop());

    // Its types are checked by the example's own tests, under the options of a project.
    // biome-ignore lint/suspicious/noExplicitAny: see above
    const as = (claims?: object): any =>
      client(server.base, { headers: claims === undefined ? {} : { authorization: `Bearer ${token(claims)}` } });

    test("a product is added, pictured, ordered once and paid", async () => {
      const { base } = server;
      const [admin, ada] = [as({ sub: "Grace", role: "admin" }), as({ sub: "Ada" })];
      expect(await ada.products.create({ body: { name: "pen", price: 1, note: null } })).toMatchObject({ status: 403 });
      const product = await admin.products.create({ body: { name: how, price: 1, note: null } });
      if (!product.ok) throw new Error(JSON.stringify(product));
      const path = { id: product.data.id };
      const { pathname } = new URL(base);
      expect(product.headers.get("location")).toBe(`${pathname.replace(/\/$/, "")}/api/v1/products/${path.id}`);
      const listed = await as().products.list({ query: { limit: 100 } });
      expect(listed.data.products).toContainEqual({ id: path.id, name: how, price: 1, note: null });
      expect(listed.data.page.total).toBe(listed.data.products.length);

      const picture = new File([new Uint8Array([1, 2])], "a.png", { type: "image/png" });
      expect(await admin.products.upload({ path, form: { picture } })).toMatchObject({ status: 204 });
      const shown = await fetch(`${base}/api/v1/products/${path.id}/picture`);
      expect([...new Uint8Array(await shown.arrayBuffer())]).toEqual([1, 2]);

      const place = () =>
        ada.orders.place({ body: { product_id: path.id, quantity: 1 }, headers: { "idempotency-key": how } });
      const [first, again] = [await place(), await place()];
      if (!first.ok || !again.ok) throw new Error(JSON.stringify(first));
      expect(again.data).toEqual(first.data);

      const body = JSON.stringify({
        type: "payment_intent.succeeded",
        data: { object: { metadata: { order: String(first.data.id) } } },
      });
      const at = Math.floor(Date.now() / 1000);
      const pay = (key: string) =>
        fetch(`${base}/api/v1/payments/stripe`, {
          method: "POST",
          body,
          headers: {
            "stripe-signature": `t=${at},v1=${createHmac("sha256", key).update(`${at}.${body}`).digest("hex")}`,
            "content-type": "application/json",
          },
        });
      expect((await pay("another")).status).toBe(401);
      expect((await pay(secrets.STRIPE)).status).toBe(204);
      expect(await ada.orders.one({ path: { id: first.data.id } })).toMatchObject({ data: { state: "paid" } });
      expect(await as().orders.mine()).toMatchObject({ ok: false, status: 401 });
    });
  });
});
