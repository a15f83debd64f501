/** The contract of storage, on everything that keeps to it. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeEach } from "../../../testing/needs.ts";
import type { Ask } from "./ask.ts";
import { s3Target } from "./s3.ts";
import { type Started, storageTargets } from "./targets.ts";

describeEach("storage: $name", [...storageTargets, s3Target], (target) => {
  let started: Started;
  let ask: Ask;
  beforeAll(async () => {
    started = await target.start();
    ask = started.ask;
  });
  afterAll(() => started.stop());

  it("keeps objects with their content type, and tells a new one from a changed one", async () => {
    const made = await ask("PUT", "/storage/a/b.txt", { body: "hello", headers: { "content-type": "text/x" } });
    expect([made.status, made.headers["location"]]).toEqual([201, "/storage/a/b.txt"]);
    const read = await ask("GET", "/storage/a/b.txt");
    expect([read.status, read.text, read.headers["content-type"], read.headers["etag"]]).toEqual([
      200,
      "hello",
      "text/x",
      made.headers["etag"],
    ]);
    expect(read.headers).toMatchObject({ "content-length": "5", "accept-ranges": "bytes" });
    const head = await ask("HEAD", "/storage/a/b.txt");
    expect([head.status, head.text, head.headers["content-length"]]).toEqual([200, "", "5"]);
    const changed = await ask("PUT", "/storage/a/b.txt", { body: "other text" });
    expect([changed.status, changed.headers["etag"] === made.headers["etag"]]).toEqual([204, false]);
    expect((await ask("GET", "/storage/a/b.txt")).headers["content-type"]).toBe("application/octet-stream");
    expect((await ask("DELETE", "/storage/a/b.txt")).status).toBe(204);
    for (const method of ["GET", "DELETE"]) expect((await ask(method, "/storage/a/b.txt")).json.status).toBe(404);
    expect((await ask("HEAD", "/storage/a/b.txt")).status).toBe(404);
    await ask("PUT", "/storage/empty", { body: "" });
    expect((await ask("GET", "/storage/empty")).headers["content-length"]).toBe("0");
    await ask("DELETE", "/storage/empty");
  });

  it("sends ranges", async () => {
    await ask("PUT", "/storage/r", { body: "0123456789" });
    for (const [range, text, said] of [
      ["bytes=2-4", "234", "bytes 2-4/10"],
      ["bytes=8-", "89", "bytes 8-9/10"],
      ["bytes=-3", "789", "bytes 7-9/10"],
      ["bytes=5-99", "56789", "bytes 5-9/10"],
    ]) {
      const part = await ask("GET", "/storage/r", { headers: { range: range as string } });
      expect([part.status, part.text, part.headers["content-range"]]).toEqual([206, text, said]);
    }
    const beyond = await ask("GET", "/storage/r", { headers: { range: "bytes=10-" } });
    expect([beyond.status, beyond.headers["content-range"]]).toEqual([416, "bytes */10"]);
    for (const range of ["bytes=0-1,3-4", "lines=1-2", "bytes=4-2"]) {
      expect((await ask("GET", "/storage/r", { headers: { range } })).status).toBe(200);
    }
    const stale = await ask("GET", "/storage/r", { headers: { range: "bytes=0-0", "if-range": '"other"' } });
    expect([stale.status, stale.text]).toEqual([200, "0123456789"]);
    await ask("DELETE", "/storage/r");
  });

  it("heeds conditions", async () => {
    const only = { "if-none-match": "*" };
    expect((await ask("PUT", "/storage/c", { body: "1", headers: only })).status).toBe(201);
    expect((await ask("PUT", "/storage/c", { body: "2", headers: only })).status).toBe(412);
    const etag = (await ask("HEAD", "/storage/c")).headers["etag"] ?? "";
    const unchanged = await ask("GET", "/storage/c", { headers: { "if-none-match": etag } });
    expect([unchanged.status, unchanged.text, unchanged.headers["etag"]]).toEqual([304, "", etag]);
    expect((await ask("GET", "/storage/c", { headers: { "if-match": '"other"' } })).status).toBe(412);
    expect((await ask("PUT", "/storage/c", { body: "3", headers: { "if-match": '"other"' } })).status).toBe(412);
    expect((await ask("PUT", "/storage/c", { body: "longer", headers: { "if-match": etag } })).status).toBe(204);
    expect((await ask("PUT", "/storage/c", { body: "4", headers: { "if-match": etag } })).status).toBe(412);
    expect((await ask("DELETE", "/storage/c", { headers: { "if-match": etag } })).status).toBe(412);
    expect((await ask("GET", "/storage/c")).text).toBe("longer");
    expect((await ask("DELETE", "/storage/c")).status).toBe(204);
    expect((await ask("PUT", "/storage/c", { body: "5", headers: { "if-match": "*" } })).status).toBe(412);
  });

  it("lists objects by prefix, page by page, in order", async () => {
    const paths = ["l/1", "l/10", "l/2/a", "l/2é", "m"];
    for (const path of paths)
      await ask("PUT", `/storage/${encodeURI(path)}`, { body: path, headers: { "content-type": "text/y" } });
    const list = async (query: string) => (await ask("GET", `/storage?${query}`)).json;
    const first = await list("prefix=l/&limit=2");
    expect([first.objects.map((each: { path: string }) => each.path), first.next]).toEqual([["l/1", "l/10"], "l/10"]);
    expect(first.objects[0]).toEqual({
      path: "l/1",
      size: 3,
      content_type: "text/y",
      etag: (await ask("HEAD", "/storage/l/1")).headers["etag"],
      modified: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    });
    const rest = await list("prefix=l/&limit=2&after=l/10");
    expect([rest.objects.map((each: { path: string }) => each.path), rest.next]).toEqual([["l/2/a", "l/2é"], null]);
    expect((await list("prefix=l/1")).objects).toHaveLength(2);
    expect(await list("prefix=none/")).toEqual({ objects: [], next: null });
    expect(await list("prefix=..%2F")).toEqual({ objects: [], next: null });
    expect((await list("")).objects.map((each: { path: string }) => each.path)).toEqual(paths);
    for (const limit of ["0", "1001", "x"]) expect((await ask("GET", `/storage?limit=${limit}`)).status).toBe(400);
    for (const path of paths) await ask("DELETE", `/storage/${encodeURI(path)}`);
  });

  it("leads nowhere else", async () => {
    for (const path of [
      "../x",
      "..%2Fx",
      "%2e%2e/x",
      "%2E%2E%2Fx",
      "a/../../x",
      "a/%2e%2e/%2e%2e/x",
      "./x",
      "a//b",
      "/etc/passwd",
      "%2Fetc%2Fpasswd",
      "a%00b",
      "a%0Ab",
      "%FF",
      "%zz",
      "",
      "a/",
      ".tenon-types.db",
      "x".repeat(241),
      `${"x/".repeat(512)}x`,
    ]) {
      for (const method of ["PUT", "GET", "DELETE"]) {
        const { status } = await ask(method, `/storage/${path}`, method === "PUT" ? { body: "x" } : {});
        expect([400, 404], `${method} ${path}`).toContain(status);
        if (method === "PUT") expect(status, `${method} ${path}`).toBe(400);
      }
    }
    // Decoded once: what looks like a way up after a second time is a name.
    expect((await ask("PUT", "/storage/%252e%252e%252fx", { body: "x" })).status).toBe(201);
    expect((await ask("GET", "/storage")).json.objects.map((each: { path: string }) => each.path)).toEqual([
      "%2e%2e%2fx",
    ]);
    expect((await ask("DELETE", "/storage/%252e%252e%252fx")).status).toBe(204);
    for (const path of ["..a/b..", "a%5C..%5Cb", "~", "a%20b+c", "a%23b%3Fc", "%F0%9F%8E%89"]) {
      expect((await ask("PUT", `/storage/${path}`, { body: path })).status, path).toBe(201);
      expect((await ask("GET", `/storage/${path}`)).text, path).toBe(path);
      expect((await ask("DELETE", `/storage/${path}`)).status, path).toBe(204);
    }
  });

  it("takes no part for the whole", async () => {
    const part = { body: "abc", headers: { "content-range": "bytes 0-2/10" } };
    expect((await ask("PUT", "/storage/part", part)).status).toBe(400);
    expect((await ask("GET", "/storage/part")).status).toBe(404);
  });

  it("refuses what is too large", async () => {
    expect((await ask("PUT", "/storage/large", { body: Buffer.alloc(11_000_000) })).status).toBe(413);
    expect((await ask("PUT", "/storage/large", { body: Buffer.alloc(10 * 1024 * 1024, 7) })).status).toBe(201);
    const read = await ask("GET", "/storage/large");
    expect([read.bytes.length, read.bytes[10_000_000]]).toEqual([10 * 1024 * 1024, 7]);
    await ask("DELETE", "/storage/large");
  });

  it("gives a reader the whole of one object, whatever is written meanwhile", async () => {
    await ask("PUT", "/storage/w", { body: "a".repeat(100_000) });
    const write = (letter: string) =>
      ask("PUT", "/storage/w", { body: letter.repeat(100_000), headers: { "content-type": `x/${letter}` } });
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, n) => (n % 3 === 0 ? write(n % 2 === 0 ? "b" : "c") : ask("GET", "/storage/w"))),
    );
    for (const { status, text } of answers) {
      if (status === 204) continue;
      expect([status, new Set(text).size, text.length]).toEqual([200, 1, 100_000]);
    }
    await ask("DELETE", "/storage/w");
  });

  it.skipIf(target.name.includes("S3"))("does not make a folder of an object, nor an object of a folder", async () => {
    await ask("PUT", "/storage/f/a", { body: "x" });
    expect((await ask("PUT", "/storage/f", { body: "x" })).status).toBe(409);
    expect((await ask("PUT", "/storage/f/a/b", { body: "x" })).status).toBe(409);
    expect((await ask("GET", "/storage/f")).status).toBe(404);
    expect((await ask("DELETE", "/storage/f/a")).status).toBe(204);
    expect((await ask("PUT", "/storage/f", { body: "x" })).status).toBe(201);
    await ask("DELETE", "/storage/f");
  });
});
