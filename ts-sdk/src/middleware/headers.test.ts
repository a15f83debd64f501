import { describe, expect, it } from "vitest";
import { etag, get, ok, post, respond, routes, secureHeaders } from "../index.ts";
import { testApp } from "../testing/index.ts";

describe("etag", () => {
  const app = testApp(
    routes(
      {
        json: get("/json", () => ok({ a: 1 }).header("cache-control", "max-age=5").header("x-a", "b")),
        text: get("/text", () => respond(200, { body: '{"a":1}' })),
        none: get("/none", () => respond(200)),
        own: get("/own", () => respond(200, { body: "x", headers: { etag: 'W/"7"' } })),
        other: post("/json", () => ok({ a: 1 })),
        missing: get("/missing", () => respond(404, { body: "x" })),
      },
      { use: [etag()] },
    ),
  );
  const tag = '"AVq9f1zFetFaz2LYt8-QApHmaZDoN7VY"';

  it("is a digest of the body", async () => {
    const answer = await app.get("/json");
    expect([answer.status, answer.json()]).toEqual([200, { a: 1 }]);
    const given = answer.headers.get("etag") as string;
    expect(given).toMatch(/^"[\w-]{24}"$/);
    expect((await app.get("/text")).headers.get("etag")).toBe(given);
    expect((await app.head("/json")).headers.get("etag")).toBe(given);
    expect((await app.get("/none")).headers.get("etag")).not.toBe(given);
  });

  it("is given to 200 answers of GET and HEAD alone", async () => {
    for (const answer of [await app.post("/json"), await app.get("/missing"), await app.get("/nowhere")]) {
      expect(answer.headers.has("etag")).toBe(false);
    }
  });

  it("304 to who has it, with what a 200 says of caching and nothing else", async () => {
    const given = (await app.get("/json")).headers.get("etag") as string;
    for (const known of [given, `W/${given}`, `"x", ${given}`, "*"]) {
      const answer = await app.get("/json", { headers: { "if-none-match": known } });
      expect([answer.status, answer.text(), [...answer.headers]]).toEqual([
        304,
        "",
        [
          ["cache-control", "max-age=5"],
          ["etag", given],
        ],
      ]);
    }
    for (const other of [tag.slice(1), '"x"', given.slice(1, -1)]) {
      expect((await app.get("/json", { headers: { "if-none-match": other } })).status).toBe(200);
    }
  });

  it("304 sets cookies as a 200 does, signed ones too", async () => {
    const test = testApp(routes({ a: get("/", () => ok({}).cookie("a", "b", { sign: "k" })) }, { use: [etag()] }));
    const [full, known] = [await test.get("/"), await test.get("/", { headers: { "if-none-match": "*" } })];
    expect([known.status, known.headers.get("set-cookie")]).toEqual([304, full.headers.get("set-cookie")]);
  });

  it("one of the handler's own is taken as it is", async () => {
    expect((await app.get("/own")).headers.getAll("etag")).toEqual(['W/"7"']);
    expect((await app.get("/own", { headers: { "if-none-match": '"7"' } })).status).toBe(304);
  });
});

describe("secureHeaders", () => {
  const ask = async (options?: Parameters<typeof secureHeaders>[0], path = "/a") => {
    const a = get("/a", () => ok({}).header("x-frame-options", "DENY"));
    const answer = await testApp(routes({ a }, { use: [secureHeaders(options)] })).get(path);
    return Object.fromEntries(answer.headers);
  };

  it("adds what is not there", async () => {
    expect(await ask()).toEqual({
      "content-type": "application/json",
      "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
      "origin-agent-cluster": "?1",
      "referrer-policy": "no-referrer",
      "strict-transport-security": "max-age=15552000; includeSubDomains",
      "x-content-type-options": "nosniff",
      "x-dns-prefetch-control": "off",
      "x-frame-options": "DENY",
      "x-permitted-cross-domain-policies": "none",
    });
  });

  it("takes other values, other headers, and false", async () => {
    const headers = await ask(
      { "Referrer-Policy": "origin", "strict-transport-security": false, "x-more": "1" },
      "/none",
    );
    expect(headers).toMatchObject({ "referrer-policy": "origin", "x-more": "1", "x-frame-options": "SAMEORIGIN" });
    expect(headers).not.toHaveProperty("strict-transport-security");
  });

  it("refuses what can't be sent", () => {
    expect(() => secureHeaders({ "x a": "1" })).toThrow('"x a" is not a header name');
    expect(() => secureHeaders({ "x-a": "1\n" })).toThrow('header "x-a"');
  });
});
