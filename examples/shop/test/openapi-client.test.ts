/**
 * Tests the shop with a client that is generated from its OpenAPI document: `npm run generate -w client` writes
 * `api.ts`.
 */
import { createHmac } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { testApp } from "@tenon/sdk/testing";
import createClient from "openapi-fetch";
import { migrate, Services } from "tenon";
import { afterAll, beforeAll, expect, test } from "vitest";
import app from "../src/handler.ts";
import type { paths } from "./api.ts";

const secrets = { JWT: "a key of at least thirty-two bytes…", STRIPE: "whsec_of_stripe" };
const folder = mkdtempSync(join(tmpdir(), "shop-openapi-"));
let services: Services;
let shop: ReturnType<typeof createClient<paths>>;

beforeAll(async () => {
  services = await Services.start({ folder });
  await migrate({ address: services.url, folder: fileURLToPath(new URL("../migrations", import.meta.url)) });
  const env = { SIDECAR_DB_URL: services.url, SIDECAR_STORAGE_URL: services.url, DIALECT: "sqlite" };
  const api = testApp(app, { env, secrets });
  const fetch = async (request: Request): Promise<Response> => {
    const { pathname, search } = new URL(request.url);
    const body = new Uint8Array(await request.arrayBuffer());
    const answer = await api.request(request.method, pathname + search, { headers: [...request.headers], body });
    const headers = [...answer.headers] as [string, string][];
    return new Response(answer.status === 204 ? null : answer.bytes(), { status: answer.status, headers });
  };
  shop = createClient<paths>({ baseUrl: "http://localhost", fetch });
});
afterAll(async () => {
  await services.close();
  rmSync(folder, { recursive: true });
});

function as(sub: string, role?: string): { authorization: string } {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const signed = `${part({ alg: "HS256" })}.${part({ iss: "shop", sub, role })}`;
  return { authorization: `Bearer ${signed}.${createHmac("sha256", secrets.JWT).update(signed).digest("base64url")}` };
}

test("products are added, pictured and listed, and one is ordered", async () => {
  const body = { name: "pen", price: 100, note: null };
  const refused = await shop.POST("/api/v1/products", { body });
  expect([refused.response.status, refused.error?.status]).toEqual([401, 401]);
  // @ts-expect-error a price is a number
  const wrong = await shop.POST("/api/v1/products", { body: { ...body, price: "1" }, headers: as("Grace", "admin") });
  expect(wrong.error?.detail).toBe("The input is not valid.");

  const added = await shop.POST("/api/v1/products", { body, headers: as("Grace", "admin") });
  const id: number = added.data?.id ?? 0;
  expect(added.data).toEqual({ ...body, id });
  const listed = await shop.GET("/api/v1/products", { params: { query: { limit: 1 } } });
  expect(listed.data).toMatchObject({ products: [{ id }], page: { total: 1, has_next: false } });

  const at = { params: { path: { id } } };
  const form = new FormData();
  form.append("picture", new File([new Uint8Array([1, 2, 3])], "a.png", { type: "image/png" }));
  const put = await shop.PUT("/api/v1/products/{id}/picture", {
    ...at,
    body: { picture: "" },
    bodySerializer: () => form,
    headers: as("Grace", "admin"),
  });
  expect(put.response.status).toBe(204);
  const shown = await shop.GET("/api/v1/products/{id}/picture", { ...at, parseAs: "arrayBuffer" });
  expect([...new Uint8Array(shown.data as ArrayBuffer)]).toEqual([1, 2, 3]);

  const placed = await shop.POST("/api/v1/orders", {
    body: { product_id: id, quantity: 2 },
    headers: { ...as("Ada"), "idempotency-key": "k1" },
  });
  expect(placed.data).toMatchObject({ product_id: id, quantity: 2, state: "open" });
  const mine = await shop.GET("/api/v1/orders", { headers: as("Ada") });
  expect(mine.data?.map((order) => order.id)).toEqual([placed.data?.id]);
});
