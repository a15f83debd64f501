import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { runInNewContext } from "node:vm";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { freePort } from "../../../testing/free-port.ts";
import { get, HttpClientError, httpClient, ok, routes } from "../index.ts";
import { testApp } from "../testing/index.ts";

let server: Server;
let base: string;
const unanswered: ServerResponse[] = [];

beforeAll(async () => {
  server = createServer(answer);
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  for (const response of unanswered) response.destroy();
  server.close();
  server.closeAllConnections();
});

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.url === "/never") return void unanswered.push(response);
  if (request.url === "/half") {
    response.write("half");
    return void unanswered.push(response);
  }
  if (request.url === "/broken") return void request.socket.destroy();
  if (request.url?.startsWith("/why/")) {
    // Tenon's runtime does so for a request that asks for the reason.
    const asked = request.headers["tenon-egress"] === "explain";
    return void response.writeHead(502, asked ? { "tenon-egress": request.url.slice(5) } : {}).end("why");
  }
  if (request.url === "/redirect") return void response.writeHead(302, { location: "/echo" }).end();
  if (request.url === "/large") return void response.end(Buffer.alloc(100_000));
  if (request.url === "/empty") return void response.writeHead(204).end();
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const { method, url, headers } = request;
  response.writeHead(method === "PUT" ? 500 : 200, { "set-cookie": ["a=1", "b=2"], "x-latin": "\xe9" });
  response.end(
    JSON.stringify({
      method,
      url,
      type: headers["content-type"],
      x: headers["x-a"],
      body: Buffer.concat(chunks).toString(),
    }),
  );
}

const codeOf = (sent: Promise<unknown>) =>
  sent.then(
    () => "answered",
    (thrown: HttpClientError) => thrown.code,
  );

describe("httpClient", () => {
  it("gets a URL", async () => {
    const response = await httpClient.get(`${base}/echo?a=1`);
    expect([response.status, response.ok]).toEqual([200, true]);
    expect(response.json()).toEqual({ method: "GET", url: "/echo?a=1", body: "" });
    expect(response.text()).toContain('"method":"GET"');
    expect(response.bytes()).toBeInstanceOf(Uint8Array);
    expect(response.headers.getAll("Set-Cookie")).toEqual(["a=1", "b=2"]);
    expect(response.headers.get("x-latin")).toBe("\xe9");
  });

  it("posts JSON with headers", async () => {
    const response = await httpClient.request().post(`${base}/echo`).header("x-a", "1").json({ a: "é" }).send();
    expect(response.json()).toMatchObject({ method: "POST", type: "application/json", x: "1", body: '{"a":"é"}' });
  });

  it("posts bytes that are JSON, of any realm, as they are", async () => {
    const foreign = runInNewContext("new Uint8Array([123, 125])");
    for (const bytes of [new Uint8Array([123, 125]), foreign]) {
      const response = await httpClient.request().post(`${base}/echo`).json(bytes).send();
      expect(response.json()).toMatchObject({ method: "POST", type: "application/json", body: "{}" });
    }
  });

  it.each(["PUT", "PATCH", "DELETE"] as const)("sends %s with text and bytes, and gives any status", async (method) => {
    const request = httpClient.request();
    const start = { PUT: () => request.put(base), PATCH: () => request.patch(base), DELETE: () => request.del(base) }[
      method
    ];
    const sent = start().header("content-type", "text/x").body("text");
    const response = await sent.send();
    expect(response.json()).toMatchObject({ method, type: "text/x", body: "text" });
    expect(response.ok).toBe(method !== "PUT");
  });

  it("leaves the content type to a header, given before or after", async () => {
    for (const request of [
      httpClient.request().post(base).header("Content-Type", "application/x+json").json({}),
      httpClient.request().post(base).json({}).header("Content-Type", "application/x+json"),
    ]) {
      expect((await request.send()).json()).toMatchObject({ type: "application/x+json", body: "{}" });
    }
    expect(() => httpClient.request().post(base).json(undefined)).toThrow(TypeError);
  });

  it.each(["BAD METHOD", "", "G\r\n", "connect", "TRACE"])("refuses the method %j", async (method) => {
    expect(await codeOf(httpClient.request().method(method, base).send())).toBe("invalid");
  });

  it("sends HEAD, and reads an answer without a body", async () => {
    expect((await httpClient.request().head(`${base}/echo`).send()).bytes()).toHaveLength(0);
    expect((await httpClient.get(`${base}/empty`)).text()).toBe("");
  });

  it("does not follow redirects", async () => {
    const response = await httpClient.get(`${base}/redirect`);
    expect([response.status, response.headers.get("location")]).toEqual([302, "/echo"]);
  });

  it.each(["/never", "/half"])("gives up on %s after its time-out", async (path) => {
    const thrown = await httpClient
      .request()
      .get(`${base}${path}`)
      .timeout(50)
      .send()
      .catch((e) => e);
    expect(thrown).toBeInstanceOf(HttpClientError);
    expect(thrown.code).toBe("timeout");
    expect(thrown.message).toMatch(/^GET 127\.0\.0\.1:\d+: no answer within 50 ms$/);
  });

  it("stops at its limit of bytes", async () => {
    expect(await codeOf(httpClient.request().get(`${base}/large`).maxBytes(99_999).send())).toBe("too_large");
    expect((await httpClient.request().get(`${base}/large`).maxBytes(100_000).send()).bytes()).toHaveLength(100_000);
  });

  it("says why there is no answer", async () => {
    expect(await codeOf(httpClient.get(`http://127.0.0.1:${await freePort()}/`))).toBe("refused");
    expect(await codeOf(httpClient.get("http://nowhere.invalid/"))).toBe("unreachable");
    expect(await codeOf(httpClient.get(`${base}/broken`))).toBe("unreachable");
  });

  it.each(["refused", "timeout", "unreachable"])("takes %s from a runtime that says why", async (why) => {
    expect(await codeOf(httpClient.get(`${base}/why/${why}`))).toBe(why);
    const thrown = await httpClient.get(`${base}/why/${why}`).catch((e) => e);
    expect(thrown.message).toMatch(/^GET 127\.0\.0\.1:\d+: the host (refused|timed out|is unreachable)$/);
    expect((await fetch(`${base}/why/${why}`)).status).toBe(502);
  });

  it("takes what it does not know for unreachable", async () => {
    expect(await codeOf(httpClient.get(`${base}/why/whatever`))).toBe("unreachable");
  });

  it.each(["", "/path", "ftp://a/b", "http://", "http://user:hunter2@[bad/"])(
    "refuses the URL %j without repeating it",
    async (url) => {
      const thrown = await httpClient.get(url).catch((e) => e);
      expect(thrown).toMatchObject({ code: "invalid", message: "httpClient: expects an absolute http or https URL" });
    },
  );

  it("refuses a password in a URL, and a body of GET", async () => {
    const thrown = await httpClient.get(base.replace("//", "//ada:hunter2@")).catch((e) => e);
    expect(thrown).toMatchObject({
      code: "invalid",
      message: expect.stringContaining("put user name and password in a header"),
    });
    expect(thrown.message).not.toContain("hunter2");
    const body = httpClient.request().get(`${base}/echo`).body("x");
    await expect(body.send()).rejects.toMatchObject({ code: "invalid" });
  });

  it("sends bytes that are JSON as they are, and takes any time-out", async () => {
    const bytes = new TextEncoder().encode('{"a":1}');
    const sent = await httpClient.request().post(`${base}/echo`).json(bytes).timeout(Number.POSITIVE_INFINITY).send();
    expect(sent.json()).toMatchObject({ type: "application/json", body: '{"a":1}' });
  });

  it("refuses to be an answer before it is sent", async () => {
    const app = testApp(routes({ index: get("/", () => ok({ all: [httpClient.request().get("http://a.test")] })) }));
    const reported = vi.spyOn(console, "error").mockReturnValue();
    expect((await app.get("/")).status).toBe(500);
    expect(reported.mock.calls[0]?.[0]).toContain(
      "TypeError: the request was not sent; send it first: ok((await request",
    );
    reported.mockRestore();
  });

  it("refuses headers that can't be sent, naming them", () => {
    expect(() => httpClient.request().header("x-a", "a\r\nb")).toThrow(/header "x-a"/);
  });
});
