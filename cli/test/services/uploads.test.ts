/** Uploads in parts: on everything that keeps to the contract, and over kills of the sidecar. */
import { createHash, randomBytes } from "node:crypto";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, it } from "vitest";
import { describeEach, describeWith } from "../../../testing/needs.ts";
import { findProgram } from "../../../testing/programs.ts";
import { get, ok, routes, storage } from "../../../ts-sdk/src/index.ts";
import { testApp } from "../../../ts-sdk/src/testing/index.ts";
import { Sidecar } from "../../src/embed/sidecar.ts";
import { type Ask, askAt } from "./ask.ts";
import { s3Target, startS3 } from "./s3.ts";
import { startProcess } from "./sidecar-process.ts";
import { folder } from "./stores.ts";
import { startForTests, storageTargets } from "./targets.ts";

const MIB = 1024 * 1024;
/** Parts as large as they have to be, and a last one that is small. */
const PARTS = [randomBytes(5 * MIB), randomBytes(6 * MIB), randomBytes(17)] as const;
const WHOLE = Buffer.concat(PARTS);
const digest = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

interface Part {
  part: number;
  etag: string;
  size: number;
}

const begin = async (ask: Ask, path: string, headers: Record<string, string> = {}): Promise<string> => {
  const begun = await ask("POST", `/storage/${path}?upload`, { headers });
  expect(begun.status, begun.text).toBe(201);
  return encodeURIComponent(begun.json.upload);
};
const put = (ask: Ask, path: string, id: string, part: number, body: Uint8Array | string) =>
  ask("PUT", `/storage/${path}?upload=${id}&part=${part}`, { body });
const partsOf = async (ask: Ask, path: string, id: string): Promise<Part[]> =>
  (await ask("GET", `/storage/${path}?upload=${id}`)).json.parts;
const complete = (ask: Ask, path: string, id: string, parts: unknown, headers: Record<string, string> = {}) =>
  ask("POST", `/storage/${path}?upload=${id}&complete`, { json: { parts }, headers });

describeEach("uploads in parts: $name", [...storageTargets.slice(0, 2), s3Target], (target) => {
  const isS3 = target.name.includes("S3");
  const started = startForTests(target);
  const { ask } = started;

  it("makes an object of parts that come in any order, with its headers", async () => {
    const headers = { "content-type": "video/mp4", "x-meta-owner": "Ann", "cache-control": "max-age=5" };
    const id = await begin(ask, "u/whole", headers);
    for (const n of [3, 1, 2]) {
      const sent = await put(ask, "u/whole", id, n, PARTS[n - 1] as Buffer);
      expect([sent.status, sent.headers["etag"]]).toEqual([204, expect.stringMatching(/^".+"$/)]);
    }
    expect((await ask("GET", "/storage/u/whole")).status).toBe(404);
    expect((await ask("GET", "/storage?prefix=u/")).json.objects).toEqual([]);
    const parts = await partsOf(ask, "u/whole", id);
    expect(parts.map(({ part, size }) => [part, size])).toEqual(PARTS.map((bytes, n) => [n + 1, bytes.length]));
    const made = await complete(ask, "u/whole", id, parts);
    expect([made.status, made.headers["location"]]).toEqual([201, "/storage/u/whole"]);
    const read = await ask("GET", "/storage/u/whole");
    expect([digest(read.bytes), read.headers["etag"]]).toEqual([digest(WHOLE), made.headers["etag"]]);
    expect(read.headers).toMatchObject(headers);
    for (const over of [await ask("GET", `/storage/u/whole?upload=${id}`), await complete(ask, "u/whole", id, parts)]) {
      expect([over.status, over.json.detail]).toEqual([404, expect.stringContaining("no upload")]);
    }
    await ask("DELETE", "/storage/u/whole");
  });

  it("takes a part again, and leaves out those that are not named", async () => {
    const id = await begin(ask, "u/again");
    const first = await put(ask, "u/again", id, 1, "first");
    const second = await put(ask, "u/again", id, 1, "second");
    await put(ask, "u/again", id, 2, "left out");
    const old = await complete(ask, "u/again", id, [{ part: 1, etag: first.headers["etag"] }]);
    expect([old.status, old.json.detail]).toEqual([409, expect.stringContaining("part 1")]);
    expect((await complete(ask, "u/again", id, [{ part: 1, etag: second.headers["etag"] }])).status).toBe(201);
    expect((await ask("GET", "/storage/u/again")).text).toBe("second");
    await ask("DELETE", "/storage/u/again");
  });

  it("refuses parts that are missing, small or out of order", async () => {
    const id = await begin(ask, "u/wrong");
    await put(ask, "u/wrong", id, 1, "small");
    await put(ask, "u/wrong", id, 2, "last");
    const [one, two] = (await partsOf(ask, "u/wrong", id)) as [Part, Part];
    const status = async (parts: unknown) => (await complete(ask, "u/wrong", id, parts)).status;
    for (const wrong of [undefined, null, [], [two], [two, one], [one, one], "x", [{ part: 1 }], [1], {}]) {
      expect(await status(wrong), JSON.stringify(wrong)).toBe(400);
    }
    expect((await complete(ask, "u/wrong", id, [one, two])).json.detail).toContain(
      "part 1 has fewer than 5242880 bytes",
    );
    expect(await status([one, { part: 2, etag: '"x"' }])).toBe(409);
    expect((await ask("GET", "/storage/u/wrong")).status).toBe(404);
    for (const part of ["", "0", "10001", "-1", "1.5", "x", "1%00"]) {
      expect((await ask("PUT", `/storage/u/wrong?upload=${id}&part=${part}`, { body: "x" })).status, part).toBe(400);
    }
    const range = { body: "x", headers: { "content-range": "bytes 0-0/2" } };
    expect((await ask("PUT", `/storage/u/wrong?upload=${id}&part=1`, range)).status).toBe(400);
    const large = await put(ask, "u/wrong", id, 3, Buffer.alloc(10 * MIB + 1));
    expect(large.status).toBe(413);
    expect(await partsOf(ask, "u/wrong", id)).toHaveLength(2);
    expect((await ask("DELETE", `/storage/u/wrong?upload=${id}`)).status).toBe(204);
    expect((await ask("DELETE", `/storage/u/wrong?upload=${id}`)).status).toBe(404);
  });

  it("heeds conditions when it is completed", async () => {
    const upload = async () => {
      const id = await begin(ask, "u/if");
      await put(ask, "u/if", id, 1, "of parts");
      return [id, await partsOf(ask, "u/if", id)] as const;
    };
    const made = await ask("PUT", "/storage/u/if", { body: "there" });
    const [id, parts] = await upload();
    expect((await complete(ask, "u/if", id, parts, { "if-none-match": "*" })).status).toBe(412);
    expect((await complete(ask, "u/if", id, parts, { "if-match": '"other"' })).status).toBe(412);
    expect((await ask("GET", "/storage/u/if")).text).toBe("there");
    expect((await complete(ask, "u/if", id, parts, { "if-match": made.headers["etag"] as string })).status).toBe(204);
    expect((await ask("GET", "/storage/u/if")).text).toBe("of parts");
    await ask("DELETE", "/storage/u/if");
  });

  it("knows an upload by its id and its path only", async () => {
    await ask("PUT", "/storage/u/victim", { body: "kept" });
    const id = await begin(ask, "u/mine");
    await put(ask, "u/mine", id, 1, "mine");
    const parts = await partsOf(ask, "u/mine", id);
    const wrong = [
      "x",
      "0".repeat(32),
      "..%2f..%2fx",
      "%2e%2e",
      "a/b",
      ".",
      `${id}0`,
      `${id}%2f..`,
      "%25",
      "*",
      "'%20OR%201=1",
    ];
    for (const guess of wrong) {
      for (const answer of [
        await ask("GET", `/storage/u/mine?upload=${guess}`),
        await complete(ask, "u/mine", guess, parts),
        await ask("DELETE", `/storage/u/mine?upload=${guess}`),
        // The test's own S3 server fails at the part of an unknown upload, where S3 answers 404.
        ...(isS3 ? [] : [await put(ask, "u/mine", guess, 1, "x")]),
      ]) {
        expect([400, 404], `${guess}: ${answer.text}`).toContain(answer.status);
      }
    }
    // That server does not check the path of an upload, either; S3 does.
    if (!isS3) {
      for (const path of ["u/victim", "u/mine2", "u", "mine"]) {
        expect((await put(ask, path, id, 1, "x")).status).toBe(404);
        expect((await complete(ask, path, id, parts)).status).toBe(404);
        expect((await ask("GET", `/storage/${path}?upload=${id}`)).status).toBe(404);
        expect((await ask("DELETE", `/storage/${path}?upload=${id}`)).status).toBe(404);
      }
    }
    // To leave something out never writes or deletes the object itself.
    for (const [method, query] of [
      ["PUT", "upload"],
      ["PUT", `upload=${id}`],
      ["PUT", "part=1"],
      ["PUT", "upload=&part=1"],
      ["DELETE", "upload"],
      ["DELETE", "upload="],
      ["POST", "complete"],
      ["POST", `upload=${id}`],
      ["GET", "upload"],
      ["GET", "part=1"],
    ] as const) {
      const answer = await ask(method, `/storage/u/victim?${query}`, method === "GET" ? {} : { body: "x" });
      expect(answer.status, `${method} ${query}`).toBe(400);
    }
    expect((await ask("GET", "/storage/u/victim")).text).toBe("kept");
    for (const path of ["..%2fx", "a//b", ".tenon-parts/x", "a%00"]) {
      expect((await ask("POST", `/storage/${path}?upload`)).status, path).toBe(400);
    }
    expect((await complete(ask, "u/mine", id, parts)).status).toBe(201);
    expect((await ask("GET", "/storage/u/mine")).text).toBe("mine");
    for (const path of ["u/mine", "u/victim"]) await ask("DELETE", `/storage/${path}`);
  });

  it("signs addresses for parts", async () => {
    const id = await begin(ask, "u/signed");
    const upload = decodeURIComponent(id);
    const sign = (more: object) => ask("POST", "/storage-url", { json: { path: "u/signed", method: "PUT", ...more } });
    for (const wrong of [
      { upload },
      { part: 1 },
      { upload, part: 0 },
      { upload: "", part: 1 },
      { upload, part: "1" },
    ]) {
      expect((await sign(wrong)).status, JSON.stringify(wrong)).toBe(400);
    }
    expect((await sign({ upload, part: 1, method: "GET" })).status).toBe(400);
    const { url } = (await sign({ upload, part: 1 })).json;
    if (isS3) {
      expect((await fetch(url, { method: "PUT", body: "by an address" })).status).toBe(200);
    } else {
      const to: string = url.slice(url.indexOf("/storage-url/"));
      const whole: string = (await sign({})).json.url;
      for (const forged of [
        to.replace("part=1", "part=2"),
        to.replace(`upload=${id}&part=1&`, ""),
        `${whole.slice(whole.indexOf("/storage-url/"))}&upload=${id}&part=1`,
      ]) {
        expect((await ask("PUT", forged, { body: "x" })).status, forged).toBe(403);
      }
      expect((await ask("PUT", to, { body: "by an address" })).status).toBe(204);
    }
    expect((await complete(ask, "u/signed", id, await partsOf(ask, "u/signed", id))).status).toBe(201);
    expect((await ask("GET", "/storage/u/signed")).text).toBe("by an address");
    await ask("DELETE", "/storage/u/signed");
  });

  it.runIf(target.name.includes("TCP"))("is reached by the client of the SDK", async () => {
    const seen: unknown[] = [];
    const app = routes({
      run: get("/", async () => {
        const { id } = await storage.upload("u/sdk", { contentType: "text/x", metadata: { owner: "Ann" } });
        const upload = storage.resume("u/sdk", id);
        const etag = await upload.put(1, "by the SDK");
        seen.push([{ part: 1, etag, size: 10 }], await upload.parts(), (await upload.url(1)).includes("u/sdk"));
        seen.push((await upload.complete({ ifNoneMatch: "*" })).created);
        const stored = await storage.get("u/sdk");
        seen.push(stored?.text(), stored?.contentType, stored?.metadata);
        const other = await storage.upload("u/sdk");
        await other.abort();
        seen.push(await other.parts().catch((thrown) => thrown.status));
        return ok({});
      }),
    });
    expect((await testApp(app, { env: { SIDECAR_STORAGE_URL: started.address } }).get("/")).status).toBe(200);
    expect(seen.slice(1)).toEqual([seen[0], true, true, "by the SDK", "text/x", { owner: "Ann" }, 404]);
    await ask("DELETE", "/storage/u/sdk");
  });
});

describeEach(
  "an upload over kills of the sidecar: $name",
  [
    { name: "a folder", start: async () => ({ url: `file:${folder()}`, stop: async () => {} }) },
    { name: "S3", needs: "moto_server" as const, start: () => startS3(findProgram("moto_server") as string) },
  ],
  ({ start }) => {
    it("is resumed where it was", { timeout: 120_000 }, async () => {
      const store = await start();
      const directory = folder();
      const socket = join(directory, "storage.sock");
      const run = () => startProcess("storage", socket, store.url, { STORAGE_URL: store.url });
      const ask = askAt(`unix://${socket}`);
      const parts = Array.from({ length: 6 }, () => randomBytes(5 * MIB));
      let sidecar = await run();
      const kill = async () => {
        const exited = new Promise((resolve) => sidecar.once("exit", resolve));
        sidecar.kill("SIGKILL");
        await exited;
        sidecar = await run();
      };
      const id = await begin(ask, "big", { "content-type": "video/mp4" });
      let killed = 0;
      for (let round = 0; ; round++) {
        const there = (await partsOf(ask, "big", id)).map(({ part }) => part);
        const missing = parts.map((_, n) => n + 1).filter((n) => !there.includes(n));
        if (missing.length === 0) break;
        // In the middle of a part, or behind it.
        const sending = (async () => {
          for (const n of missing) {
            const sent = await put(ask, "big", id, n, parts[n - 1] as Buffer).catch(() => undefined);
            if (sent?.status !== 204) return;
          }
        })();
        if (round < 5) {
          await new Promise((resolve) => setTimeout(resolve, 10 + round * 25));
          await kill();
          killed++;
        }
        await sending;
      }
      expect(killed).toBeGreaterThan(1);
      await kill();
      const made = await complete(ask, "big", id, await partsOf(ask, "big", id));
      expect(made.status, made.text).toBe(201);
      const read = await ask("GET", "/storage/big");
      expect([digest(read.bytes), read.headers["content-type"]]).toEqual([digest(Buffer.concat(parts)), "video/mp4"]);
      sidecar.kill("SIGTERM");
      await store.stop();
      rmSync(directory, { recursive: true, force: true });
    });
  },
);

it("a folder forgets uploads that no part has come for in a day, and bounds their number", {
  timeout: 60_000,
}, async () => {
  const root = folder();
  const start = () => Sidecar.start({ kind: "storage", url: `file:${root}`, listen: "127.0.0.1:0", logLevel: "off" });
  let sidecar = await start();
  let ask = askAt(sidecar.address);
  const [old, young] = [await begin(ask, "old"), await begin(ask, "young")];
  for (const [path, id] of [
    ["old", old],
    ["young", young],
  ] as const) {
    expect((await put(ask, path, id, 1, path)).status).toBe(204);
  }
  const folders = () => readdirSync(join(root, ".tenon-parts")).sort();
  expect(folders()).toEqual([old, young].sort());
  const types = await Sidecar.start({
    kind: "sql",
    url: `sqlite:${join(root, ".tenon-types.db")}`,
    listen: "127.0.0.1:0",
    logLevel: "off",
  });
  const execute = (sql: string) => askAt(types.address)("POST", "/sql/execute", { json: { sql } });
  const age = (path: string) => execute(`UPDATE uploads SET touched = touched - 86401 WHERE path = '${path}'`);
  await age("old");
  const newer = await begin(ask, "newer");
  expect(folders()).toEqual([young]);
  expect((await ask("GET", `/storage/old?upload=${old}`)).status).toBe(404);
  await age("young");
  await sidecar.close();
  sidecar = await start();
  ask = askAt(sidecar.address);
  expect(existsSync(join(root, ".tenon-parts", young))).toBe(false);
  expect(await partsOf(ask, "newer", newer)).toEqual([]);
  const fill = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 999)";
  await execute(`${fill} INSERT INTO uploads SELECT 'n' || x, 'p', 't', NULL, unixepoch() FROM n`);
  const full = await ask("POST", "/storage/more?upload");
  expect([full.status, full.json.detail]).toEqual([507, expect.stringContaining("1000 uploads are open")]);
  await ask("DELETE", `/storage/newer?upload=${newer}`);
  await begin(ask, "more");
  await types.close();
  await sidecar.close();
  rmSync(root, { recursive: true, force: true });
});

describeWith("moto_server", "lists of S3", () => {
  it("asks for the content type of an object once, or not at all", { timeout: 60_000 }, async () => {
    const server = await startS3(findProgram("moto_server") as string);
    const endpoint = process.env["AWS_ENDPOINT"] as string;
    let asked = 0;
    // Another clock: the objects are an hour old, so that their times say which they are.
    const anHourAgo = new Date(Math.floor(Date.now() / 1000) * 1000 - 3_600_000);
    const proxy = createServer((incoming, outgoing) => {
      asked++;
      const { method = "GET", url = "/", headers } = incoming;
      const forward = request(new URL(url, endpoint), { method, headers }, async (answer) => {
        const chunks: Buffer[] = [];
        for await (const chunk of answer) chunks.push(chunk as Buffer);
        const times = /<LastModified>[^<]*/g;
        const body = Buffer.concat(chunks).toString().replace(times, `<LastModified>${anHourAgo.toISOString()}`);
        const sent = { ...answer.headers };
        if (sent["last-modified"] !== undefined) sent["last-modified"] = anHourAgo.toUTCString();
        if (method !== "HEAD") sent["content-length"] = String(Buffer.byteLength(body));
        outgoing.writeHead(answer.statusCode ?? 500, sent).end(method === "HEAD" ? undefined : body);
      });
      incoming.pipe(forward);
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    process.env["AWS_ENDPOINT"] = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const sidecar = await Sidecar.start({ kind: "storage", url: server.url, listen: "127.0.0.1:0", logLevel: "off" });
    const put = (n: number) =>
      fetch(`${endpoint}/bucket/o/${String(n).padStart(4, "0")}`, {
        method: "PUT",
        body: "x",
        headers: { "content-type": "text/y" },
      });
    for (let n = 0; n < 1000; n += 50) await Promise.all(Array.from({ length: 50 }, (_, m) => put(n + m)));
    const list = async (query: string) => {
      asked = 0;
      const { objects } = (await askAt(sidecar.address)("GET", `/storage?prefix=o/&limit=1000&${query}`)).json;
      return [objects.length, new Set(objects.map((each: { content_type: string }) => each.content_type)), asked];
    };
    const none = await list("content_type=false");
    const first = await list("");
    const second = await list("content_type=true");
    process.stderr.write(
      `a list of 1,000 objects on S3: ${first[2]} requests, then ${second[2]}; without types ${none[2]}\n`,
    );
    expect(none).toEqual([1000, new Set([undefined]), expect.toSatisfy((asked: number) => asked <= 2)]);
    expect(first.slice(0, 2)).toEqual([1000, new Set(["text/y"])]);
    expect(second).toEqual([1000, new Set(["text/y"]), expect.toSatisfy((asked: number) => asked <= 2)]);
    expect((await askAt(sidecar.address)("GET", "/storage?content_type=x")).status).toBe(400);
    await sidecar.close();
    process.env["AWS_ENDPOINT"] = endpoint;
    proxy.closeAllConnections();
    proxy.close();
    await server.stop();
  });
});
