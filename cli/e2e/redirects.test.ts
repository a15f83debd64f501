/** `fetch` follows redirects (Fetch, section 4.4), and the fence of outbound calls holds for each of them. */
import { spawnSync } from "node:child_process";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { developing, project } from "./develop.ts";
import { type Running, startTenon, tenon } from "./servers.ts";

developing();

/** Makes the call that the request's body describes, and tells its outcome. */
const relay = `
async function relay({ url, init = {}, form, blob, stream, abortAfter }) {
  if (form) { init.body = new FormData(); init.body.append("a", "b"); }
  if (blob) init.body = new Blob(["bl", "ob"], { type: "x/y" });
  if (stream) { init.body = new ReadableStream({ start(c) { c.enqueue(new TextEncoder().encode("piece")); c.close(); } }); init.duplex = "half"; }
  if (abortAfter !== undefined) { const controller = new AbortController(); init.signal = controller.signal; setTimeout(() => controller.abort(new RangeError("late")), abortAfter); }
  try {
    const r = await fetch(url, init);
    return { status: r.status, url: r.url, redirected: r.redirected, location: r.headers.get("location"), text: await r.text() };
  } catch (e) {
    return { threw: e.name, message: e.message };
  }
}`;
const handlers = {
  routes: `import { httpClient, ok, post, routes, sidecar } from "@tenon/sdk";
${relay}
export default routes({
  relay: post("/", async (_, req) => ok(await relay(req.json()))),
  clients: post("/clients", async (_, req) => {
    const { url, path } = req.json();
    const answers = [await httpClient.request().get(url).header("authorization", "Bearer secret").send(), await sidecar("api").get(path)];
    return ok(answers.map(({ status, headers }) => [status, headers.get("location")]));
  }),
});
`,
  fetch: `${relay}
export default { fetch: async (request) => Response.json(await relay(await request.json())) };
`,
};

const servers: Server[] = [];
let here: string;
let there: string;
let forbidden: string;
/** Requests that reached the server which no module may call. */
let leaked = 0;

async function server(
  answer: (request: IncomingMessage, body: string) => { status?: number; location?: string },
): Promise<string> {
  const made = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const { status = 200, location } = answer(request, body);
    const { authorization = "", cookie = "", "content-type": type = "", "x-own": own = "" } = request.headers;
    const seen = [
      request.method,
      request.url,
      body,
      authorization,
      cookie,
      String(type).replace(/boundary=.*/, "boundary"),
      own,
    ];
    response.writeHead(status, location === undefined ? {} : { location });
    if (request.url === "/endless") return void response.write("begun");
    response.end(status === 200 ? seen.join("|") : "moved");
  });
  servers.push(made);
  await new Promise<void>((listening) => made.listen(0, "127.0.0.1", listening));
  return `http://127.0.0.1:${(made.address() as AddressInfo).port}`;
}

beforeAll(async () => {
  forbidden = await server(() => {
    leaked++;
    return {};
  });
  there = await server(() => ({}));
  here = await server(({ url = "" }) => {
    const [, what, status, ...rest] = url.split("/");
    const count = Number(status);
    if (what === "loop") return { status: 302, location: "/loop" };
    if (what === "times") return count === 0 ? {} : { status: 302, location: `/times/${count - 1}` };
    if (what === "bare") return { status: 302 };
    if (what !== "to") return {};
    return { status: count, location: decodeURIComponent(rest.join("/")) };
  });
});
afterAll(() => {
  for (const each of servers) {
    each.closeAllConnections();
    each.close();
  }
});

describe.each(Object.entries(handlers))("in a module with %s", (kind, handler) => {
  let running: Running;
  beforeAll(async () => {
    const hosts = [here, there].map((url) => JSON.stringify(new URL(url).host)).join(", ");
    const name = `redirects-${kind}`;
    const at = await project(name, handler, `[outbound]\nallow = [${hosts}]\n[sidecars]\napi = "${here}"\n`);
    const built = spawnSync(process.execPath, [tenon, "build", "-r"], { cwd: at, encoding: "utf8" });
    expect(built.status, built.stderr).toBe(0);
    running = await startTenon([join(at, `dist/${name}.wasm`)], name, at);
  });
  afterAll(() => running?.stop());

  const to = (status: number, location: string) => `${here}/to/${status}/${encodeURIComponent(location)}`;
  const call = async (url: string, init: object = {}, more: object = {}) => {
    const body = JSON.stringify({ url, init, ...more });
    const answer = await fetch(`${running.base}/`, {
      method: "POST",
      body,
      headers: { "content-type": "application/json" },
    });
    return (await answer.json()) as Record<string, unknown>;
  };

  test.each([301, 302, 303, 307, 308])("%i is followed, refused, or returned", async (status) => {
    const url = to(status, "/end?a=b");
    const followed = { status: 200, url: `${here}/end?a=b`, redirected: true, text: "GET|/end?a=b|||||" };
    expect(await call(url)).toMatchObject(followed);
    expect(await call(url, { redirect: "follow" })).toMatchObject(followed);
    expect(await call(url, { redirect: "error" })).toMatchObject({ threw: "TypeError" });
    const manual = { status, url, redirected: false, location: "/end?a=b", text: "moved" };
    expect(await call(url, { redirect: "manual" })).toMatchObject(manual);
  });

  test.each([
    [301, "GET||"],
    [302, "GET||"],
    [303, "GET||"],
    [307, "POST|body|text/plain;charset=UTF-8"],
    [308, "POST|body|text/plain;charset=UTF-8"],
  ])("POST by %i", async (status, expected) => {
    const { text } = await call(to(status, "/end"), { method: "POST", body: "body" });
    const [method, , body, , , type] = String(text).split("|");
    expect([method, body, type].join("|")).toBe(expected);
  });

  test("other methods stay, except by 303, and HEAD always", async () => {
    for (const status of [301, 302, 307]) {
      expect(await call(to(status, "/end"), { method: "PUT", body: "x" })).toMatchObject({
        text: expect.stringMatching(/^PUT\|\/end\|x\|/),
      });
    }
    expect(await call(to(303, "/end"), { method: "PUT", body: "x" })).toMatchObject({
      text: expect.stringMatching(/^GET\|\/end\|\|/),
    });
    expect(await call(to(303, "/end"), { method: "HEAD" })).toMatchObject({ status: 200, redirected: true, text: "" });
  });

  test("a form and a blob are sent again, and a stream is not", async () => {
    expect(await call(to(307, "/end"), { method: "POST" }, { blob: true })).toMatchObject({
      text: "POST|/end|blob|||x/y|",
    });
    const form = await call(to(308, "/end"), { method: "POST" }, { form: true });
    expect(form["text"]).toMatch(/^POST\|\/end\|--.*name="a"\r\n\r\nb\r\n.*\|\|\|multipart\/form-data; boundary\|$/s);
    for (const status of [301, 302, 307, 308]) {
      expect(await call(to(status, "/end"), { method: "POST" }, { stream: true })).toMatchObject({
        threw: "TypeError",
      });
    }
    expect(await call(to(303, "/end"), { method: "POST" }, { stream: true })).toMatchObject({ text: "GET|/end|||||" });
    expect(await call(`${here}/end`, { method: "POST" }, { stream: true })).toMatchObject({
      text: "POST|/end|piece||||",
    });
  });

  test("credentials stay at their origin", async () => {
    const headers = { authorization: "Bearer secret", cookie: "a=b", "x-own": "1", "proxy-authorization": "p" };
    expect(await call(to(302, "/end"), { headers })).toMatchObject({ text: "GET|/end||Bearer secret|a=b||1" });
    expect(await call(to(302, `${there}/end`), { headers })).toMatchObject({ text: "GET|/end|||||1" });
    // They do not come back.
    const back = to(302, `${there}/end`);
    expect(await call(to(302, back), { headers })).toMatchObject({ text: "GET|/end|||||1" });
  });

  test("fragments are inherited, and not sent", async () => {
    expect(await call(`${to(302, "/end")}#here`)).toMatchObject({ url: `${here}/end`, text: "GET|/end|||||" });
  });

  test("relative and empty locations, and none", async () => {
    expect(await call(to(302, "../../end"))).toMatchObject({ text: "GET|/end|||||" });
    expect(await call(to(302, `//${new URL(there).host}/x`))).toMatchObject({ url: `${there}/x` });
    expect(await call(`${here}/bare`)).toMatchObject({ status: 302, redirected: false, text: "moved" });
  });

  test("twenty redirects, and no more", async () => {
    expect(await call(`${here}/times/20`)).toMatchObject({ status: 200, url: `${here}/times/0` });
    expect(await call(`${here}/times/21`)).toMatchObject({ threw: "TypeError" });
    expect(await call(`${here}/loop`)).toMatchObject({ threw: "TypeError" });
  });

  test("locations that fetch does not follow", async () => {
    const locations = [
      "ftp://a/",
      "file:///etc/passwd",
      "data:,x",
      "javascript:1",
      "http://u:p@127.0.0.1/",
      "http://",
      "http://[",
      "http://a b/",
    ];
    for (const location of locations)
      expect(await call(to(302, location)), location).toMatchObject({ threw: "TypeError" });
  });

  test("each redirect is inside the fence", async () => {
    const before = leaked;
    expect(await call(`${forbidden}/`)).toMatchObject({ threw: "TypeError" });
    expect(await call(to(302, `${forbidden}/`))).toMatchObject({ threw: "TypeError" });
    expect(await call(to(302, to(302, `${forbidden}/`)))).toMatchObject({ threw: "TypeError" });
    const { port } = new URL(forbidden);
    for (const host of ["localhost", "[::ffff:127.0.0.1]", "2130706433", "0.0.0.0", "127.1"]) {
      expect(await call(to(307, `http://${host}:${port}/`)), host).toMatchObject({ threw: "TypeError" });
    }
    expect(leaked).toBe(before);
  });

  if (kind === "routes")
    test("the SDK's clients follow none", async () => {
      const url = to(302, `${there}/end`);
      const body = JSON.stringify({ url, path: url.slice(here.length) });
      const answer = await fetch(`${running.base}/clients`, {
        method: "POST",
        body,
        headers: { "content-type": "application/json" },
      });
      expect(await answer.json()).toEqual([
        [302, `${there}/end`],
        [302, `${there}/end`],
      ]);
    });

  test("a signal ends a call, and the reading of its answer", async () => {
    expect(await call(`${here}/endless`, {}, { abortAfter: 50 })).toEqual({ threw: "RangeError", message: "late" });
  });
});
