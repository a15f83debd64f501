/** The contract of SQL, on everything that keeps to it. */
import { expect, it } from "vitest";
import { describeSql } from "./sql-suite.ts";

describeSql("SQL: $name", ({ postgres, ask, run, query, execute }) => {
  it("has nothing to do in an empty batch", async () => {
    expect((await run("batch", { statements: [] })).json).toEqual({ results: [] });
  });

  it("keeps temporary tables from other requests", async () => {
    expect((await execute("CREATE TEMP TABLE mine (a INTEGER)")).status).toBe(200);
    for (let i = 0; i < 5; i++) expect((await query("SELECT * FROM mine")).status).toBe(400);
  });

  it("runs statements with parameters, and gives rows in the order of their columns", async () => {
    const insert = "INSERT INTO users (name, age, active, score) VALUES ($1, $2, $3, $4)";
    expect((await execute(insert, "Ann", 30, true, 1.5)).json).toEqual({ rows_affected: 1 });
    expect((await execute(insert, "Bob", null, false, -2)).json).toEqual({ rows_affected: 1 });
    expect((await query("SELECT name, age, active, score FROM users ORDER BY name")).text).toBe(
      '{"columns":["name","age","active","score"],"rows":[{"name":"Ann","age":30,"active":true,"score":1.5},' +
        '{"name":"Bob","age":null,"active":false,"score":-2.0}]}',
    );
    expect((await query("SELECT name FROM users WHERE age >= $1 AND name LIKE $2", 18, "A%")).json.rows).toEqual([
      { name: "Ann" },
    ]);
    expect((await query("SELECT name FROM users WHERE 1 = 0")).json).toEqual({ columns: ["name"], rows: [] });
    expect((await execute("UPDATE users SET age = $1", 31)).json).toEqual({ rows_affected: 2 });
    expect((await execute("SELECT * FROM users")).json).toEqual({ rows_affected: 0 });
    expect((await query("DELETE FROM users WHERE name = $1 RETURNING name", "Bob")).json.rows).toEqual([
      { name: "Bob" },
    ]);
    expect((await query("SELECT name FROM users")).json.rows).toEqual([{ name: "Ann" }]);
  });

  it("gives rows as arrays on request, with columns of one name and of numeric names", async () => {
    const rows = "arrays";
    const sql = 'SELECT $1 AS slug, 0 AS "0", 1 AS id, 2 AS id, 3 AS "10", 4 AS "9"';
    const columns = ["slug", "0", "id", "id", "10", "9"];
    const row = ["a", 0, 1, 2, 3, 4];
    const asked = await run("query", { sql, params: ["a"], rows });
    expect(asked.json).toEqual({ columns, rows: [row] });
    const none = await run("query", { sql: "SELECT 1 AS id, 2 AS id WHERE 1 = 0", rows });
    expect(none.json).toEqual({ columns: ["id", "id"], rows: [] });
    const batch = await run("batch", {
      statements: [
        { sql, params: ["a"], rows },
        { sql: "SELECT 1 AS id, 2 AS id" },
        { sql: "UPDATE users SET age = 1 WHERE 1 = 0", rows },
      ],
    });
    expect(batch.json.results).toEqual([
      { columns, rows: [row], rows_affected: 0 },
      { columns: ["id"], rows: [{ id: 2 }], rows_affected: 0 },
      { columns: [], rows: [], rows_affected: 0 },
    ]);
    for (const wrong of ["objects", "array", 1, true, {}]) {
      const refused = await run("query", { sql, params: ["a"], rows: wrong });
      expect([refused.status, refused.json.detail]).toEqual([400, expect.stringContaining("`rows` must be")]);
    }
  });

  it("runs a batch as one transaction", async () => {
    const insert = (name: string) => ({ sql: "INSERT INTO users (name) VALUES ($1) RETURNING name", params: [name] });
    const both = await run("batch", {
      statements: [insert("C"), { sql: "UPDATE users SET age = 1 WHERE name = 'C'" }],
    });
    expect(both.json).toEqual({
      results: [
        { columns: ["name"], rows: [{ name: "C" }], rows_affected: 1 },
        { columns: [], rows: [], rows_affected: 1 },
      ],
    });
    const failed = await run("batch", { statements: [insert("D"), insert("C"), insert("E")] });
    expect([failed.status, failed.json.detail]).toEqual([
      400,
      expect.stringMatching(/^statement 1: .*(UNIQUE|unique)/),
    ]);
    expect((await query("SELECT name FROM users WHERE name IN ('D', 'E')")).json.rows).toEqual([]);
  });

  it("answers SQL errors with 400 and the database's message", async () => {
    for (const [sql, said] of [
      ["SELECT * FROM nowhere", /nowhere/],
      ["SELEC 1", /syntax/],
      ["SELECT nothing FROM users", /nothing/],
      ["INSERT INTO users (name) VALUES ('Ann')", /UNIQUE|unique/],
      ["INSERT INTO users (name) VALUES (NULL)", /NOT NULL|not-null/],
      ["SELECT 1; SELECT 2", /statement|command/],
      [" -- nothing\n;", /no statement/],
    ] as const) {
      const problem = await query(sql);
      expect([problem.status, problem.headers["content-type"]], sql).toEqual([400, "application/problem+json"]);
      expect(problem.json.detail).toMatch(said);
    }
    expect((await query("SELECT $1", ...[])).status).toBe(400);
    expect((await query("SELECT 1", 1)).status).toBe(400);
  });

  it("answers what is no request with 400, 413 or 415, and repeats nothing of it", async () => {
    const send = (body: string, type = "application/json") =>
      ask("POST", "/sql/query", { body, headers: { "content-type": type } });
    for (const body of [
      "",
      "{",
      "hunter2",
      "[]",
      "1",
      '{"sql":1}',
      '{"sql":""}',
      '{"params":[]}',
      '{"sql":"x","params":{}}',
    ]) {
      const problem = await send(body);
      expect([problem.status, problem.text.includes("hunter2")], body).toEqual([400, false]);
    }
    expect((await send('{"sql":"SELECT 1"}', "text/plain")).status).toBe(415);
    expect((await ask("POST", "/sql/query", { body: '{"sql":"SELECT 1 AS a"}' })).json.rows).toEqual([{ a: 1 }]);
    expect((await send(JSON.stringify({ sql: "SELECT 1", params: ["x".repeat(11_000_000)] }))).status).toBe(413);
    expect((await ask("GET", "/sql/query")).headers["allow"]).toBe("POST");
    for (const statements of [undefined, {}, Array(101).fill({ sql: "SELECT 1" })]) {
      expect((await run("batch", { statements })).status).toBe(400);
    }
  });

  it("keeps numbers exact, and bytes as base64", async () => {
    const big = postgres ? "SELECT 9007199254740993::int8 AS a, 5::int8 AS b" : "SELECT 9007199254740993 AS a, 5 AS b";
    expect((await query(big)).json.rows).toEqual([{ a: "9007199254740993", b: 5 }]);
    const bytes = postgres ? "SELECT '\\x00ff'::bytea AS a" : "SELECT x'00ff' AS a";
    expect((await query(bytes)).json.rows).toEqual([{ a: "AP8=" }]);
    const integer = postgres ? "SELECT $1::int8 AS a" : "SELECT CAST($1 AS INTEGER) AS a";
    expect((await query(integer, "9223372036854775807")).json.rows).toEqual([{ a: "9223372036854775807" }]);
  });

  it("binds numbers as they are written", async () => {
    const body = (sql: string, params: string) => `{"sql":${JSON.stringify(sql)},"params":${params}}`;
    const run = async (sql: string, params: string) =>
      (await ask("POST", "/sql/query", { body: body(sql, params) })).json.rows;
    const float = postgres ? "$1::float8 AS a, $2::float8 AS b" : "$1 AS a, typeof($2) AS b";
    expect(await run(`SELECT ${float}`, "[4.683689251375931e-187, 1.0000000000000000001]")).toEqual([
      { a: 4.683689251375931e-187, b: postgres ? 1 : "real" },
    ]);
    const json = '{"n": 0.10000000000000000555, "s": "x"}';
    if (!postgres) {
      expect(await run("SELECT $1 AS a, $2 AS b", `[${json}, [1, 18446744073709551617]]`)).toEqual([
        { a: json, b: "[1, 18446744073709551617]" },
      ]);
      const beyond = await ask("POST", "/sql/query", { body: body("SELECT $1", "[18446744073709551617]") });
      expect([beyond.status, beyond.json.detail]).toEqual([400, expect.stringMatching(/^parameter 1 .* 64 bits/)]);
      expect(await run("SELECT typeof($1) AS a", "[1e19]")).toEqual([{ a: "real" }]);
      return;
    }
    expect(
      await run(
        "SELECT $1::jsonb::text AS a, $2::numeric AS b, ($3::numeric[])[2] AS c, ($4::jsonb[])[1]::text AS d",
        `[${json}, 12345678901234567890.50, [1, 0.10000000000000000555], [${json}]]`,
      ),
    ).toEqual([{ a: json, b: "12345678901234567890.50", c: "0.10000000000000000555", d: json }]);
  });

  it("binds bytes, and numbers that JSON has not", async () => {
    const sql = postgres
      ? "SELECT encode($1::bytea, 'hex') AS a, $2::float8::text AS b, $3::numeric AS c, ($4::bytea[])[1] AS d"
      : "SELECT hex($1) AS a, typeof($2) || $2 AS b, $3 AS c, $4 AS d";
    const bytes = { base64: "AP8=" };
    const answer = await query(sql, bytes, { float: "-Infinity" }, { float: "1.5" }, postgres ? [bytes] : bytes);
    expect(answer.json.rows).toEqual([
      postgres ? { a: "00ff", b: "-Infinity", c: "1.5", d: "AP8=" } : { a: "00FF", b: "real-Inf", c: 1.5, d: "AP8=" },
    ]);
    // An object stays JSON where JSON is asked for.
    const json = postgres ? "SELECT $1::jsonb AS a" : "SELECT json_extract($1, '$.a.base64') AS a";
    const kept = await query(json, postgres ? bytes : { a: bytes });
    expect(kept.json.rows).toEqual([{ a: postgres ? bytes : "AP8=" }]);
    for (const wrong of [{ base64: "?" }, { float: "1e999" }]) {
      const type = !postgres ? "" : "base64" in wrong ? "::bytea" : "::float8";
      expect((await query(`SELECT $1${type}`, wrong)).json).toMatchObject({ status: 400, retryable: false });
    }
  });

  it.runIf(!postgres)("shows no text that is not UTF-8", async () => {
    const refused = await query("SELECT 1 AS a, CAST(x'61ff' AS TEXT) AS name");
    expect([refused.status, refused.json.detail]).toEqual([400, expect.stringMatching(/"name".*CAST\(name AS BLOB\)/)]);
    expect((await query("SELECT CAST(CAST(x'61ff' AS TEXT) AS BLOB) AS a")).json.rows).toEqual([{ a: "Yf8=" }]);
  });

  it.runIf(!postgres)("stops the statements of clients that leave", async () => {
    const left = new AbortController();
    const sql = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c";
    // As many as there are connections.
    const asked = Array.from({ length: 8 }, () =>
      ask("POST", "/sql/query", { json: { sql }, signal: left.signal }).catch(({ name }) => name),
    );
    // Requests that come after them are answered, so they have come in.
    for (let n = 0; n < 20; n++) await ask("GET", "/metrics");
    left.abort();
    expect(await Promise.all(asked)).toEqual(Array(8).fill("AbortError"));
    expect((await query("SELECT 1 AS a")).json.rows).toEqual([{ a: 1 }]);
  });

  it("refuses transactions of the client's own, which would stay open for others", async () => {
    for (const sql of ["BEGIN", "/* x */ begin", "COMMIT", "SAVEPOINT a", "ROLLBACK"]) {
      expect((await query(sql)).status, sql).toBe(403);
      expect((await run("batch", { statements: [{ sql }] })).status, sql).toBe(403);
    }
  });

  it.runIf(postgres)("leaves no lock behind", async () => {
    expect((await query("SELECT pg_try_advisory_lock(7) AS locked")).json.rows).toEqual([{ locked: true }]);
    const locks = async () => (await query("SELECT FROM pg_locks WHERE locktype = 'advisory'")).json.rows;
    await expect.poll(locks).toEqual([]);
  });

  it("refuses results that are too large", async () => {
    const rows = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 10001) SELECT x FROM c";
    expect((await query(rows)).json.detail).toMatch(/more than 10000 rows/);
    expect((await query(`${rows} LIMIT 10000`)).json.rows).toHaveLength(10_000);
    expect((await query("SELECT 1 AS a")).json.rows).toEqual([{ a: 1 }]);
  });

  it("refuses a batch whose results are too large together", async () => {
    const half = postgres ? "SELECT repeat('x', 6000000) AS a" : "SELECT hex(zeroblob(3000000)) AS a";
    const statements = [{ sql: half }, { sql: half }];
    expect((await run("batch", { statements: [{ sql: half }] })).status).toBe(200);
    expect((await run("batch", { statements })).json).toMatchObject({
      status: 400,
      detail: expect.stringMatching(/statement 1: the result is larger than 10485760/),
    });
  });

  it("makes no value that is larger than any result", async () => {
    const large = postgres ? "repeat('x', 20000000)" : "zeroblob(900000000)";
    const problem = await query(`SELECT ${large} AS z`);
    // SQLite itself refuses to make it; a PostgreSQL sends it, and it is not copied.
    const said = postgres ? /larger than 10485760/ : /too big/;
    expect([problem.status, problem.json.detail]).toEqual([400, expect.stringMatching(said)]);
  });

  it.runIf(postgres)(
    "measures lists by their JSON, which is shorter than what PostgreSQL sends, or longer",
    async () => {
      const list = (number: string, count: number) =>
        query(`SELECT array_agg(${number}) AS a FROM generate_series(1, ${count})`);
      expect((await list("1::int8", 1_000_000)).json.rows[0].a).toHaveLength(1_000_000);
      expect((await list("1e131071::numeric", 100)).json.detail).toMatch(/larger than 10485760/);
    },
  );

  it("takes requests side by side", async () => {
    const insert = (n: number) => execute("INSERT INTO users (name) VALUES ($1)", `side ${n}`);
    const answers = await Promise.all(Array.from({ length: 40 }, (_, n) => insert(n)));
    expect(answers.map((answer) => answer.status)).toEqual(Array(40).fill(200));
    expect((await query("SELECT count(*) AS n FROM users WHERE name LIKE 'side %'")).json.rows).toEqual([{ n: 40 }]);
  });

  it.runIf(!postgres)("keeps to its own file", async () => {
    for (const sql of ["ATTACH '/tmp/other.db' AS other", "VACUUM INTO '/tmp/copy.db'", "PRAGMA journal_mode = OFF"]) {
      expect((await query(sql)).status, sql).toBe(403);
    }
    expect((await query("PRAGMA table_info(users)")).json.rows).toHaveLength(5);
    for (const sql of ["VACUUM", "/* c */ VACUUM"]) expect((await query(sql)).status, sql).toBe(200);
    expect((await query('SELECT "no such text" AS a')).status).toBe(400);
  });

  it.runIf(postgres)("knows PostgreSQL's types both ways", async () => {
    for (const [type, value, shown] of [
      ["int2", 5],
      ["int4", -7],
      ["numeric", "12345678901234567890.123400"],
      ["numeric", 1.5, "1.5"],
      ["float4", 0.1],
      ["float8", 1e300],
      ["text", "é🎉"],
      ["varchar", "x"],
      ["bool", false],
      ["uuid", "6f1c1f6e-58f2-4b8b-9c5e-0a3b5d7f9e11"],
      ["json", { b: [1, null], a: "x" }],
      ["jsonb", [1, { a: 2 }]],
      ["bytea", "AP8="],
      ["date", "1999-12-31"],
      ["time", "10:05:30.250"],
      ["timestamp", "2026-03-01T10:00:00.123456"],
      ["timestamptz", "2026-03-01T12:00:00+02:00", "2026-03-01T10:00:00Z"],
      ["int4[]", [1, null, 3]],
      ["text[]", ["a", "b,c"]],
      ["text[]", []],
      ["timestamptz[]", ["2026-03-01T10:00:00Z"]],
      [
        "int4[]",
        [
          [1, null],
          [3, 4],
        ],
      ],
      ["jsonb[]", [[1, 2], { a: [] }]],
      ["timestamptz", "2026-03-01 10:00:00+00", "2026-03-01T10:00:00Z"],
      ["timestamptz", "-0043-03-15T12:00:00Z"],
      ["timestamp", "+10000-01-01T00:00:00"],
      ["date", "+5874897-12-31"],
      ["time", "24:00:00"],
      ["float4", "Infinity"],
    ] as const) {
      const answer = await query(`SELECT $1::${type} AS a`, value);
      expect([answer.status, answer.json.rows?.[0]?.a], `${type}: ${answer.text}`).toEqual([200, shown ?? value]);
    }
    for (const [type, value] of [
      ["int4", "x"],
      ["int2", 40_000],
      ["uuid", "x"],
      ["timestamptz", "soon"],
      ["inet", "127.0.0.1"],
      ["bytea", "%"],
      ["float4", 1e39],
      ["float8", "1e999"],
      ["date", "2000-01-01 plus 5 days"],
      ["int4[]", [[1], [2, 3]]],
    ] as const) {
      const problem = await query(`SELECT $1::${type} AS a`, value);
      expect([problem.status, problem.json.detail], type).toEqual([400, expect.stringContaining("parameter 1")]);
    }
    expect((await query("SELECT $1::text::inet AS a", "127.0.0.1")).json.detail).toMatch(/column "a" .*inet/);
    await execute("CREATE TYPE mood AS ENUM ('good', 'bad')");
    await execute("CREATE DOMAIN short AS text CHECK (length(VALUE) < 5)");
    expect((await query("SELECT $1::mood AS a, $2::short AS b", "good", "abc")).json.rows).toEqual([
      { a: "good", b: "abc" },
    ]);
    expect((await query("SELECT $1::mood AS a", "ugly")).status).toBe(400);
  });

  it("is not confused by a table that changes", async () => {
    await execute("CREATE TABLE changing (a INTEGER)");
    await execute("INSERT INTO changing VALUES (1)");
    const all = () => Promise.all(Array.from({ length: 10 }, () => query("SELECT * FROM changing")));
    for (const answer of await all()) expect(answer.json.columns).toEqual(["a"]);
    await execute("ALTER TABLE changing ADD COLUMN b TEXT");
    for (const answer of await all()) expect([answer.status, answer.json.columns]).toEqual([200, ["a", "b"]]);
  });

  it("writes nothing for which there is no answer", async () => {
    await execute("CREATE TABLE answered (a TEXT, at TEXT)");
    const rows = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 10001) SELECT x FROM c";
    const many = `INSERT INTO answered (a) ${rows.replace("SELECT x FROM c", "SELECT CAST(x AS TEXT) FROM c")} RETURNING a`;
    for (const route of ["query", "execute"]) {
      expect((await run(route, { sql: many })).json.detail).toMatch(/more than 10000 rows/);
      if (postgres) {
        const unreadable = "INSERT INTO answered (a) VALUES ('127.0.0.1') RETURNING a::inet AS a";
        expect((await run(route, { sql: unreadable })).json.detail).toMatch(/column "a" .*inet/);
      }
      expect((await query("SELECT count(*) AS n FROM answered")).json.rows, route).toEqual([{ n: 0 }]);
    }
  });

  it("says which constraint an error is about", async () => {
    await execute(
      "CREATE TABLE kept (a INTEGER NOT NULL, b INTEGER, CONSTRAINT positive CHECK (b > 0), CONSTRAINT one UNIQUE (a))",
    );
    await execute("INSERT INTO kept VALUES (1, 1)");
    const twice = (await execute("INSERT INTO kept VALUES (1, 1)")).json;
    const place = postgres ? { constraint: "one", table: "kept" } : { table: "kept", column: "a" };
    expect(twice).toMatchObject({ status: 400, sqlstate: "23505", retryable: false, ...place });
    const none = (await execute("INSERT INTO kept VALUES (NULL, 1)")).json;
    expect(none).toMatchObject({ sqlstate: "23502", table: "kept", column: "a", retryable: false });
    const negative = { statements: [{ sql: "INSERT INTO kept VALUES (2, -1)" }] };
    expect((await run("batch", negative)).json).toMatchObject({ sqlstate: "23514", constraint: "positive" });
    expect((await query("SELECT 1", 1)).json.retryable).toBe(false);
  });

  it("commits a batch only when its statements come to the rows that are expected", async () => {
    await execute("CREATE TABLE accounts (id INTEGER PRIMARY KEY, balance INTEGER NOT NULL)");
    await execute("INSERT INTO accounts VALUES (1, 100), (2, 0)");
    const move = (amount: number) => [
      {
        sql: "UPDATE accounts SET balance = balance - $1 WHERE id = 1 AND balance >= $1",
        params: [amount],
        expect: { rows: 1 },
      },
      { sql: "UPDATE accounts SET balance = balance + $1 WHERE id = 2", params: [amount], expect: { rows: 1 } },
    ];
    const balances = async () =>
      (await query("SELECT balance FROM accounts ORDER BY id")).json.rows.map(
        (row: { balance: number }) => row.balance,
      );
    expect((await run("batch", { statements: move(60), isolation: "serializable" })).status).toBe(200);
    const refused = await run("batch", { statements: move(60).reverse() });
    expect([refused.status, refused.json.detail]).toEqual([409, expect.stringMatching(/^statement 1: .*0 rows.* 1 /)]);
    expect(await balances()).toEqual([40, 60]);
    const read = { sql: "SELECT id FROM accounts", expect: { rows: 2 } };
    expect((await run("batch", { statements: [read] })).status).toBe(200);
    for (const wrong of [{ rows: -1 }, { rows: "1" }, {}, 1, { rows: 1, more: 1 }]) {
      expect((await run("batch", { statements: [{ sql: "SELECT 1", expect: wrong }] })).status).toBe(400);
    }
    for (const isolation of ["read committed", "REPEATABLE READ", "serializable"]) {
      const statements = [{ sql: "SELECT 1 AS a" }];
      expect((await run("batch", { statements, isolation })).json.results[0].rows, isolation).toEqual([{ a: 1 }]);
    }
    expect((await run("batch", { statements: [{ sql: "SELECT 1" }], isolation: "some" })).status).toBe(400);
  });

  it("answers a retry with the same idempotency key what it answered, and applies it once", async () => {
    await execute("CREATE TABLE paid (id TEXT, amount INTEGER NOT NULL CHECK (amount > 0))");
    const count = async () => (await query("SELECT count(*) AS n FROM paid")).json.rows[0].n;
    const keyed = (route: string, key: string, json: unknown) =>
      ask("POST", `/sql/${route}`, { json, headers: { "idempotency-key": key } });
    const statements = [{ sql: "INSERT INTO paid VALUES ($1, $2) RETURNING id", params: ["a", 5] }];
    const first = await keyed("batch", "pay-1", { statements });
    const again = await keyed("batch", "pay-1", { statements });
    expect([first.status, first.headers["idempotent-replayed"]]).toEqual([200, undefined]);
    expect([again.status, again.text, again.headers["idempotent-replayed"]]).toEqual([200, first.text, "true"]);
    expect(await count()).toBe(1);
    const another = await keyed("batch", "pay-1", { statements: [...statements, ...statements] });
    expect([another.status, another.json.retryable]).toEqual([422, false]);
    // Sixteen at once are one.
    const insert = { sql: "INSERT INTO paid VALUES ($1, $2)", params: ["b", 7] };
    const answers = await Promise.all(Array.from({ length: 16 }, () => keyed("execute", "pay-2", insert)));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`))).toEqual(
      new Set(['200 {"rows_affected":1}']),
    );
    expect(answers.filter(({ headers }) => headers["idempotent-replayed"] === undefined)).toHaveLength(1);
    expect(await count()).toBe(2);
    expect((await keyed("batch", "pay-2", { statements })).status).toBe(422);
    // A request that was not applied can be retried.
    const wrong = { sql: "INSERT INTO paid VALUES ($1, $2)", params: ["c", -1] };
    expect((await keyed("execute", "pay-3", wrong)).status).toBe(400);
    expect((await keyed("execute", "pay-3", { ...wrong, params: ["c", 1] })).json).toEqual({ rows_affected: 1 });
    const serializable = { statements, isolation: "serializable" };
    const both = await Promise.all([keyed("batch", "pay-4", serializable), keyed("batch", "pay-4", serializable)]);
    expect(both.map(({ text }) => text)).toEqual([first.text, first.text]);
    expect(await count()).toBe(4);
    for (const key of ["", "x".repeat(256)]) expect((await keyed("execute", key, insert)).status).toBe(400);
    // After a day the key is free.
    const dayOld = postgres ? "now() - interval '25 hours'" : "0";
    await execute(`UPDATE tenon_idempotency SET at = ${dayOld} WHERE key IN ('pay-1', 'pay-2')`);
    expect((await keyed("execute", "pay-2", insert)).headers["idempotent-replayed"]).toBeUndefined();
    expect(await count()).toBe(5);
    expect((await query("SELECT count(*) AS n FROM tenon_idempotency WHERE key = 'pay-1'")).json.rows).toEqual([
      { n: 0 },
    ]);
  });

  it("makes the table of the keys once, whoever asks first", { timeout: 60_000 }, async () => {
    await execute("CREATE TABLE first_asked (id TEXT)");
    const insert = { sql: "INSERT INTO first_asked VALUES ($1)", params: ["a"] };
    for (let round = 0; round < 15; round++) {
      await execute("DROP TABLE IF EXISTS tenon_idempotency");
      const answers = await Promise.all(
        Array.from({ length: 16 }, (_, n) =>
          ask("POST", "/sql/execute", { json: insert, headers: { "idempotency-key": `first-${round}-${n}` } }),
        ),
      );
      expect(new Set(answers.map(({ text }) => text))).toEqual(new Set(['{"rows_affected":1}']));
    }
    expect((await query("SELECT count(*) AS n FROM first_asked")).json.rows).toEqual([{ n: 240 }]);
  });

  it.runIf(postgres)("knows at once when a change of the schema gives a parameter another type", async () => {
    const all = (sql: string, ...params: unknown[]) =>
      Promise.all(Array.from({ length: 12 }, () => query(sql, ...params)));
    const statuses = async (sql: string, ...params: unknown[]) => [
      ...new Set((await all(sql, ...params)).map(({ status, text }) => `${status} ${status === 200 ? "" : text}`)),
    ];
    await execute("CREATE TYPE feeling AS ENUM ('fine')");
    await execute("CREATE TABLE shifting (n INTEGER, t INTEGER, m feeling, at TIMESTAMP, e TEXT)");
    const insert = "INSERT INTO shifting (n) VALUES ($1)";
    const find = "SELECT count(*) FROM shifting WHERE t = $1";
    const feel = "SELECT count(*) FROM shifting WHERE m = $1";
    const when = "INSERT INTO shifting (at) VALUES ($1) RETURNING at";
    for (const [sql, value] of [
      [insert, 1],
      [find, 1],
      [feel, "fine"],
      [when, "2026-03-01T10:00:00"],
    ] as const) {
      expect(await statuses(sql, value), sql).toEqual(["200 "]);
    }
    await execute("ALTER TABLE shifting ALTER COLUMN n TYPE BIGINT");
    expect(await statuses(insert, 3_000_000_000)).toEqual(["200 "]);
    await execute("ALTER TABLE shifting ALTER COLUMN t TYPE TEXT");
    expect(await statuses(find, "one")).toEqual(["200 "]);
    await execute("ALTER TABLE shifting DROP COLUMN m");
    await execute("DROP TYPE feeling");
    await execute("CREATE TYPE feeling AS ENUM ('fine', 'better')");
    await execute("ALTER TABLE shifting ADD COLUMN m feeling");
    expect(await statuses(feel, "better")).toEqual(["200 "]);
    await execute("ALTER TABLE shifting ALTER COLUMN at TYPE TIMESTAMPTZ");
    const zoned = await all(when, "2026-03-01T10:00:00+02:00");
    for (const { json } of zoned) expect(json.rows).toEqual([{ at: "2026-03-01T08:00:00Z" }]);
  });

  it.runIf(postgres)("calls a deadlock a deadlock, and a terminated connection one", async () => {
    await execute("CREATE TABLE crossed (id INTEGER PRIMARY KEY, n INTEGER)");
    await execute("INSERT INTO crossed VALUES (1, 0), (2, 0)");
    const lock = (id: number) => ({ sql: "UPDATE crossed SET n = n + 1 WHERE id = $1", params: [id] });
    const pause = { sql: "SELECT pg_sleep(0.5)" };
    const cross = (a: number, b: number) => run("batch", { statements: [lock(a), pause, lock(b)] });
    const answers = await Promise.all([cross(1, 2), cross(2, 1)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 503]);
    const dead = answers.find(({ status }) => status === 503);
    expect(dead?.json).toMatchObject({ sqlstate: "40P01", retryable: true, detail: expect.stringMatching(/deadlock/) });
    expect(dead?.headers["retry-after"]).toBe("1");
    const ended = await run("batch", {
      statements: [lock(1), { sql: "SELECT pg_terminate_backend(pg_backend_pid())" }],
    });
    expect([ended.status, ended.json]).toEqual([
      503,
      expect.objectContaining({ retryable: true, detail: expect.stringMatching(/connection .*lost/) }),
    ]);
    expect((await query("SELECT n FROM crossed WHERE id = 1")).json.rows).toEqual([{ n: 1 }]);
    // Connections that the server has closed are not given to anybody.
    await query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()");
    const after = await Promise.all(Array.from({ length: 12 }, () => query("SELECT 1 AS a")));
    expect(new Set(after.map(({ status }) => status))).toEqual(new Set([200]));
  });

  it.runIf(postgres)("runs what no transaction takes", async () => {
    await execute("CREATE TABLE swept (a INTEGER)");
    expect((await execute("VACUUM swept")).status).toBe(200);
    expect((await execute("CREATE INDEX CONCURRENTLY swept_a ON swept (a)")).status).toBe(200);
    const commits = "DO $$ BEGIN INSERT INTO swept VALUES (1); COMMIT; END $$";
    expect((await execute(commits)).status).toBe(200);
    expect((await query("SELECT a FROM swept")).json.rows).toEqual([{ a: 1 }]);
    expect((await run("batch", { statements: [{ sql: "VACUUM swept" }] })).json.sqlstate).toBe("25001");
  });
});
