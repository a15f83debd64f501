/** Requests that hyper cannot parse are answered with problem details, as all others. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { raw } from "./http.ts";
import { helloProject, startTenon } from "./servers.ts";

test("400, 414 and 431", async () => {
  const { base, stop } = await startTenon([join(helloProject, "dist/hello.wasm")], "hello");
  const { hostname, port } = new URL(base);
  const fields = Array.from({ length: 300 }, (_, i) => `x-${i}: 1\r\n`).join("");
  for (const [text, status] of [
    ["GET / HTTP/1.1\r\nHost: a\r\nBad Header: x\r\n\r\n", 400],
    [`GET /${"a".repeat(70_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 414],
    [`GET / HTTP/1.1\r\nHost: a\r\n${fields}\r\n`, 431],
  ] as const) {
    const [head = "", body = ""] = (await raw(hostname, Number(port), text)).split("\r\n\r\n");
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(head).toContain("content-type: application/problem+json");
    expect(JSON.parse(body)).toMatchObject({ type: "about:blank", status, detail: expect.any(String) });
  }
  await stop();
});
