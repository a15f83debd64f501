/** The contract of storage, on everything that keeps to it. */
import { expect, it } from "vitest";
import { describeEach } from "../../../testing/needs.ts";
import { s3Target } from "./s3.ts";
import { startForTests, storageTargets } from "./targets.ts";

describeEach("storage: $name", [...storageTargets, s3Target], (target) => {
  const { ask } = startForTests(target);

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

  it("reads dates in all formats of HTTP", async () => {
    await ask("PUT", "/storage/dated", { body: "x" });
    for (const old of ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"]) {
      expect((await ask("DELETE", "/storage/dated", { headers: { "if-unmodified-since": old } })).status, old).toBe(
        412,
      );
    }
    expect((await ask("DELETE", "/storage/dated")).status).toBe(204);
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

  it("lists folders as prefixes", async () => {
    const paths = ["d/a", "d/b/1", "d/b/2/x", "d/b2", "d/c/1", "e"];
    for (const path of paths) await ask("PUT", `/storage/${path}`, { body: "x" });
    const list = async (query: string) => {
      const { objects, prefixes, next } = (await ask("GET", `/storage?delimiter=/&${query}`)).json;
      return [objects.map((each: { path: string }) => each.path), prefixes, next];
    };
    expect(await list("")).toEqual([["e"], ["d/"], null]);
    expect(await list("prefix=d/")).toEqual([["d/a", "d/b2"], ["d/b/", "d/c/"], null]);
    expect(await list("prefix=d/b")).toEqual([["d/b2"], ["d/b/"], null]);
    expect(await list("prefix=d/&limit=2")).toEqual([["d/a"], ["d/b/"], "d/b/"]);
    expect(await list("prefix=d/&limit=2&after=d/b/")).toEqual([["d/b2"], ["d/c/"], null]);
    expect((await ask("GET", "/storage?delimiter=x")).status).toBe(400);
    for (const path of paths) await ask("DELETE", `/storage/${path}`);
  });

  it("lists all that stays exactly once, while others write", async () => {
    const name = (n: number) => `churn/${String(n).padStart(3, "0")}`;
    const put = (n: number) => ask("PUT", `/storage/${name(n)}`, { body: "x" });
    for (let n = 0; n < 120; n++) await put(n);
    let isListing = true;
    // Two of each four stay, one of them overwritten all the time, and the others come and go.
    const write = async (first: number, each: (n: number) => Promise<unknown>) => {
      for (let n = first; isListing; n = (n + 4) % 120) await each(n);
    };
    const writing = [
      write(1, put),
      write(2, (n) => ask("DELETE", `/storage/${name(n)}`)),
      write(2, (n) => put((n + 60) % 120)),
      write(3, async (n) => {
        await ask("DELETE", `/storage/${name(n)}`);
        await put(n);
      }),
    ];
    const stays = Array.from({ length: 120 }, (_, n) => n)
      .filter((n) => n % 4 < 2)
      .map(name);
    for (let round = 0; round < 3; round++) {
      const seen: string[] = [];
      for (let after: string | null = ""; after !== null; ) {
        const page: { objects: { path: string }[]; next: string | null } = (
          await ask("GET", `/storage?prefix=churn/&limit=7&after=${after}`)
        ).json;
        seen.push(...page.objects.map(({ path }) => path));
        after = page.next;
      }
      expect(seen.filter((path) => stays.includes(path))).toEqual(stays);
      expect(new Set(seen).size).toBe(seen.length);
    }
    isListing = false;
    await Promise.all(writing);
    for (let n = 0; n < 120; n++) await ask("DELETE", `/storage/${name(n)}`);
  });

  it.runIf(target.name.includes("S3"))("lists a bucket in which others have keys that are no paths", async () => {
    const bucket = `${process.env["AWS_ENDPOINT"]}/bucket`;
    for (const key of ["own/1", "own/2", "own//3", "own/4", "own/z"]) {
      await fetch(`${bucket}/${key}`, { method: "PUT", body: "x" });
    }
    const seen: string[] = [];
    let after = "";
    do {
      const page = (await ask("GET", `/storage?prefix=ow&limit=2&after=${after}`)).json;
      seen.push(...page.objects.map(({ path }: { path: string }) => path));
      after = page.next;
    } while (after !== null);
    expect(seen).toEqual(["own/1", "own/2", "own/4", "own/z"]);
    for (const path of seen) await ask("DELETE", `/storage/${path}`);
  });

  it("keeps headers and metadata with an object, and copies them", async () => {
    const headers = {
      "content-type": "text/x",
      "cache-control": "max-age=5",
      "content-disposition": 'attachment; filename="a.txt"',
      "content-encoding": "identity",
      "content-language": "de",
      "x-meta-owner": "Ann",
    };
    expect((await ask("PUT", "/storage/meta/a", { body: "1", headers })).status).toBe(201);
    expect((await ask("HEAD", "/storage/meta/a")).headers).toMatchObject(headers);
    const copied = await ask("POST", "/storage/meta/b?copy=meta%2Fa");
    expect([copied.status, copied.headers["location"]]).toEqual([201, "/storage/meta/b"]);
    const copy = await ask("GET", "/storage/meta/b");
    expect([copy.text, copy.headers["etag"]]).toEqual(["1", copied.headers["etag"]]);
    expect(copy.headers).toMatchObject(headers);
    await ask("PUT", "/storage/meta/a", { body: "2" });
    const plain = await ask("GET", "/storage/meta/a");
    expect([plain.headers["cache-control"], plain.headers["x-meta-owner"]]).toEqual([undefined, undefined]);
    expect((await ask("GET", "/storage/meta/b")).text).toBe("1");
    expect((await ask("POST", "/storage/meta/b?copy=meta/a")).status).toBe(204);
    expect((await ask("GET", "/storage/meta/b")).text).toBe("2");
    const only = { headers: { "if-none-match": "*" } };
    expect((await ask("POST", "/storage/meta/b?copy=meta/a", only)).status).toBe(412);
    expect((await ask("POST", "/storage/meta/c?copy=meta/none")).status).toBe(404);
    for (const query of ["", "?copy=", "?copy=meta/c", "?copy=../a"]) {
      expect((await ask("POST", `/storage/meta/c${query}`)).status, query).toBe(400);
    }
    const expires = { body: "x", headers: { expires: "Thu, 01 Jan 2026 00:00:00 GMT" } };
    expect((await ask("PUT", "/storage/meta/c", expires)).json.detail).toContain("cache-control");
    const large = { body: "x", headers: { "x-meta-a": "x".repeat(2048) } };
    expect((await ask("PUT", "/storage/meta/c", large)).status).toBe(400);
    for (const path of ["a", "b"]) await ask("DELETE", `/storage/meta/${path}`);
  });

  it("signs addresses that need no credentials", async () => {
    const sign = (json: unknown) => ask("POST", "/storage-url", { json });
    await ask("PUT", "/storage/signed/a%20b", { body: "secret" });
    const { url, expires } = (await sign({ path: "signed/a b" })).json;
    expect([expires, url]).toEqual([900, expect.stringMatching(/^http:\/\/.*\/signed\/a%20b\?.*[sS]ignature=/)]);
    for (const wrong of [{}, { path: "../a" }, { path: "a", method: "POST" }, { path: "a", expires: 604_801 }]) {
      expect((await sign(wrong)).status, JSON.stringify(wrong)).toBe(400);
    }
    if (target.name.includes("S3")) {
      expect(await (await fetch(url)).text()).toBe("secret");
    } else {
      const path = url.slice(url.indexOf("/storage-url/"));
      expect((await ask("GET", path)).text).toBe("secret");
      expect((await ask("PUT", path, { body: "x" })).status).toBe(403);
      expect((await ask("GET", path.replace("a%20b", "other"))).status).toBe(403);
      expect((await ask("GET", path.slice(0, -1))).status).toBe(403);
      const upload: string = (await sign({ path: "signed/new", method: "PUT", expires: 60 })).json.url;
      const to = upload.slice(upload.indexOf("/storage-url/"));
      const written = await ask("PUT", to, { body: "new" });
      expect([written.status, written.headers["location"]]).toEqual([201, "/storage/signed/new"]);
      expect((await ask("GET", to)).status).toBe(403);
      expect((await ask("GET", "/storage/signed/new")).text).toBe("new");
      await ask("DELETE", "/storage/signed/new");
    }
    await ask("DELETE", "/storage/signed/a%20b");
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
    // Decoded once: a text that would lead upwards after a second decoding is a name.
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
