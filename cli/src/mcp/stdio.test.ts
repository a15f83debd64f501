import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { serveStdio } from "./stdio.ts";

/** Serves lines, and returns what is written and the requests. */
async function served(lines: readonly unknown[], answer: (request: Request) => Response | Promise<Response>) {
  const written: unknown[] = [];
  const requests: { headers: Headers; body: string }[] = [];
  const input = Readable.from(lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`));
  await serveStdio(input, (line) => written.push(JSON.parse(line)), {
    url: "http://localhost/mcp",
    headers: [["authorization", "Bearer mine"]],
    fetch: async (request) => {
      requests.push({ headers: request.headers, body: await request.clone().text() });
      return answer(request);
    },
  });
  return { written, requests };
}

const result = { jsonrpc: "2.0", id: 1, result: {} };

test("a message becomes a request with the caller's headers, and its answer a line", async () => {
  const { written, requests } = await served([{ jsonrpc: "2.0", id: 1, method: "ping" }], () => {
    // An answer may have line breaks, and a line has none.
    return new Response(JSON.stringify(result, null, 2), { headers: { "content-type": "application/json" } });
  });
  expect(written).toEqual([result]);
  expect(requests[0]?.headers.get("authorization")).toBe("Bearer mine");
  expect(requests[0]?.headers.has("mcp-method")).toBe(false);
});

test("a message of the stateless revision gets the headers of HTTP", async () => {
  const params = { name: "füge hinzu", _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } };
  const { requests } = await served([{ jsonrpc: "2.0", id: 1, method: "tools/call", params }], () =>
    Response.json(result),
  );
  const headers = requests[0]?.headers;
  expect(headers?.get("mcp-protocol-version")).toBe("2026-07-28");
  expect(headers?.get("mcp-method")).toBe("tools/call");
  expect(headers?.get("mcp-name")).toBe(`=?base64?${Buffer.from("füge hinzu").toString("base64")}?=`);
});

test("events are lines, and a notification has no answer", async () => {
  const events = `event: message\ndata: {"jsonrpc":"2.0","method":"notifications/progress"}\n\n:\n\nevent: message\ndata: ${JSON.stringify(result)}\n\n`;
  const { written } = await served(
    ["", { jsonrpc: "2.0", method: "notifications/initialized" }, { id: 1 }],
    async (request) =>
      (await request.text()).includes("initialized")
        ? new Response(null, { status: 202 })
        : new Response(events, { headers: { "content-type": "text/event-stream" } }),
  );
  expect(written).toEqual([{ jsonrpc: "2.0", method: "notifications/progress" }, result]);
});

test("a failure of the server is an error of the request", async () => {
  const { written } = await served(["{", { jsonrpc: "2.0", id: "a", method: "ping" }], (request) => {
    if (request.signal.aborted) throw new Error("never");
    return new Response("", { status: 504 });
  });
  expect(written).toMatchObject([
    { id: null, error: { code: -32603 } },
    { id: "a", error: { message: "http://localhost/mcp answered 504" } },
  ]);
});

test("a server without tools, and one that does not answer, are named", async () => {
  const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
  const missing = await served([ping], () => new Response("", { status: 404 }));
  expect(missing.written).toMatchObject([
    { error: { message: expect.stringMatching(/^there are no tools at http:\/\/localhost\/mcp: .*`mcp`/) } },
  ]);
  const silent = await served([ping], () => {
    throw new TypeError("fetch failed", { cause: new Error("connect ECONNREFUSED 127.0.0.1:1") });
  });
  expect(silent.written).toMatchObject([
    { error: { message: "cannot reach http://localhost/mcp: connect ECONNREFUSED 127.0.0.1:1" } },
  ]);
});

test("a cancelled request has no answer", async () => {
  const lines = [
    { jsonrpc: "2.0", id: 1, method: "tools/call", params: {} },
    { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } },
  ];
  const { written } = await served(lines, async (request) => {
    if (!(await request.clone().text()).includes("tools/call")) return new Response(null, { status: 202 });
    if (!request.signal.aborted) await new Promise((resolve) => request.signal.addEventListener("abort", resolve));
    throw new Error("aborted");
  });
  expect(written).toEqual([]);
});
