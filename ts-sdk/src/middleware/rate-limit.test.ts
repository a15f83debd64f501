import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Services } from "@tenon/native";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { get, ok, rateLimit, routes } from "../index.ts";
import { testApp } from "../testing/index.ts";

const folder = mkdtempSync(join(tmpdir(), "tenon-rate-"));
let services: Services;
beforeAll(async () => {
  services = await Services.start({ folder });
});
afterAll(async () => {
  await services.close();
  rmSync(folder, { recursive: true, force: true });
});
// The handler's clock alone stands still; the cache has its own.
beforeEach(() => {
  vi.spyOn(Date, "now").mockReturnValue(6_000_000);
});
afterEach(() => {
  vi.restoreAllMocks();
});
const at = (seconds: number) => vi.mocked(Date.now).mockReturnValue(6_000_000 + seconds * 1000);

const app = (name: string, more = {}, env: Record<string, string> = { SIDECAR_CACHE_URL: services.url }) =>
  testApp(
    routes(
      { index: get("/", () => ok({})) },
      { use: [rateLimit({ limit: 4, window: 60, name, key: (req) => req.headers.get("x-client") ?? "", ...more })] },
    ),
    { env },
  );

describe("rateLimit", () => {
  it("lets as many pass as its limit says, each client for itself", async () => {
    const limited = app("each");
    const from = (client: string) => limited.get("/", { headers: { "x-client": client } });
    const answers = await Promise.all(Array.from({ length: 8 }, () => from("a")));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 429, 429, 429, 429]);
    const other = await from("b");
    expect([other.status, other.headers.get("ratelimit-policy"), other.headers.get("ratelimit")]).toEqual([
      200,
      '"each";q=4;w=60',
      expect.stringMatching(/^"each";r=3;t=\d+$/),
    ]);
    const refused = await from("a");
    expect([refused.status, refused.headers.get("content-type"), refused.headers.get("ratelimit")]).toEqual([
      429,
      "application/problem+json",
      expect.stringMatching(/^"each";r=0;t=\d+$/),
    ]);
  });

  it("slides: what is left of the last window counts", async () => {
    const limited = app("slides");
    const status = async () => (await limited.get("/")).status;
    for (let n = 0; n < 4; n++) expect(await status()).toBe(200);
    const refused = await limited.get("/");
    // At 75 s a quarter of the four has expired.
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "75"]);
    at(74);
    expect(await status()).toBe(429);
    at(75);
    expect(await status()).toBe(200);
    expect(await status()).toBe(429);
    at(200);
    for (let n = 0; n < 4; n++) expect(await status()).toBe(200);
    expect(await status()).toBe(429);
  });

  it("tells clients by their addresses when it is not told how", async () => {
    const limited = app("address", { key: undefined });
    const statuses = [];
    for (let n = 0; n < 5; n++) statuses.push((await limited.get("/", { headers: { "x-client": `${n}` } })).status);
    expect(statuses).toEqual([200, 200, 200, 200, 429]);
  });

  it("fails without its cache, unless it is told to let requests pass", async () => {
    expect((await app("down", {}, {}).get("/")).status).toBe(500);
    expect((await app("down", { passOnFailure: true }, {}).get("/")).status).toBe(200);
  });

  it("refuses limits that are none", () => {
    for (const wrong of [{ limit: 0 }, { window: 1.5 }, { name: 'a"b' }, { limit: "4" }, { key: "x" }]) {
      expect(() => rateLimit({ limit: 4, window: 60, key: () => "", ...wrong } as never)).toThrow(TypeError);
    }
  });
});
