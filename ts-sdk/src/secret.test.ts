import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, vi } from "vitest";
import { env, get, jwt, ok, post, routes, secret, sidecar, use } from "./index.ts";
import { testApp } from "./testing/index.ts";

describe("secret", () => {
  const app = routes({
    read: get("/read", () =>
      ok({ key: secret("KEY"), env: env("TENON_SECRET_KEY") ?? null, other: env("KEY") ?? null }),
    ),
    missing: get("/missing", () => ok({ key: secret("MISSING") })),
    token: use(jwt({ key: () => secret("KEY"), algorithms: ["HS256"] })).get("/token", () => ok({})),
  });
  const test = testApp(app, { secrets: { KEY: "canary" }, env: { KEY: "variable" } });

  it("gives its value, which env does not", async () => {
    expect((await test.get("/read")).json()).toEqual({ key: "canary", env: null, other: "variable" });
  });

  it("is an error of the handler when it is not there, which names it and says where it belongs", async () => {
    const errors = vi.spyOn(console, "error").mockImplementation(() => {});
    const answer = await test.get("/missing");
    expect([answer.status, answer.text()?.includes("MISSING")]).toEqual([500, false]);
    expect(errors.mock.calls[0]?.[0]).toMatch(/there is no secret called "MISSING": put MISSING = "env:NAME"/);
    errors.mockRestore();
  });

  it("is not in what is reported of an exception, whoever put it there", async () => {
    const errors = vi.spyOn(console, "error").mockImplementation(() => {});
    const leaking = routes({
      it: get("/", () => {
        throw new Error(`no such key: ${secret("LONG")}`, { cause: secret("LONG") });
      }),
    });
    await testApp(leaking, { secrets: { LONG: "a long canary" } }).get("/");
    expect(errors.mock.calls[0]?.[0]).toContain("no such key: ***");
    expect(errors.mock.calls[0]?.[0]).not.toContain("canary");
    errors.mockRestore();
  });

  it("is a key of jwt by a function", async () => {
    expect((await test.get("/token")).status).toBe(401);
  });

  it("can't be read at top level of a module that is built", () => {
    const building = Symbol.for("tenon.building");
    Reflect.set(globalThis, building, new Map());
    try {
      expect(() => secret("KEY")).toThrow("secret() works in a handler, not at top level");
    } finally {
      Reflect.deleteProperty(globalThis, building);
    }
  });
});

describe("sidecar", () => {
  it("asks the sidecar at its paths, with its token", async () => {
    const seen: unknown[] = [];
    const server = createServer((req, res) => {
      seen.push([req.method, req.url, req.headers.authorization, req.headers["content-type"]]);
      res.end("{}");
    }).listen(0, "127.0.0.1");
    await new Promise((listening) => server.once("listening", listening));
    try {
      const app = routes({
        charge: post("/charge", async () => {
          await sidecar("my-stripe").request().post("/v1/charges").json({ amount: 1 }).send();
          await sidecar("my-stripe").get("/v1/balance?x=1");
          return ok({});
        }),
      });
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
      const test = testApp(app, {
        env: { SIDECAR_MY_STRIPE_URL: url },
        secrets: { SIDECAR_MY_STRIPE_TOKEN: "t" },
      });
      expect((await test.post("/charge")).status).toBe(200);
      expect(seen).toEqual([
        ["POST", "/v1/charges", "Bearer t", "application/json"],
        ["GET", "/v1/balance?x=1", "Bearer t", undefined],
      ]);
    } finally {
      server.close();
    }
  });

  it("says what is missing, and takes paths alone", async () => {
    const errors = vi.spyOn(console, "error").mockImplementation(() => {});
    const app = routes({ a: get("/a", async () => ok(await sidecar("stripe").get("/"))) });
    expect((await testApp(app).get("/a")).status).toBe(500);
    expect(errors.mock.calls[0]?.[0]).toMatch(/SidecarError: stripe: there is no such sidecar: put stripe = /);
    errors.mockRestore();
    for (const path of ["v1", "http://a/", "//evil.example/", ""]) {
      expect(() => sidecar("stripe").request().get(path)).toThrow("sidecar: expects a path");
    }
    for (const name of ["", "a b", "1a", undefined])
      expect(() => sidecar(name as string)).toThrow("sidecar: expects the name");
  });
});
