import { once } from "node:events";
import { createServer, type RequestListener, type Server, type ServerOptions } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { answerMalformed } from "./malformed.ts";

let server: Server;
afterEach(() => server.close());

async function start(listener: RequestListener, options: ServerOptions = {}): Promise<void> {
  server = createServer(options, listener);
  answerMalformed(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
}

/** Sends bytes, and more of them once an answer ends in `behind`; returns everything until the connection is closed. */
async function exchange(sent: string, behind?: string, more = ""): Promise<string> {
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  let text = "";
  socket.on("data", (piece) => {
    text += piece;
    if (behind !== undefined && text.endsWith(behind)) socket.write(more);
  });
  socket.write(sent);
  await once(socket, "close");
  return text;
}

const GET = "GET / HTTP/1.1\r\nhost: a\r\n";

describe("a malformed request", () => {
  it.each([
    ["FOO / HTTP/1.1\r\n\r\n", 400, "Bad Request", /^The request cannot be read as HTTP\/1.1: Invalid method/],
    [`${GET}no colon\r\n\r\n`, 400, "Bad Request", /^The request cannot be read as HTTP\/1.1: Invalid header token/],
    [`${GET}x: ${"x".repeat(20_000)}\r\n\r\n`, 431, "Request Header Fields Too Large", /at most 16384 bytes/],
    [
      `POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n1;${"x".repeat(20_000)}\r\n`,
      413,
      "Payload Too Large",
      /extensions of a chunk/,
    ],
  ])("is answered with problem details: %.30j", async (sent, status, title, detail) => {
    await start((req) => req.resume().on("error", () => {}));
    const [head = "", body = ""] = (await exchange(sent)).split("\r\n\r\n");
    const lines = head.split("\r\n");
    expect(lines[0]).toBe(`HTTP/1.1 ${status} ${title}`);
    expect(lines).toContain("content-type: application/problem+json");
    expect(lines).toContain("connection: close");
    expect(lines).toContain(`content-length: ${body.length}`);
    expect(JSON.parse(body)).toEqual({ type: "about:blank", title, status, detail: expect.stringMatching(detail) });
  });

  it("that does not arrive in time is 408", async () => {
    const limits = { headersTimeout: 10, requestTimeout: 10, connectionsCheckingInterval: 10 };
    await start((_req, res) => res.end(), limits);
    expect(await exchange("GET / HT")).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n[\s\S]*"status":408/);
  });

  it("does not end up inside of another one's answer", async () => {
    await start((_req, res) => res.writeHead(200, { "content-length": "9" }).write("abc"));
    expect(await exchange(`${GET}\r\n`, "abc", "FOO / HTTP/1.1\r\n\r\n")).toMatch(
      /^HTTP\/1\.1 200 OK[\s\S]*\r\n\r\nabc$/,
    );
  });

  it("behind an answered one has an answer of its own", async () => {
    await start((_req, res) => res.writeHead(200, { "content-length": "3" }).end("abc"));
    const text = await exchange(`${GET}\r\n`, "abc", "FOO / HTTP/1.1\r\n\r\n");
    expect(text).toMatch(/^HTTP\/1\.1 200 OK[\s\S]*\r\n\r\nabcHTTP\/1\.1 400 Bad Request/);
  });
});
