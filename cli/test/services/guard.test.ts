/** The guard of the services: the requests that it refuses. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Services } from "../../src/embed/services.ts";
import { Sidecar } from "../../src/embed/sidecar.ts";
import { askAt } from "./ask.ts";
import { folder } from "./stores.ts";
import { development, startForTests } from "./targets.ts";

describe("the development services", () => {
  const started = startForTests(development);
  const { ask } = started;

  it("answer this machine's own names only", async () => {
    for (const host of ["evil.example", "evil.example:9919", "10.0.0.1", "127.0.0.1.evil.example"]) {
      for (const path of ["/", "/kv", "/runtime"]) {
        expect((await ask("GET", path, { headers: { host } })).status).toBe(403);
      }
    }
    for (const host of ["localhost:9919", "127.0.0.1", "[::1]:1"]) {
      expect((await ask("GET", "/health", { headers: { host } })).status).toBe(200);
    }
  });

  it("refuse what pages of others ask", async () => {
    const json = { sql: "SELECT 1" };
    for (const headers of [
      { origin: "http://evil.example" },
      { origin: "null" },
      { origin: "http://localhost:3000" },
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
    ]) {
      expect((await ask("POST", "/sql/query", { json, headers })).status, JSON.stringify(headers)).toBe(403);
    }
    expect((await ask("POST", "/sql/query", { json, headers: { origin: started.address } })).status).toBe(200);
    const form = { "content-type": "text/plain" };
    expect((await ask("POST", "/sql/query", { body: JSON.stringify(json), headers: form })).status).toBe(415);
  });

  it("give stored pages no origin to act with", async () => {
    await ask("PUT", "/storage/page.html", { body: "<script></script>", headers: { "content-type": "text/html" } });
    const { headers } = await ask("GET", "/storage/page.html");
    expect(headers["content-security-policy"]).toMatch(/^sandbox/);
    expect(headers["x-content-type-options"]).toBe("nosniff");
  });

  it("listen on a loopback address only, and say when a port is taken", async () => {
    const port = Number(new URL(started.address).port);
    await expect(Services.start({ folder: folder(), host: "0.0.0.0" })).rejects.toMatchObject({ code: "CONFIG" });
    await expect(Services.start({ folder: folder(), port })).rejects.toMatchObject({ code: "ADDRESS_IN_USE" });
    await expect(Services.start({ folder: "/dev/null/x" })).rejects.toMatchObject({ code: "FOLDER" });
  });
});

describe("a sidecar with a token", () => {
  let sidecar: Sidecar;
  let directory: string;
  beforeAll(async () => {
    directory = folder();
    const url = `sqlite:${directory}/a.db`;
    sidecar = await Sidecar.start({ kind: "kv", url, listen: "127.0.0.1:0", token: "s3cret-token", logLevel: "off" });
  });
  afterAll(() => sidecar.close());

  it("answers who has it, and tells everybody whether it is up", async () => {
    const ask = askAt(sidecar.address);
    const status = async (headers: Record<string, string>) => (await ask("GET", "/kv", { headers })).status;
    expect(await status({ authorization: "Bearer s3cret-token" })).toBe(200);
    expect(await status({ authorization: "bearer s3cret-token" })).toBe(200);
    for (const authorization of [
      "Bearer s3cret-toke",
      "Bearer s3cret-tokenx",
      "Bearer ",
      "Basic s3cret-token",
      "s3cret-token",
    ]) {
      expect(await status({ authorization }), authorization).toBe(401);
    }
    const refused = await ask("GET", "/metrics");
    expect([refused.status, refused.headers["www-authenticate"]]).toEqual([401, "Bearer"]);
    expect((await ask("GET", "/health")).status).toBe(200);
  });

  it("answers no browser", async () => {
    const ask = askAt(sidecar.address, { authorization: "Bearer s3cret-token" });
    expect((await ask("GET", "/kv", { headers: { origin: "http://evil.example" } })).status).toBe(403);
    expect((await ask("GET", "/kv", { headers: { host: "evil.example" } })).status).toBe(403);
  });
});
