/** An app that speaks `fetch`, as Hono's do, on every server that is there. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeEach } from "../../testing/needs.ts";
import { type Exchange, send } from "./http.ts";
import { fetchProject, kinds, type Running } from "./servers.ts";

describeEach(
  "a Hono app on $name",
  kinds.filter(({ name }) => !name.includes("componentize-js")),
  (kind) => {
    let server: Running;
    beforeAll(async () => {
      server = await kind.start(fetchProject, "fetch");
    });
    afterAll(() => server?.stop());

    const call = (path: string, exchange: Omit<Exchange, "path"> = {}) => {
      const prefix = new URL(server.base).pathname.replace(/\/$/, "");
      return send(server.base, { ...exchange, path: prefix + path });
    };

    test("routes, parameters and queries", async () => {
      expect((await call("/")).body.toString()).toBe("Hello Hono!");
      const answer = await call("/hello/ada%20b?q=%C3%A9");
      expect(answer.json()).toEqual({ name: "ada b", q: "é" });
      expect((await call("/nowhere")).status).toBe(404);
    });

    test("bodies", async () => {
      const body = Buffer.from('{"a":[1,"é"]}');
      const headers = [["content-type", "application/json"]] as const;
      expect((await call("/echo", { method: "POST", headers: [...headers], body })).json()).toEqual({
        got: { a: [1, "é"] },
      });
      expect((await call("/echo", { method: "POST", body: Buffer.from("{") })).status).toBe(400);
      expect([...(await call("/bytes")).body]).toEqual([0, 255, 128]);
      const form = [["content-type", "application/x-www-form-urlencoded"]] as const;
      const answer = await call("/form", { method: "POST", headers: [...form], body: Buffer.from("a=1&b=%26") });
      expect(answer.json()).toEqual({ a: "1", b: "&" });
    });

    test("a HEAD request is answered as GET is, without content", async () => {
      const answer = await call("/", { method: "HEAD" });
      expect([answer.status, answer.body.length, answer.header("content-length")]).toEqual([200, 0, "11"]);
    });

    test.skipIf(kind.losesHeaders)("cookies", async () => {
      const { headers } = await call("/cookies");
      expect(headers.filter(([name]) => name.toLowerCase() === "set-cookie").map(([, value]) => value)).toEqual([
        "a=1; Path=/",
        "b=2; Path=/; HttpOnly",
      ]);
    });

    test("middleware: cors, etag, basicAuth, jwt", async () => {
      const preflight = {
        method: "OPTIONS",
        headers: [
          ["origin", "https://a.example"],
          ["access-control-request-method", "GET"],
        ] as const,
      };
      const allowed = await call("/", { ...preflight, headers: [...preflight.headers] });
      expect([allowed.status, allowed.header("access-control-allow-origin")]).toEqual([204, "*"]);
      const etag = (await call("/etag/x")).header("etag") as string;
      expect((await call("/etag/x", { headers: [["if-none-match", etag]] })).status).toBe(304);
      expect((await call("/basic/x")).status).toBe(401);
      const basic = `Basic ${Buffer.from("u:p").toString("base64")}`;
      expect((await call("/basic/x", { headers: [["authorization", basic]] })).body.toString()).toBe("in");
      expect((await call("/jwt/me")).status).toBe(401);
      const token = (await call("/token")).body.toString();
      const me = await call("/jwt/me", { headers: [["authorization", `Bearer ${token}`]] });
      expect(me.json()).toEqual({ sub: "ada" });
    });

    test("events that are sent one by one arrive", async () => {
      const answer = await call("/events");
      expect(answer.header("content-type")).toBe("text/event-stream");
      expect(answer.body.toString()).toBe("data: 0\nid: 0\n\ndata: 1\nid: 1\n\n");
    });

    test("what a handler throws is in no answer", async () => {
      const thrown = await call("/throw");
      expect([thrown.status, thrown.body.toString()]).toEqual([500, "Internal Server Error"]);
      expect((await call("/teapot")).status).toBe(418);
      const wrong = await call("/wrong");
      expect(wrong.status).toBe(500);
      expect(wrong.body.toString()).not.toContain("secret");
    });

    test("waitUntil is waited for", async () => {
      expect((await call("/wait")).body.toString()).toBe("ok");
      await expect.poll(() => server.errors()).toContain("waited until the end");
    });
  },
);
