import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Services } from "@tenon/native";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../../../testing/free-port.ts";
import { environmentKey } from "../abi.ts";
import {
  cache,
  db,
  get,
  ok,
  queue,
  routes,
  SidecarError,
  type Statement,
  sqlCreate,
  sqlite,
  sqlRead,
  storage,
  type Transaction,
} from "../index.ts";
import { platform } from "../platform.ts";
import { testApp } from "../testing/index.ts";
import { connectionOf } from "./sidecar.ts";

const folder = mkdtempSync(join(tmpdir(), "tenon-sdk-"));
let services: Services;
beforeAll(async () => {
  services = await Services.start({ folder });
  await asked(() => db.execute(["CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT UNIQUE, big INTEGER)", []]));
});
afterAll(async () => {
  await services.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs a function as a handler does, with the sidecars of `url`. */
async function asked<T>(run: () => Promise<T>, url: string | undefined = services.url, more = {}): Promise<T> {
  let result: PromiseSettledResult<T> | undefined;
  const app = routes({
    run: get("/", async () => {
      [result] = await Promise.allSettled([run()]);
      return ok({});
    }),
  });
  const urls = { SIDECAR_DB_URL: url, SIDECAR_CACHE_URL: url, SIDECAR_STORAGE_URL: url, SIDECAR_QUEUE_URL: url };
  await testApp(app, { env: { ...(url === "" ? {} : (urls as Record<string, string>)), ...more } }).get("/");
  if (result?.status === "fulfilled") return result.value;
  throw result?.reason;
}
const failure = (run: () => Promise<unknown>, url?: string): Promise<SidecarError> =>
  asked(run, url).then(
    () => Promise.reject(new Error("it did not fail")),
    (thrown) => thrown,
  );

describe("db", () => {
  it("runs what the SQL builder makes", async () => {
    const create = sqlCreate(sqlite, "users", { name: "Ann", big: 2n ** 60n, returning: ["id"] });
    expect(await asked(() => db.query<{ id: number }>(create))).toEqual([{ id: 1 }]);
    const read = sqlRead(sqlite, "users", { filter: { name: { $starts_with: "A" } } });
    expect(await asked(() => db.query(read))).toEqual([{ id: 1, name: "Ann", big: "1152921504606846976" }]);
    expect(await asked(() => db.execute(["UPDATE users SET big = $1", [5]]))).toBe(1);
    const typed: Promise<{ name: string }[]> = asked(() => db.query<{ name: string }>(["SELECT name FROM users", []]));
    expect((await typed)[0]?.name).toBe("Ann");
  });

  it("binds bytes and infinite numbers", async () => {
    const sql = "SELECT typeof($1) AS a, hex($1) AS b, $2 = 9e999 AS c, typeof($2) AS d";
    const params = [new Uint8Array([0, 255]), Number.POSITIVE_INFINITY];
    const rows = [{ a: "blob", b: "00FF", c: 1, d: "real" }];
    expect(await asked(() => db.query([sql, params]))).toEqual(rows);
    expect((await asked(() => db.batch([[sql, params]])))[0]?.rows).toEqual(rows);
    const not = await failure(() => db.query(["SELECT $1", [Number.NaN]]));
    expect([not.status, not.detail]).toEqual([400, "parameter 1 is not a number that SQLite has"]);
  });

  it("binds bigints and numbers as numbers, with all digits", async () => {
    const having = "SELECT count(*) AS n FROM (SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3) HAVING count(*) > $1";
    for (const two of [2, 2n]) expect(await asked(() => db.query([having, [two]]))).toEqual([{ n: 3 }]);
    const sql = "SELECT typeof($1) AS type, CAST($1 AS TEXT) AS value";
    for (const [value, type, text] of [
      [10n, "integer", "10"],
      [0n, "integer", "0"],
      [-5n, "integer", "-5"],
      [2n ** 53n + 1n, "integer", "9007199254740993"],
      [2n ** 63n - 1n, "integer", "9223372036854775807"],
      [-(2n ** 63n), "integer", "-9223372036854775808"],
      // JSON.stringify writes 1152921504606847000.
      [2 ** 60, "integer", "1152921504606846976"],
      [-(2 ** 62), "integer", "-4611686018427387904"],
      [2 ** 63, "real", "9.2233720368547758e+18"],
      [-(2 ** 63), "real", "-9.2233720368547758e+18"],
      [1.5e19, "real", "1.5e+19"],
      [-1e20, "real", "-1.0e+20"],
      [1e21, "real", "1.0e+21"],
      // Beyond 64 bits SQLite has no integers.
      [2n ** 63n, "text", "9223372036854775808"],
      [10n ** 400n, "text", "1".padEnd(401, "0")],
    ] as const) {
      expect([value, await asked(() => db.query([sql, [value]]))]).toEqual([value, [{ type, value: text }]]);
      const [result] = await asked(() => db.batch([[sql, [value], { expect: { rows: 1 } }]]));
      expect([value, result?.rows]).toEqual([value, [{ type, value: text }]]);
    }
  });

  it("runs batches as one transaction", async () => {
    const insert = (name: string): Statement => sqlCreate(sqlite, "users", { name, returning: ["name"] });
    expect(await asked(() => db.batch([insert("B"), ["DELETE FROM users WHERE name = $1", ["B"]]]))).toEqual([
      { columns: ["name"], rows: [{ name: "B" }], rowsAffected: 1 },
      { columns: [], rows: [], rowsAffected: 1 },
    ]);
    const failed = await failure(() => db.batch([insert("C"), insert("Ann")]));
    expect([failed.status, failed.detail]).toEqual([400, expect.stringMatching(/^statement 1: UNIQUE/)]);
    expect(await asked(() => db.query(["SELECT name FROM users", []]))).toEqual([{ name: "Ann" }]);
  });

  it("commits a transaction whose function resolves, and rolls back one whose function throws", async () => {
    const names = async () =>
      (await asked(() => db.query<{ name: string }>(["SELECT name FROM users", []]))).map(({ name }) => name);
    const insert = (name: string): Statement => sqlCreate(sqlite, "users", { name });
    const before = await names();
    const counted = await asked(() =>
      db.transaction(
        async (tx) => {
          expect(await tx.execute(insert("T1"))).toBe(1);
          expect(await tx.batch([insert("T2")])).toEqual([{ columns: [], rows: [], rowsAffected: 1 }]);
          const [row] = await tx.query<{ count: number }>(["SELECT COUNT(*) AS count FROM users", []]);
          return row?.count;
        },
        { isolation: "serializable" },
      ),
    );
    expect([counted, await names()]).toEqual([before.length + 2, [...before, "T1", "T2"]]);
    const broken = db.transaction.bind(db, async (tx) => {
      await tx.execute(["DELETE FROM users", []]);
      throw new RangeError("no");
    });
    await expect(asked(broken)).rejects.toThrow(RangeError);
    // A statement that fails ends the transaction, even when its error is caught.
    const caught = await failure(() =>
      db.transaction(async (tx) => {
        await tx.execute(["DELETE FROM users WHERE name = $1", ["T1"]]);
        await tx.execute(insert("T2")).catch(() => undefined);
      }),
    );
    expect([caught.status, caught.detail]).toEqual([404, expect.stringMatching(/a statement of it failed/)]);
    // A statement that is not awaited belongs to it as well.
    await asked(() =>
      db.transaction(async (tx) => {
        void tx.execute(["DELETE FROM users WHERE name = $1", ["T1"]]);
      }),
    );
    expect(await names()).toEqual([...before, "T2"]);
    await asked(() => db.execute(["DELETE FROM users WHERE name = $1", ["T2"]]));
  });

  it("refuses transactions inside of one, and the use of one that has ended", async () => {
    const nested = (run: (tx: Transaction) => Promise<unknown>) => asked(() => db.transaction(run));
    await expect(nested(() => db.transaction(async () => 1))).rejects.toThrow(/not nested/);
    const inside = (tx: Transaction) => (tx as unknown as typeof db).transaction(async () => 1);
    await expect(nested(inside)).rejects.toThrow(/not nested/);
    let kept: Transaction | undefined;
    await nested(async (tx) => {
      kept = tx;
    });
    await expect(kept?.query(["SELECT 1", []])).rejects.toThrow(/has ended/);
    // Each request has one transaction, one after the other here.
    const one = () => asked(() => db.transaction((tx) => tx.query(["SELECT 1 AS a", []])));
    expect(await Promise.all([one(), one()])).toEqual([[{ a: 1 }], [{ a: 1 }]]);
  });

  it("tells a duplicate by its code, and a retry by its key", async () => {
    const twice = await failure(() => db.execute(sqlCreate(sqlite, "users", { name: "Ann" })));
    expect(twice).toMatchObject({ sqlstate: "23505", table: "users", column: "name", retryable: false });
    const insert = sqlCreate(sqlite, "users", { name: "Once", returning: ["id"] });
    const once = () => db.batch([insert], { idempotencyKey: "k1", isolation: "serializable" });
    expect(await asked(once)).toEqual(await asked(once));
    const key = { idempotencyKey: "k2" };
    const gone = () => db.execute(["DELETE FROM users WHERE name = $1", ["Once"]], key);
    expect([await asked(gone), await asked(gone)]).toEqual([1, 1]);
    expect(await failure(() => db.execute(["DELETE FROM users", []], key))).toMatchObject({ status: 422 });
    const none = () => db.batch([[...insert], ["DELETE FROM users WHERE id = $1", [0], { expect: { rows: 1 } }]]);
    expect(await failure(none)).toMatchObject({ status: 409, retryable: false });
    expect(await asked(() => db.query(["SELECT name FROM users", []]))).toEqual([{ name: "Ann" }]);
  });

  it("carries what the database says", async () => {
    const failed = await failure(() => db.query(["SELECT * FROM nowhere", []]));
    expect(failed).toBeInstanceOf(SidecarError);
    expect(failed).toMatchObject({ code: "status", sidecar: "db", status: 400, detail: "no such table: nowhere" });
    expect(failed.message).toBe("db: it answered 400: no such table: nowhere");
  });
});

describe("cache", () => {
  it("keeps texts, bytes and JSON", async () => {
    expect(await asked(() => cache.get("a"))).toBeUndefined();
    await asked(() => cache.set("a", "é"));
    await asked(() => cache.set("b/ü%2F", new Uint8Array([0, 255])));
    await asked(() => cache.set("c", { json: { n: [1] } }, { ttl: 60, contentType: "application/x+json" }));
    const [a, b, c] = await Promise.all(["a", "b/ü%2F", "c"].map((key) => asked(() => cache.get(key))));
    expect([a?.text(), a?.contentType]).toEqual(["é", "text/plain; charset=utf-8"]);
    expect([...(b?.bytes() ?? [])]).toEqual([0, 255]);
    expect([c?.json(), c?.contentType]).toEqual([{ n: [1] }, "application/x+json"]);
    expect(await asked(() => cache.list({ limit: 2 }))).toEqual({ keys: ["a", "b/ü%2F"], next: "b/ü%2F" });
    expect(await asked(() => cache.list({ limit: 2, after: "b/ü%2F" }))).toEqual({ keys: ["c"], next: null });
    expect(await asked(() => cache.list({ prefix: "b/" }))).toEqual({ keys: ["b/ü%2F"], next: null });
    expect([await asked(() => cache.delete("a")), await asked(() => cache.delete("a"))]).toEqual([true, false]);
  });

  it("counts, and sets under conditions", async () => {
    expect(await asked(() => cache.incr("n"))).toBe(1);
    expect(await asked(() => cache.incr("n", { by: 4, ttl: 60, max: 5 }))).toBe(5);
    expect(await failure(() => cache.incr("n", { max: 5 }))).toMatchObject({ status: 409 });
    expect(await asked(() => cache.set("n", "x", { ifAbsent: true }))).toBe(false);
    expect(await asked(() => cache.set("s", "1", { ifAbsent: true, ttl: 60 }))).toBe(true);
    const entry = await asked(() => cache.get("s"));
    const { etag = "" } = entry ?? {};
    expect([59, 60]).toContain(entry?.ttl);
    const swap = (value: string) => asked(() => cache.set("s", value, { ifMatch: etag }));
    expect([await swap("2"), await swap("3")]).toEqual([true, false]);
    expect([await asked(() => cache.touch("s", 5)), await asked(() => cache.touch("none", 5))]).toEqual([true, false]);
    await asked(() => cache.set("b", new Uint8Array([0, 255])));
    const [s, none, b] = await asked(() => cache.getMany(["s", "none", "b"]));
    expect([s?.text(), s?.etag, s?.ttl, none, b?.contentType]).toEqual([
      "2",
      expect.stringMatching(/^"\w+"$/),
      expect.any(Number),
      undefined,
      "application/octet-stream",
    ]);
    expect([...(b?.bytes() ?? [])]).toEqual([0, 255]);
    for (const key of ["n", "s", "b"]) await asked(() => cache.delete(key));
  });

  it("refuses numbers that JSON has no form for", async () => {
    const message = (run: () => Promise<unknown>) => failure(run).then(({ name, message }) => [name, message]);
    for (const number of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
      for (const option of ["by", "ttl", "min", "max"]) {
        const refused = ["TypeError", `cache.incr: "${option}" must be a finite number`];
        expect(await message(() => cache.incr("refused", { [option]: number }))).toEqual(refused);
      }
      const entries = [
        { key: "refused", value: "x" },
        { key: "refused", value: "x", ttl: number },
      ];
      const refused = ["TypeError", 'cache.setMany: "ttl" must be a finite number'];
      expect(await message(() => cache.setMany(entries))).toEqual(refused);
    }
    expect(await asked(() => cache.get("refused"))).toBeUndefined();
  });

  it("refuses what cannot be a key, or a time", async () => {
    for (const key of ["", ".", "..", "\ud800"]) expect(await failure(() => cache.get(key))).toBeInstanceOf(TypeError);
    for (const ttl of [0, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(await failure(() => cache.set("a", "x", { ttl }))).toMatchObject({ code: "status", status: 400 });
      expect(await failure(() => cache.touch("a", ttl))).toMatchObject({ code: "status", status: 400 });
    }
  });
});

describe("storage", () => {
  it("keeps objects", async () => {
    expect(await asked(() => storage.get("a/b.txt"))).toBeUndefined();
    const first = await asked(() => storage.put("a/b.txt", "hello"));
    expect(first).toEqual({ created: true, etag: expect.stringMatching(/^".+"$/) });
    const read = await asked(() => storage.get("a/b.txt"));
    expect([read?.text(), read?.contentType, read?.etag]).toEqual(["hello", "text/plain; charset=utf-8", first.etag]);
    expect((await asked(() => storage.get("a/b.txt", { range: [1, 3] })))?.text()).toBe("el");
    expect(await failure(() => storage.put("a/b.txt", "x", { ifNoneMatch: "*" }))).toMatchObject({ status: 412 });
    expect((await asked(() => storage.put("a/b.txt", "other", { ifMatch: first.etag }))).created).toBe(false);
    const { objects, next } = await asked(() => storage.list({ prefix: "a/" }));
    expect([objects[0]?.path, objects[0]?.size, next]).toEqual(["a/b.txt", 5, null]);
    expect([await asked(() => storage.delete("a/b.txt")), await asked(() => storage.delete("a/b.txt"))]).toEqual([
      true,
      false,
    ]);
  });

  it("gives the bytes of a range, and no others", async () => {
    await asked(() => storage.put("ranges", "hello", { metadata: { owner: "Ann" } }));
    const text = async (from: number, to: number, path = "ranges") =>
      (await asked(() => storage.get(path, { range: [from, to] })))?.text();
    for (const [from, to, expected] of [
      [1, 3, "el"],
      [0, 5, "hello"],
      [3, 100, "lo"],
      [4, Number.POSITIVE_INFINITY, "o"],
      [0, Number.POSITIVE_INFINITY, "hello"],
      [0, 0, ""],
      [5, 5, ""],
      [9, 9, ""],
    ] as const) {
      expect([from, to, await text(from, to)]).toEqual([from, to, expected]);
    }
    const empty = await asked(() => storage.get("ranges", { range: [2, 2] }));
    expect([empty?.contentType, empty?.metadata]).toEqual(["text/plain; charset=utf-8", { owner: "Ann" }]);
    for (const to of [0, 1, Number.POSITIVE_INFINITY]) expect(await text(0, to, "none")).toBeUndefined();
    expect(await failure(() => text(5, 6))).toMatchObject({ code: "status", status: 416 });
    for (const range of [
      [5, 2],
      [-3, 5],
      [-3, -3],
      [0, Number.NaN],
      [Number.NaN, 5],
      [0.5, 2],
      [0, 2.5],
      [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY],
      [0, Number.NEGATIVE_INFINITY],
      [0, 2 ** 60],
      ["0", "2"],
      [3],
      [],
    ]) {
      const refused = await failure(() => storage.get("ranges", { range } as never));
      expect([range, refused.name, refused.message]).toEqual([
        range,
        "TypeError",
        'storage.get: "range" must be two whole numbers from 0 on, the second not below the first; it may be Infinity',
      ]);
    }
    await asked(() => storage.delete("ranges"));
  });

  it("keeps metadata, copies, lists folders and signs addresses", async () => {
    const options = { cacheControl: "no-store", metadata: { owner: "Ann" } };
    await asked(() => storage.put("m/a b", "hello", options));
    expect(await asked(() => storage.copy("m/a b", "m/x/c"))).toMatchObject({ created: true });
    const copy = await asked(() => storage.get("m/x/c"));
    expect([copy?.text(), copy?.metadata]).toEqual(["hello", { owner: "Ann" }]);
    const { objects, prefixes } = await asked(() => storage.list({ prefix: "m/", delimiter: "/" }));
    expect([objects.map((each) => each.path), prefixes]).toEqual([["m/a b"], ["m/x/"]]);
    const url = await asked(() => storage.url("m/a b", { expires: 60 }));
    const fetched = await fetch(url);
    expect([await fetched.text(), fetched.headers.get("cache-control")]).toEqual(["hello", "no-store"]);
    for (const path of ["m/a b", "m/x/c"]) await asked(() => storage.delete(path));
  });

  it("refuses an end of time that JSON has no form for", async () => {
    const upload = await asked(() => storage.upload("refused"));
    for (const expires of [Number.NaN, Number.POSITIVE_INFINITY]) {
      for (const url of [() => storage.url("refused", { expires }), () => upload.url(1, { expires })]) {
        expect(await failure(url)).toMatchObject({
          name: "TypeError",
          message: 'storage: "expires" must be a finite number',
        });
      }
    }
    await asked(() => upload.abort());
  });

  it("refuses what leads elsewhere", async () => {
    for (const path of ["", "..", "../x", "a/../b", "./a"]) {
      expect(await failure(() => storage.get(path))).toBeInstanceOf(TypeError);
    }
  });
});

describe("queue", () => {
  it("sends messages", async () => {
    const id = await asked(() => queue("mail").send({ to: "Ann" }, { delay: 3600, key: "k" }));
    const more = await asked(() => queue("mail").sendMany([{ body: 1 }, { body: undefined }]));
    expect([id, more]).toEqual([expect.stringMatching(/^\d+$/), [expect.any(String), expect.any(String)]]);
    for (const name of ["", "a b", "../x"]) expect(() => queue(name)).toThrow(TypeError);
    expect(await failure(() => queue("mail").send(1, { delay: -1 }))).toMatchObject({ status: 400 });
    for (const delay of [Number.NaN, Number.POSITIVE_INFINITY]) {
      const refused = { name: "TypeError", message: 'queue: "delay" must be a finite number' };
      expect(await failure(() => queue("mail").send(1, { delay }))).toMatchObject(refused);
      expect(await failure(() => queue("mail").sendMany([{ body: 1 }, { body: 2, delay }]))).toMatchObject(refused);
    }
  });
});

describe("a sidecar", () => {
  it("that is missing says what to put where", async () => {
    const missing = await failure(() => db.query(["SELECT 1", []]), "");
    expect(missing).toMatchObject({ code: "missing", sidecar: "db" });
    expect(missing.message).toMatch(/put db = "http:\/\/host:port".*\[sidecars\] in tenon\.toml.*SIDECAR_DB_URL/);
  });

  it("that does not answer says why", async () => {
    const refused = await failure(() => cache.get("a"), `http://127.0.0.1:${await freePort()}`);
    expect(refused).toMatchObject({ code: "refused", sidecar: "cache" });
  });

  it("is looked up by one reading of the environment", async () => {
    let readings = 0;
    const read = () => {
      const environment = platform[environmentKey];
      platform[environmentKey] = () => {
        readings++;
        return environment?.() ?? [];
      };
      const connection = connectionOf("db");
      platform[environmentKey] = environment;
      return Promise.resolve(connection);
    };
    expect(await asked(read, "http://sidecar/", { SIDECAR_DB_TOKEN: "t" })).toEqual({
      base: "http://sidecar",
      token: "t",
    });
    expect(readings).toBe(1);
  });

  it("gets its token, when there is one", async () => {
    const { createServer } = await import("node:http");
    const server = createServer((request, response) =>
      response.end(JSON.stringify({ rows: [request.headers.authorization] })),
    );
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    const query = () => db.query(["SELECT 1", []]);
    const url = `http://127.0.0.1:${port}/`;
    expect(await asked(query, url, { SIDECAR_DB_TOKEN: "t0ken" })).toEqual(["Bearer t0ken"]);
    const both = { SIDECAR_DB_TOKEN: "t0ken", TENON_SECRET_SIDECAR_DB_TOKEN: "secret" };
    expect(await asked(query, url, both)).toEqual(["Bearer secret"]);
    server.close();
  });
});
