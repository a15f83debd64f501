import { createHash } from "node:crypto";
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

  it("limits clients of any name, also when failures pass", async () => {
    const names = ["x".repeat(901), "x".repeat(902), "é".repeat(500), "a\nb", "y".repeat(20_000), "#", ""];
    for (const [n, client] of names.entries()) {
      const limited = app(`long-${n}`, { passOnFailure: true, key: () => client });
      const statuses = [];
      for (let i = 0; i < 5; i++) statuses.push((await limited.get("/")).status);
      expect(statuses, client.slice(0, 9)).toEqual([200, 200, 200, 200, 429]);
    }
    const long = app("l".repeat(900), { passOnFailure: true });
    for (let i = 0; i < 4; i++) await long.get("/");
    expect((await long.get("/")).status).toBe(429);
  });

  it("tells long names apart, and no name is another's digest", async () => {
    const status = async (client: string) => (await app("apart", { limit: 1, key: () => client }).get("/")).status;
    const long = "x".repeat(2000);
    const digest = createHash("sha256").update(`ratelimit:apart:${long}`).digest("hex");
    expect([await status(long), await status(`${long}y`), await status(`#${digest}`), await status(digest)]).toEqual([
      200, 200, 200, 200,
    ]);
    expect(await status(long)).toBe(429);
  });

  it("lets nothing pass that the cache refuses as wrong", async () => {
    // A window of this length is beyond what the cache takes.
    const answer = await app("wrong", { passOnFailure: true, window: Number.MAX_SAFE_INTEGER }).get("/");
    expect(answer.status).toBe(500);
  });

  it("refuses limits that are none", () => {
    for (const wrong of [{ limit: 0 }, { window: 1.5 }, { name: 'a"b' }, { limit: "4" }, { key: "x" }]) {
      expect(() => rateLimit({ limit: 4, window: 60, key: () => "", ...wrong } as never)).toThrow(TypeError);
    }
  });
});
