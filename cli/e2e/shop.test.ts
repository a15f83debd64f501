/** examples/shop as a component on the runtime, called by its typed client. */
import { spawnSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { client } from "@tenon/sdk/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Runtime, Services } from "../src/index.ts";
import { root, tenon } from "./servers.ts";

const project = join(root, "examples/shop");
const folder = mkdtempSync(join(tmpdir(), "shop-e2e-"));
const secrets = { JWT: "a key of at least thirty-two bytes…", STRIPE: "whsec_of_stripe" };
const modules = { bare: "shop.wasm", composed: "shop-composed.wasm" };
let services: Services;
const runtimes: Runtime[] = [];

beforeAll(async () => {
  const { status, stderr } = spawnSync(process.execPath, [tenon, "build", "-rc"], { cwd: project, encoding: "utf8" });
  expect(status, stderr).toBe(0);
  services = await Services.start({ folder });
  const { migrate } = (await import("../../examples/shop/migrate.mjs" as string)) as {
    migrate(dialect: string, url: string): Promise<void>;
  };
  await migrate("sqlite", services.url);
});
afterAll(async () => {
  for (const runtime of runtimes) await runtime.close();
  await services?.close();
  rmSync(folder, { recursive: true });
});

function token(claims: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const signed = `${part({ alg: "HS256" })}.${part({ iss: "shop", ...claims })}`;
  return `${signed}.${createHmac("sha256", secrets.JWT).update(signed).digest("base64url")}`;
}

test.each(Object.entries(modules))("a product is added, pictured, ordered once and paid: %s", async (_how, file) => {
  const runtime = await Runtime.create({
    modules: [join(project, "dist", file)],
    sidecars: { db: services.url, storage: services.url },
    secrets,
    env: { DIALECT: "sqlite" },
    logLevel: "off",
  });
  runtimes.push(runtime);
  const fetch = (url: string, init: RequestInit) => runtime.fetch(new Request(url, init));
  // Its types are checked by the example's own tests, under the options of a project.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  const as = (claims?: object): any =>
    client("http://localhost/run/shop", {
      fetch,
      headers: claims === undefined ? {} : { authorization: `Bearer ${token(claims)}` },
    });
  const [admin, ada] = [as({ sub: "Grace", role: "admin" }), as({ sub: "Ada" })];

  expect(await ada.products.create({ body: { name: "pen", price: 1, note: null } })).toMatchObject({ status: 403 });
  const product = await admin.products.create({ body: { name: "pen", price: 1, note: null } });
  if (!product.ok) throw new Error(JSON.stringify(product));
  const path = { id: product.data.id };
  const picture = new File([new Uint8Array([1, 2])], "a.png", { type: "image/png" });
  expect(await admin.products.upload({ path, form: { picture } })).toMatchObject({ status: 204 });
  const shown = await fetch(`http://localhost/run/shop/api/v1/products/${path.id}/picture`, {});
  expect([...new Uint8Array(await shown.arrayBuffer())]).toEqual([1, 2]);

  const place = () =>
    ada.orders.place({ body: { product_id: path.id, quantity: 1 }, headers: { "idempotency-key": file } });
  const [first, again] = [await place(), await place()];
  if (!first.ok || !again.ok) throw new Error(JSON.stringify(first));
  expect(again.data).toEqual(first.data);

  const body = JSON.stringify({
    type: "payment_intent.succeeded",
    data: { object: { metadata: { order: String(first.data.id) } } },
  });
  const at = Math.floor(Date.now() / 1000);
  const signature = createHmac("sha256", secrets.STRIPE).update(`${at}.${body}`).digest("hex");
  const paid = await fetch("http://localhost/run/shop/api/v1/payments/stripe", {
    method: "POST",
    body,
    headers: { "stripe-signature": `t=${at},v1=${signature}`, "content-type": "application/json" },
  });
  expect(paid.status).toBe(204);
  expect(await ada.orders.one({ path: { id: first.data.id } })).toMatchObject({ data: { state: "paid" } });
  expect(await as().orders.mine()).toMatchObject({ ok: false, status: 401 });
});
