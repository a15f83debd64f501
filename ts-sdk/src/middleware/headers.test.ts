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

  it("takes other values, other security headers, and false", async () => {
    const options = { "referrer-policy": "origin", "strict-transport-security": false, nel: false } as const;
    const headers = await ask({ ...options, "permissions-policy": "camera=()" }, "/none");
    expect(headers).toMatchObject({
      "referrer-policy": "origin",
      "permissions-policy": "camera=()",
      "x-frame-options": "SAMEORIGIN",
    });
    expect(headers).not.toHaveProperty("strict-transport-security");
    expect(headers).not.toHaveProperty("nel");
  });

  it("takes names in any case", async () => {
    expect(await ask({ "Referrer-Policy": "origin" } as never)).toMatchObject({ "referrer-policy": "origin" });
  });

  it("takes Hono's spelling", async () => {
    const answer = await ask({ referrerPolicy: false, permissionsPolicy: "camera=()", xDnsPrefetchControl: true });
    expect(answer).toMatchObject({ "permissions-policy": "camera=()", "x-dns-prefetch-control": "off" });
    expect(answer["referrer-policy"]).toBeUndefined();
  });

  it("needs a value where there is no default", () => {
    expect(() => secureHeaders({ permissionsPolicy: true } as never)).toThrow(
      'secureHeaders: "permissionsPolicy" must have a value, because it has no default',
    );
  });

  it("refuses what can't be sent", () => {
    expect(() => secureHeaders({ "x-frame-options": "1\n" })).toThrow('header "x-frame-options"');
  });

  it.each([
    ["xFrameOption", "x-frame-options"],
    ["permissionPolicy", "permissions-policy"],
    ["x-frame-option", "x-frame-options"],
    ["x-content-type-option", "x-content-type-options"],
    ["permission-policy", "permissions-policy"],
    ["x-frames", "x-frame-options"],
  ])("refuses %s, naming %s", (name, nearest) => {
    for (const value of [false, "DENY"]) {
      expect(() => secureHeaders({ [name]: value })).toThrow(
        new TypeError(
          `secureHeaders: unknown "${name}", the nearest is "${nearest}"; add other headers in a middleware`,
        ),
      );
    }
  });
});
