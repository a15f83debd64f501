import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Runtime } from "./runtime.ts";

/** `wasi:http` components of a few bytes cannot be written by hand; one that exports an empty interface fails to load. */
const nothing = Buffer.from("AGFzbQ0AAQA=", "base64");

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tenon-runtime-"));
});
afterAll(() => rm(folder, { recursive: true }));

const create = (options: Partial<Parameters<typeof Runtime.create>[0]> = {}) =>
  Runtime.create({ modules: [], maxConcurrent: 4, cacheFolder: false, logLevel: "off", ...options });

const get = (path: string, accept = "*/*") => new Request(`http://tenon.test${path}`, { headers: { accept } });

test("a runtime without modules answers for itself", async () => {
  const runtime = await create();
  expect(await (await runtime.fetch(get("/health"))).json()).toMatchObject({ status: "ok", modules: {} });
  expect((await runtime.fetch(get("/run/none/"))).status).toBe(404);
  expect(runtime.metrics()).toContain('tenon_requests_total{module="",method="GET",status="404"} 1');
  expect(await (await runtime.fetch(get("/metrics"))).text()).toContain("# TYPE tenon_requests_total counter");
  expect(runtime.recentRequests()).toMatchObject([
    { method: "GET", path: "/health", status: 200, id: expect.any(String), duration_ms: expect.any(Number) },
    { path: "/run/none/", status: 404 },
    { path: "/metrics", status: 200 },
  ]);
});

test("pages and build errors of development", async () => {
  const runtime = await create();
  runtime.setPage("/docs", { contentType: "text/html", body: "<p>" });
  const page = await runtime.fetch(get("/docs"));
  expect([page.status, page.headers.get("content-type"), await page.text()]).toEqual([200, "text/html", "<p>"]);
  runtime.setPage("/docs", undefined);
  expect((await runtime.fetch(get("/docs"))).status).toBe(404);

  runtime.setBuildError("app", "<h1>line 3</h1>");
  const shown = await runtime.fetch(get("/run/app/", "text/html"));
  expect([shown.status, await shown.text()]).toEqual([500, "<h1>line 3</h1>"]);
  const problem = await runtime.fetch(get("/run/app/"));
  expect([problem.status, problem.headers.get("content-type")]).toEqual([503, "application/problem+json"]);
  runtime.setBuildError("app", undefined);
  expect((await runtime.fetch(get("/run/app/"))).status).toBe(404);
});

test("a module that does not load leaves what is there", async () => {
  const runtime = await create();
  const file = join(folder, "app.wasm");
  await expect(runtime.reload("app")).rejects.toMatchObject({ code: "CONFIG" });
  await expect(runtime.reload("app", file)).rejects.toMatchObject({ code: "MODULE_READ" });
  await writeFile(file, nothing);
  await expect(runtime.reload("app", file)).rejects.toMatchObject({ code: "MODULE_LINK" });
  expect(runtime.modules).toEqual([]);
  await expect(create({ modules: { "my/app": file } })).rejects.toMatchObject({ code: "CONFIG" });
  const sidecars = { "db-x": "http://a", db_x: "http://b" };
  await expect(create({ modules: [], sidecars })).rejects.toThrow(/`db-x` and `db_x` are both SIDECAR_DB_X_URL/);
});

test("limits hold for requests without a socket", async () => {
  const runtime = await create({ maxUrlBytes: 16 });
  expect((await runtime.fetch(get("/a-path-that-is-too-long"))).status).toBe(414);
});
