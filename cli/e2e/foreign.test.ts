/** A component that nothing of Tenon is in: it speaks `wasi:http` by itself, with streams. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { send } from "./http.ts";
import { foreignComponent, type Running, startTenon } from "./servers.ts";

let server: Running;
beforeAll(async () => {
  server = await startTenon([foreignComponent], "foreign");
});
afterAll(() => server?.stop());

const call = (path: string, body?: Buffer, at = server) =>
  send(at.base, {
    path: `/run/foreign${path}`,
    ...(body === undefined ? {} : { method: "POST", body }),
  });

test("it sees its own path and query", async () => {
  const answer = await call("/a%2Fb?c=%26+d");
  expect(answer.status).toBe(203);
  expect(answer.body.toString()).toBe("/a%2Fb?c=%26+d");
});

test("a response that is written piece by piece arrives whole", async () => {
  const { body } = await call("/stream");
  expect(body).toHaveLength(200_000);
  expect(body.toString().split("\n").at(199)).toMatch(/^\.+199$/);
});

test.each([0, 1, 4097, 3 * 1024 * 1024])("a body of %i bytes comes back", async (size) => {
  const body = Buffer.alloc(size, "0123456789abcdef");
  const answer = await call("/echo", body);
  expect(answer.status).toBe(200);
  expect(answer.body.equals(body)).toBe(true);
});

test("one that stops writing its answer is cut off, and its place is free again", async () => {
  const limited = await startTenon([foreignComponent], "foreign", undefined, {
    TENON_SERVER_REQUEST_TIMEOUT_MS: "500",
    TENON_SERVER_MAX_CONCURRENT: "1",
  });
  try {
    for (const path of ["/spin", "/stall", "/spin"]) await expect(call(path, undefined, limited)).rejects.toThrow();
    await expect.poll(limited.errors).toContain("nothing more of its answer came within 500 ms: it is cut off");
    expect((await call("/x", undefined, limited)).body.toString()).toBe("/x");
  } finally {
    await limited.stop();
  }
});

test('one whose instances serve a single request is answered with isolation = "shared", too', async () => {
  const shared = await startTenon([foreignComponent], "foreign", undefined, { TENON_SERVER_ISOLATION: "shared" });
  try {
    for (let i = 0; i < 5; i++) expect((await call("/x", undefined, shared)).body.toString()).toBe("/x");
    await expect.poll(shared.errors).toContain("its instances serve one request each");
  } finally {
    await shared.stop();
  }
});
