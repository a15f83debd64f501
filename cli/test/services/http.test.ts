/** The contract of `tenon sidecar http`, inside this process. */
import { once } from "node:events";
import { mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type RequestOptions, request, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { HttpSidecar, type HttpSidecarOptions } from "../../src/embed/http-sidecar.ts";

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

let folder: string;
let base: string;
let seen: Seen[] = [];
let answer: (res: ServerResponse, seen: Seen) => void;
const started: HttpSidecar[] = [];

/** The third party's API. */
const api = createServer(async (req, res) => {
  let body = "";
  for await (const piece of req) body += piece;
  const one = { method: req.method ?? "", url: req.url ?? "", headers: req.headers, body };
  seen.push(one);
  answer(res, one);
});

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "tenon-http-sidecar-"));
  writeFileSync(join(folder, "key"), "Bearer sk_canary\n");
  await new Promise<void>((resolve) => api.listen(0, "127.0.0.1", resolve));
  base = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
});
beforeEach(() => {
  seen = [];
  answer = (res) => res.writeHead(200, { "content-type": "application/json", "x-api": "1" }).end('{"id":1}');
});
afterEach(async () => {
  for (const sidecar of started.splice(0)) await sidecar.close();
});
afterAll(() => {
  api.close();
  api.closeAllConnections();
  rmSync(folder, { recursive: true });
});

async function start(options: Partial<HttpSidecarOptions> = {}): Promise<HttpSidecar> {
  const sidecar = await HttpSidecar.start({ upstream: base, listen: "127.0.0.1:0", logLevel: "off", ...options });
  started.push(sidecar);
  return sidecar;
}

interface Asked extends RequestOptions {
  readonly body?: string;
}

/** Sends a request like a client, with an unnormalized path. */
function ask(sidecar: HttpSidecar, path: string, { body, ...options }: Asked = {}) {
  const { address } = sidecar;
  const where = address.startsWith("unix://")
    ? { socketPath: address.slice(7) }
    : { host: "127.0.0.1", port: Number(new URL(address).port) };
  return new Promise<{ status: number; headers: IncomingMessage["headers"]; body: string }>((resolve, reject) => {
    const outgoing = request({ ...where, path, agent: false, ...options }, async (res) => {
      let text = "";
      try {
        for await (const piece of res) text += piece;
        resolve({ status: res.statusCode ?? 0, headers: res.headers, body: text });
      } catch (error) {
        reject(error);
      }
    });
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

/** Sends bytes as they are, and returns the whole answer of a connection that the sidecar closes. */
async function askRaw(sidecar: HttpSidecar, sent: string) {
  const socket = connect(Number(new URL(sidecar.address).port), "127.0.0.1");
  let text = "";
  socket.on("data", (piece) => {
    text += piece;
  });
  socket.write(sent);
  await once(socket, "close");
  const [head = "", body = ""] = text.split("\r\n\r\n");
  return { status: Number(head.split(" ")[1]), head: head.toLowerCase(), body };
}

describe("a request", () => {
  it("goes on as it came, with the credential and without what is the connection's", async () => {
    const sidecar = await start({ upstream: `${base}/base/`, headerFiles: { Authorization: join(folder, "key") } });
    const headers = {
      "content-type": "text/plain",
      authorization: "Bearer other",
      te: "trailers",
      "x-hop": "1",
      connection: "x-hop",
    };
    const got = await ask(sidecar, "/v1/a%20b?c=%2e&d", { method: "POST", headers, body: "body" });
    expect([got.status, got.body, got.headers["x-api"]]).toEqual([200, '{"id":1}', "1"]);
    expect(seen[0]).toMatchObject({ method: "POST", url: "/base/v1/a%20b?c=%2e&d", body: "body" });
    const sent = seen[0]?.headers ?? {};
    expect(sent).toMatchObject({
      authorization: "Bearer sk_canary",
      "content-type": "text/plain",
      host: new URL(base).host,
    });
    expect([sent["te"], sent["x-hop"]]).toEqual([undefined, undefined]);
  });

  it("has the credential of now, when its file is replaced", async () => {
    const file = join(folder, "rotating");
    writeFileSync(file, "one");
    const sidecar = await start({ headerFiles: { "x-key": file } });
    await ask(sidecar, "/");
    writeFileSync(file, "two");
    utimesSync(file, 1, 1);
    await ask(sidecar, "/");
    expect(seen.map(({ headers }) => headers["x-key"])).toEqual(["one", "two"]);
  });

  it("is answered with what the API answers, errors and redirects too", async () => {
    const sidecar = await start();
    for (const status of [201, 204, 302, 404, 422, 500]) {
      answer = (res) => res.writeHead(status, { location: "/x" }).end();
      expect(await ask(sidecar, "/")).toMatchObject({ status, headers: { location: "/x" } });
    }
  });

  it("passes on what is allowed alone", async () => {
    const sidecar = await start({ allow: ["POST /v1/charges", "GET /v1/customers/*", "* /open/**"] });
    const status = async (method: string, path: string) => (await ask(sidecar, path, { method })).status;
    for (const [method, path] of [
      ["POST", "/v1/charges"],
      ["POST", "/v1/charges?x=1"],
      ["POST", "/v1/ch%61rges"],
      ["GET", "/v1/customers/cus_1"],
      ["HEAD", "/v1/customers/cus_1"],
      ["DELETE", "/open/a/b/c"],
    ] as const) {
      expect([method, path, await status(method, path)]).toEqual([method, path, 200]);
    }
    const passed = seen.length;
    for (const [method, path, expected] of [
      ["GET", "/v1/charges", 403],
      ["POST", "/v1/charges/", 403],
      ["POST", "/v1/CHARGES", 403],
      ["POST", "//v1/charges", 403],
      ["DELETE", "/v1/customers/cus_1", 403],
      ["GET", "/v1/customers", 403],
      ["GET", "/v1/customers/", 403],
      ["GET", "/v1/customers/a/b", 403],
      ["GET", "/open", 403],
      ["GET", "/open/../v1/balance", 400],
      ["GET", "/open/%2e%2e/v1/balance", 400],
      ["GET", "/open/..;/v1/balance", 400],
      ["GET", "/open/a%2fb", 400],
      ["GET", "/open/a%5cb", 400],
      ["GET", "/open/%00", 400],
      ["GET", "/open/%zz", 400],
      ["GET", "/open/%252e%252e/v1/balance", 400],
      ["GET", "/open/%252fv1", 400],
      ["GET", "/open/%25%32%65%25%32%65/v1/balance", 400],
      ["GET", "/open/.%20/v1/balance", 400],
      ["GET", "/open/..%20/v1/balance", 400],
      ["GET", "/open/.../v1/balance", 400],
      ["GET", "/open/%2e./v1/balance", 400],
      ["GET", "/open/%2E%2E%3B/v1/balance", 400],
      ["GET", "/open/%3f/v1", 400],
      ["GET", "/open/%23/v1", 400],
      ["GET", "/open\\..\\v1/balance", 400],
      ["GET", "/open/%c0%ae%c0%ae/v1/balance", 400],
      ["GET", "/v1//customers/cus_1", 403],
      ["GET", "/v1/customers/;a", 403],
      ["GET", "/v1/customers;/cus_1", 403],
    ] as const) {
      expect([method, path, await status(method, path)]).toEqual([method, path, expected]);
    }
    expect(seen).toHaveLength(passed);
  });

  it("is checked as it goes on, also when its client has resolved the dots", async () => {
    const sidecar = await start({ allow: ["* /open/**"], headerFiles: { authorization: join(folder, "key") } });
    for (const path of [
      "/open/../v1/balance",
      "/open/%2e%2e/v1/balance",
      "/open/.%2E/v1",
      "/open/a/../../v1",
      "/open\\..\\v1",
    ]) {
      // `fetch` resolves dots, encoded ones too, as the clients of modules do.
      expect([path, (await fetch(`${sidecar.address}${path}`)).status]).toEqual([path, 403]);
    }
    expect(seen).toEqual([]);
    expect((await fetch(`${sidecar.address}/v1/../open/x`)).status).toBe(200);
    expect(seen[0]?.url).toBe("/open/x");
  });

  const OVERRIDES = [
    ...["x-http-method-override", "x-http-method", "x-method-override", "x-original-method", "x_http_method_override"],
    ...[
      "x-original-url",
      "x-rewrite-url",
      "x-original-uri",
      "x-forwarded-uri",
      "x-forwarded-path",
      "x-forwarded-prefix",
    ],
    ...["x-forwarded-method", "x-forwarded-host", "x-forwarded-for", "x-envoy-original-path", "x-waws-unencoded-url"],
    ...["forwarded", "x-real-ip", "x-script-name", "x-accel-redirect", "soapaction", "x-anything"],
  ];

  it("goes on without headers that could name another one, when rules say what is allowed", async () => {
    const headers = Object.fromEntries(OVERRIDES.map((name) => [name, "/v1/balance"]));
    const usual = { accept: "text/plain", "idempotency-key": "1", "if-match": "*", traceparent: "00-1" };
    const options = { method: "POST", headers: { ...headers, ...usual }, body: "a" };
    const files = { authorization: join(folder, "key"), "x-forwarded-prefix": join(folder, "key") };
    const strict = await start({ allow: ["POST /v1/charges"], headerFiles: files, forwardHeaders: ["SOAPAction"] });
    expect((await ask(strict, "/v1/charges", options)).status).toBe(200);
    const sent = seen[0]?.headers ?? {};
    expect(sent).toMatchObject({ ...usual, authorization: "Bearer sk_canary" });
    const passed = OVERRIDES.filter((name) => sent[name] !== undefined);
    // One is asked for, and one is from a file.
    expect([passed, sent["x-forwarded-prefix"]]).toEqual([["x-forwarded-prefix", "soapaction"], "Bearer sk_canary"]);
    // Without rules every request is allowed, whatever it names.
    const open = await start();
    await ask(open, "/v1/charges", options);
    expect(seen[1]?.headers).toMatchObject(headers);
  });

  it("does not name another method in a field, when rules say what is allowed", async () => {
    const strict = await start({ allow: ["* /**"] });
    const form = { "content-type": "application/x-www-form-urlencoded" };
    const parts = { "content-type": "multipart/form-data; boundary=b" };
    const part = (name: string) => `--b\r\nContent-Disposition: form-data; name=${name}\r\n\r\nDELETE\r\n--b--\r\n`;
    for (const [path, headers, body] of [
      ["/a?_method=DELETE", {}, ""],
      ["/a?b=1&_METHOD=DELETE", {}, ""],
      ["/a?b=1;%5fmethod=DELETE", {}, ""],
      ["/a?_method[]=DELETE", {}, ""],
      ["/a?_HttpMethod=PATCH", {}, ""],
      ["/a?x-http-method-override=PUT", {}, ""],
      ["/a", form, "_method=delete"],
      ["/a", form, "a=1&+_method=delete"],
      ["/a", parts, part('"_method"')],
      ["/a", parts, part("_method")],
      ["/a", { ...parts, "content-type": "Multipart/mixed; boundary=b" }, part('"_method"')],
    ] as const) {
      const { status } = await ask(strict, path, { method: "POST", headers, body });
      expect([path, body, status]).toEqual([path, body, 400]);
    }
    expect(seen).toEqual([]);
    for (const [path, headers, body] of [
      ["/a?method=card&b=_method", {}, ""],
      ["/a", form, "payment_method=card&method=a"],
      ["/a", parts, part('"method"')],
      ["/a", { "content-type": "application/json" }, '{"_method":"x"}'],
    ] as const) {
      expect((await ask(strict, path, { method: "POST", headers, body })).status).toBe(200);
    }
  });

  it("needs names of headers for those that are added", async () => {
    await expect(start({ forwardHeaders: ["a: b"] })).rejects.toMatchObject({ code: "CONFIG" });
  });

  it("may name the whole URL, of which the path and the query count", async () => {
    const sidecar = await start({ allow: ["GET /v1/*", "GET /"], token: "t" });
    const headers = { authorization: "Bearer t" };
    for (const [target, url] of [
      ["http://api/v1/x", "/v1/x"],
      ["HTTP://api.example:80/v1/%78?a=http://b/../c", "/v1/%78?a=http://b/../c"],
      ["http://[::1]:7004/v1/x", "/v1/x"],
      ["http://api", "/"],
      ["http://api?a=/v1/x", "/?a=/v1/x"],
    ] as const) {
      seen = [];
      expect([target, (await ask(sidecar, target, { headers })).status, seen[0]?.url]).toEqual([target, 200, url]);
    }
    expect((await ask(sidecar, "http://api/health")).status).toBe(200);
    expect((await ask(sidecar, "http://api/metrics")).status).toBe(401);
    expect((await ask(sidecar, "http://api/v1/x", { headers: { ...headers, host: "evil.example" } })).status).toBe(403);
    seen = [];
    for (const [target, expected] of [
      ["http://api/v2", 403],
      ["http://api//v1/x", 403],
      ["http://api/v1/../v2", 400],
      ["http://api/v1/%2e%2e", 400],
      ["http://api/v1/a%2fb", 400],
      ["http://api/v1\\x", 400],
      ["http://api\\/v1/x", 400],
      ["http://api\\@evil.example/v1/x", 400],
      ["http://user:canary@api/v1/x", 400],
      ["http://api/v1/x#f", 400],
      ["http://api#/v1/x", 400],
      ["http:///v1/x", 400],
      ["http://:80/v1/x", 400],
      ["http:/v1/x", 400],
      ["http:v1/x", 400],
      ["https://api/v1/x", 400],
      ["ftp://api/v1/x", 400],
      ["api/v1/x", 400],
      ["*", 400],
    ] as const) {
      const lines = ["host: localhost", "authorization: Bearer t", "connection: close"];
      const { status } = await askRaw(sidecar, `GET ${target} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`);
      expect([target, status]).toEqual([target, expected]);
    }
    expect(seen).toEqual([]);
  });

  it("of a method that echoes the credential, or opens a tunnel, does not go on", async () => {
    const sidecar = await start({ headerFiles: { authorization: join(folder, "key") }, allow: ["* /**"] });
    const traced = await ask(sidecar, "/v1", { method: "TRACE" });
    expect([traced.status, traced.headers["content-type"]]).toEqual([501, "application/problem+json"]);
    expect(JSON.parse(traced.body)).toMatchObject({ status: 501, title: "Not Implemented" });
    const tunnel = await askRaw(
      sidecar,
      "CONNECT localhost:80 HTTP/1.1\r\nhost: localhost\r\n\r\nGET / HTTP/1.1\r\n\r\n",
    );
    expect([tunnel.status, tunnel.head]).toEqual([501, expect.stringContaining("application/problem+json")]);
    expect(JSON.parse(tunnel.body)).toMatchObject({ status: 501, title: "Not Implemented" });
    expect(seen).toEqual([]);
  });

  it("that is not HTTP is answered with problem details", async () => {
    const sidecar = await start();
    for (const [sent, status] of [
      ["GET / HTTP/1.1\r\nhost: localhost\r\nno colon\r\n\r\n", 400],
      [`GET / HTTP/1.1\r\nhost: localhost\r\nx: ${"x".repeat(100_000)}\r\n\r\n`, 431],
    ] as const) {
      // A connection that closes on bytes that nobody has read may lose its answer.
      const answered = () => askRaw(sidecar, sent).then((answer) => answer.status, String);
      await expect.poll(answered).toBe(status);
    }
    for (const [sent, status, detail] of [
      ["GET / HTTP/1.1\r\nconnection: close\r\n\r\n", 400, /Host/],
      ["GET / HTTP/1.1\r\nhost: localhost\r\nexpect: x\r\nconnection: close\r\n\r\n", 417, /expectation/],
    ] as const) {
      const answered = await askRaw(sidecar, sent);
      expect([answered.status, answered.head]).toEqual([status, expect.stringContaining("application/problem+json")]);
      expect(answered.body).toMatch(detail);
    }
    expect(seen).toEqual([]);
  });

  it("needs the token, which does not go on", async () => {
    const sidecar = await start({ token: "t" });
    for (const authorization of ["", "Bearer", "Bearer x", "Bearer T", "Basic t", "Bearert", "t"]) {
      const got = await ask(sidecar, "/", { headers: { authorization } });
      expect([got.status, got.headers["www-authenticate"]]).toEqual([401, "Bearer"]);
    }
    for (const authorization of ["Bearer t", "bearer t", "BEARER  t"]) {
      expect((await ask(sidecar, "/", { headers: { authorization } })).status).toBe(200);
    }
    expect(seen.map(({ headers }) => headers.authorization)).toEqual([undefined, undefined, undefined]);
    expect((await ask(sidecar, "/health")).status).toBe(200);
    expect((await ask(sidecar, "/metrics")).status).toBe(401);
  });

  it("comes from no web page, and by no other name", async () => {
    const sidecar = await start();
    for (const headers of [
      { host: "evil.example" },
      { host: "127.0.0.1.evil.example" },
      { origin: "https://evil.example" },
      { "sec-fetch-site": "cross-site" },
    ]) {
      expect((await ask(sidecar, "/", { headers })).status).toBe(403);
    }
    expect(seen).toEqual([]);
    expect((await ask(sidecar, "/", { headers: { host: "localhost:1" } })).status).toBe(200);
  });

  it("is as large as is allowed, and so is the answer", async () => {
    const sidecar = await start({ maxBodyBytes: 4 });
    answer = (res) => res.writeHead(200, { "content-length": "5" }).end("12345");
    expect((await ask(sidecar, "/", { method: "POST", body: "1234" })).status).toBe(502);
    expect((await ask(sidecar, "/", { method: "POST", body: "12345" })).status).toBe(413);
    const chunked = { method: "POST", headers: { "transfer-encoding": "chunked" }, body: "12345" };
    expect((await ask(sidecar, "/", chunked)).status).toBe(413);
    expect(seen).toHaveLength(1);
    answer = (res) => res.writeHead(200, { "content-length": "3" }).end("abc");
    expect((await ask(sidecar, "/")).body).toBe("abc");
    // An answer of unknown length breaks off at the limit.
    answer = (res) => {
      res.write("abc");
      res.end("def");
    };
    await expect(ask(sidecar, "/")).rejects.toThrow();
    answer = (res) => res.writeHead(200, { "content-length": "9" }).end();
    expect((await ask(sidecar, "/", { method: "HEAD" })).status).toBe(200);
  });

  it("waits its turn", async () => {
    const sidecar = await start({ rate: 2 });
    const statuses = await Promise.all([1, 2, 3, 4].map(() => ask(sidecar, "/")));
    expect(statuses.map(({ status }) => status).filter((status) => status === 200)).toHaveLength(2);
    expect(statuses.find(({ status }) => status === 429)?.headers["retry-after"]).toBe("1");
  });
});

describe("a failure", () => {
  it("is tried again where that does no harm", async () => {
    const sidecar = await start();
    const attempts = async (options: Asked, status: number, headers: Record<string, string> = {}) => {
      seen = [];
      answer = (res) => res.writeHead(seen.length < 3 ? status : 200, headers).end();
      return [(await ask(sidecar, "/", options)).status, seen.length];
    };
    expect(await attempts({}, 503)).toEqual([200, 3]);
    expect(await attempts({ method: "PUT", body: "x" }, 502)).toEqual([200, 3]);
    expect(seen.map(({ body }) => body)).toEqual(["x", "x", "x"]);
    expect(await attempts({ method: "POST", body: "x" }, 503)).toEqual([503, 1]);
    expect(await attempts({ method: "POST", body: "x", headers: { "idempotency-key": "k" } }, 503)).toEqual([200, 3]);
    expect(await attempts({}, 500)).toEqual([500, 1]);
    expect(await attempts({}, 429)).toEqual([429, 1]);
    expect(await attempts({}, 429, { "retry-after": "0" })).toEqual([200, 3]);
    expect(await attempts({}, 503, { "retry-after": "3600" })).toEqual([503, 1]);
    expect((await ask(sidecar, "/metrics")).body).toContain("tenon_sidecar_upstream_retries_total 8");
  });

  it("of a connection is tried again, and then 502", async () => {
    const sidecar = await start({ headerFiles: { authorization: join(folder, "key") } });
    answer = (res) => res.destroy();
    const got = await ask(sidecar, "/v1?key=canary");
    expect([got.status, seen.length, got.headers["content-type"]]).toEqual([502, 3, "application/problem+json"]);
    expect(JSON.parse(got.body)).toMatchObject({ status: 502, title: "Bad Gateway", type: "about:blank" });
    seen = [];
    expect((await ask(sidecar, "/", { method: "POST" })).status).toBe(502);
    expect(seen).toHaveLength(1);
    expect(got.body).not.toContain("canary");
  });

  it("of time is 504", async () => {
    // Long enough for the request to reach the API on a busy machine.
    const sidecar = await start({ timeoutMs: 1000 });
    answer = () => {};
    expect((await ask(sidecar, "/")).status).toBe(504);
    expect(seen).toHaveLength(1);
  });

  it("of a client ends the request to the API", async () => {
    const sidecar = await start();
    let closed: (() => void) | undefined;
    const left = new Promise<void>((resolve) => {
      closed = resolve;
    });
    const arrived = new Promise<void>((resolve) => {
      answer = (res) => {
        res.once("close", () => closed?.());
        resolve();
      };
    });
    const port = Number(new URL(sidecar.address).port);
    const outgoing = request({ host: "127.0.0.1", port, path: "/" }).on("error", () => {});
    outgoing.end();
    await arrived;
    outgoing.destroy();
    await left;
  });
});

describe("a sidecar", () => {
  it("listens at a socket, for its group, and leaves none behind", async () => {
    const path = join(folder, "api.sock");
    const sidecar = await start({ listen: `unix://${path}` });
    expect(sidecar.address).toBe(`unix://${path}`);
    expect(statSync(path).mode & 0o777).toBe(0o660);
    expect((await ask(sidecar, "/", { headers: { host: "api.sidecar.internal" } })).status).toBe(200);
    await expect(start({ listen: `unix://${path}` })).rejects.toThrow("is in use");
    await sidecar.close();
    started.pop();
    expect(statSync(path, { throwIfNoEntry: false })).toBeUndefined();
  });

  it("counts by the rule that allowed a request", async () => {
    const sidecar = await start({ allow: ["GET /a/*"] });
    await ask(sidecar, "/a/1");
    await ask(sidecar, "/b");
    const { body, headers } = await ask(sidecar, "/metrics");
    expect(headers["content-type"]).toMatch(/^application\/openmetrics-text/);
    expect(body).toContain('tenon_sidecar_requests_total{route="GET /a/*",method="GET",status="200"} 1\n');
    expect(body).toContain('tenon_sidecar_requests_total{route="none",method="GET",status="403"} 1\n');
    expect(body).toContain('tenon_sidecar_request_duration_seconds_bucket{le="+Inf",route="GET /a/*"} 1\n');
    expect(body).toMatch(/# EOF\n$/);
  });

  it.each<[string, Partial<HttpSidecarOptions>, RegExp]>([
    ["no address", { upstream: "api.stripe.com" }, /--upstream is not an http or https address/],
    ["another scheme", { upstream: "ftp://a" }, /--upstream is not an http/],
    ["credentials", { upstream: "https://a:canary@b" }, /--upstream has credentials/],
    ["a query", { upstream: "https://a/?key=canary" }, /--upstream is not an http/],
    ["a rule of nothing", { allow: ["/v1"] }, /"\/v1" allows nothing/],
    ["a rule with two stars inside", { allow: ["GET /**/a"] }, /allows nothing/],
    ["a name of no header", { headerFiles: { "a b": "x" } }, /"a b" is not a header's name/],
    ["a header of the connection", { headerFiles: { Host: "x" } }, /belongs to the connection/],
    ["no file", { headerFiles: { a: "/nowhere/canary" } }, /\/nowhere\/canary cannot be read/],
    ["nowhere to listen", { listen: "stripe" }, /nowhere to listen/],
    ["an empty token", { token: "" }, /token must not be empty/],
    ["other machines without a token", { listen: "0.0.0.0:0" }, /other machines reach 0\.0\.0\.0:0/],
  ])("refuses %s", async (_what, options, message) => {
    const failure = HttpSidecar.start({ upstream: base, listen: "127.0.0.1:0", ...options });
    await expect(failure).rejects.toThrow(message);
  });

  it("closes beside connections that have sent nothing, or only a part of a request", async () => {
    const sidecar = await start();
    const port = Number(new URL(sidecar.address).port);
    const sockets = await Promise.all(
      ["", "GET /a HT", "GET /a HTTP/1.1\r\nhost: a\r\n\r\n"].map(async (sent) => {
        const socket = connect(port, "127.0.0.1");
        await once(socket, "connect");
        socket.write(sent);
        if (sent.endsWith("\r\n\r\n")) await once(socket, "data");
        return socket.resume();
      }),
    );
    const ended = Promise.all(sockets.map((socket) => once(socket, "close")));
    await sidecar.close();
    await ended;
  });

  it("lets running requests finish when it closes", async () => {
    const sidecar = await start();
    let finish = () => {};
    const asked = new Promise<void>((resolve) => {
      answer = (res) => {
        finish = () => res.end("ended");
        resolve();
      };
    });
    const ends = ask(sidecar, "/ends");
    await asked;
    const closed = sidecar.close();
    finish();
    expect(await ends).toMatchObject({ status: 200, body: "ended" });
    await closed;
  });

  it("has no token among the paths of other kinds", async () => {
    const sidecar = await start({ token: "t" });
    expect((await ask(sidecar, "/storage-url/x")).status).toBe(401);
    expect(seen).toEqual([]);
  });

  it("passes on the API's own 405 and policies, and adds none", async () => {
    const sidecar = await start();
    answer = (res) => res.writeHead(405, { allow: "GET", "content-type": "text/plain" }).end("not here");
    const got = await ask(sidecar, "/");
    expect([got.status, got.body, got.headers["content-security-policy"]]).toEqual([405, "not here", undefined]);
  });

  it("refuses a value that is no header's, and does not repeat it", async () => {
    const file = join(folder, "broken");
    writeFileSync(file, "canary\nx: y");
    const failure = start({ headerFiles: { a: file } });
    await expect(failure).rejects.toThrow(/has no value for the header a/);
    await expect(failure).rejects.not.toThrow(/canary/);
  });
});
