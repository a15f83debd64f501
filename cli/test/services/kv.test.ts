/** The contract of key-value, on everything that keeps to it. */
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { describeEach } from "../../../testing/needs.ts";
import type { Ask } from "./ask.ts";
import { kvTargets, type Started } from "./targets.ts";

describeEach("key-value: $name", kvTargets, (target) => {
  let started: Started;
  let ask: Ask;
  beforeAll(async () => {
    started = await target.start();
    ask = started.ask;
  });
  afterAll(() => started.stop());

  it("keeps bytes with their content type, and forgets them when told to", async () => {
    const body = Buffer.from([0, 255, 10, 13]);
    expect((await ask("PUT", "/kv/a", { body, headers: { "content-type": "image/x" } })).status).toBe(204);
    const read = await ask("GET", "/kv/a");
    expect([read.status, read.headers["content-type"], read.bytes]).toEqual([200, "image/x", body]);
    expect((await ask("PUT", "/kv/a", { body: "" })).status).toBe(204);
    const again = await ask("GET", "/kv/a");
    expect([again.status, again.headers["content-type"], again.text]).toEqual([200, "application/octet-stream", ""]);
    expect((await ask("DELETE", "/kv/a")).status).toBe(204);
    expect((await ask("DELETE", "/kv/a")).status).toBe(404);
    expect((await ask("GET", "/kv/a")).json).toMatchObject({ status: 404, title: "Not Found" });
    expect((await ask("HEAD", "/kv/a")).status).toBe(404);
  });

  it("takes keys of any bytes, decoded once", async () => {
    const paths = ["a/b", "a%2Fb%252F", "%FF%FE", "%00", "%20%2B+", "%C3%A9", "..%2F..%2Fetc", "%C3"];
    for (const [index, path] of paths.entries()) {
      expect((await ask("PUT", `/kv/${path}`, { body: `value ${index}` })).status, path).toBe(204);
    }
    expect((await ask("GET", "/kv/a%2Fb")).text).toBe("value 0");
    for (const [index, path] of paths.entries()) expect((await ask("GET", `/kv/${path}`)).text).toBe(`value ${index}`);
    const { keys } = (await ask("GET", "/kv")).json;
    expect(keys).toHaveLength(paths.length);
    expect(keys).toContain("a/b%2F");
    // What the list shows can be asked for as it is shown, bytes that are no text included.
    for (const key of keys) expect((await ask("GET", `/kv/${encodeURIComponent(key)}`)).status, key).toBe(200);
    for (const key of keys) expect((await ask("DELETE", `/kv/${encodeURIComponent(key)}`)).status, key).toBe(204);
  });

  it("lists keys by prefix, page by page, in order", async () => {
    const names = ["p:1", "p:10", "p:2", "p:é", "q"];
    for (const name of names) await ask("PUT", `/kv/${encodeURIComponent(name)}`, { body: "x" });
    const page = (await ask("GET", "/kv?prefix=p%3A&limit=2")).json;
    expect(page).toEqual({ keys: ["p:1", "p:10"], next: "p:10" });
    const rest = (await ask("GET", "/kv?prefix=p%3A&limit=2&after=p%3A10")).json;
    expect(rest).toEqual({ keys: ["p:2", "p:é"], next: null });
    expect((await ask("GET", "/kv?prefix=none")).json).toEqual({ keys: [], next: null });
    expect((await ask("GET", "/kv?prefix=p&after=a&limit=1")).json.keys).toEqual(["p:1"]);
    expect((await ask("GET", "/kv?prefix=p&after=z")).json.keys).toEqual([]);
    for (const name of names) await ask("DELETE", `/kv/${encodeURIComponent(name)}`);
  });

  it("lets entries expire, which a new value takes back", async () => {
    expect((await ask("PUT", "/kv/short?ttl=1", { body: "x" })).status).toBe(204);
    expect((await ask("PUT", "/kv/header", { body: "x", headers: { "x-cache-ttl": "1" } })).status).toBe(204);
    expect((await ask("PUT", "/kv/kept?ttl=1", { body: "x" })).status).toBe(204);
    expect((await ask("PUT", "/kv/kept", { body: "y" })).status).toBe(204);
    await vi.waitFor(async () => expect((await ask("GET", "/kv/short")).status).toBe(404), { timeout: 5000 });
    await vi.waitFor(async () => expect((await ask("GET", "/kv/header")).status).toBe(404), { timeout: 5000 });
    expect((await ask("GET", "/kv")).json.keys).toEqual(["kept"]);
    expect((await ask("DELETE", "/kv/short")).status).toBe(404);
    expect((await ask("GET", "/kv/kept")).text).toBe("y");
    await ask("DELETE", "/kv/kept");
  });

  it.each(["0", "-1", "", "1.5", "abc", "1e3", "+5", "99999999999999999999"])(
    "refuses a time to live of %j",
    async (ttl) => {
      const problem = await ask("PUT", `/kv/ttl?ttl=${encodeURIComponent(ttl)}`, { body: "x" });
      expect([problem.status, problem.headers["content-type"]]).toEqual([400, "application/problem+json"]);
      expect((await ask("GET", "/kv/ttl")).status).toBe(404);
    },
  );

  it("refuses what is no key, no page, or too large", async () => {
    expect((await ask("GET", "/kv/")).status).toBe(400);
    expect((await ask("GET", "/kv/%zz")).status).toBe(400);
    for (const dots of [".", "..", "%2e%2e"]) expect((await ask("PUT", `/kv/${dots}`, { body: "x" })).status).toBe(400);
    expect((await ask("PUT", `/kv/${"k".repeat(1025)}`, { body: "x" })).status).toBe(400);
    expect((await ask("PUT", `/kv/${"k".repeat(1024)}`, { body: "x" })).status).toBe(204);
    await ask("DELETE", `/kv/${"k".repeat(1024)}`);
    for (const limit of ["0", "-1", "1001", "x", ""]) expect((await ask("GET", `/kv?limit=${limit}`)).status).toBe(400);
    const large = await ask("PUT", "/kv/large", { body: Buffer.alloc(11_000_000) });
    expect(large.json).toMatchObject({ status: 413, title: "Content Too Large" });
    expect((await ask("GET", "/kv/large")).status).toBe(404);
    expect((await ask("POST", "/kv/a")).headers["allow"]).toContain("PUT");
  });

  it("is up, and counts", async () => {
    expect((await ask("GET", "/health")).json).toMatchObject({ status: "ok" });
    expect((await ask("GET", "/metrics")).text).toMatch(/^tenon_sidecar_requests_total\{.*route="\/kv".*\} \d+$/m);
    expect((await ask("GET", "/nothing")).json).toMatchObject({ status: 404 });
  });
});
