/** The schema changes while two sidecars are asked all the time: no wrong answer, and no error. */
import { expect, it } from "vitest";
import { describeWith } from "../../../testing/needs.ts";
import { Sidecar } from "../../src/embed/sidecar.ts";
import { type Answer, askAt } from "./ask.ts";
import { startPostgres } from "./stores.ts";

const ROWS = 50;
const MIGRATIONS = [
  "ALTER TABLE t ALTER n TYPE bigint",
  "ALTER TABLE t ALTER s TYPE text",
  "ALTER TABLE t ADD COLUMN extra int",
  "ALTER TABLE t ALTER f TYPE double precision",
  "CREATE INDEX t_n ON t (n)",
  "ALTER TABLE t ALTER at TYPE timestamptz",
  "ALTER TABLE t ALTER n TYPE numeric",
  "ALTER TABLE t RENAME extra TO other",
  "ALTER TABLE t DROP COLUMN other",
  "ALTER TABLE t ALTER n TYPE text",
  "CREATE TYPE mood AS ENUM ('a', 'b')",
  "ALTER TABLE t ADD COLUMN m mood DEFAULT 'a'",
  "ALTER TABLE t DROP COLUMN m",
  "DROP TYPE mood",
  "CREATE TYPE mood AS ENUM ('a', 'b', 'c')",
  "ALTER TABLE t ADD COLUMN m mood DEFAULT 'c'",
  "ALTER TABLE t ALTER n TYPE int USING n::int",
  "ALTER TABLE t ALTER s TYPE varchar(80)",
  "DROP INDEX t_n",
  "ALTER TABLE t ADD COLUMN z int DEFAULT 3",
];

type Query = (sql: string, ...params: unknown[]) => Promise<Answer>;

const queryAt =
  (address: string): Query =>
  (sql, ...params) =>
    askAt(address)("POST", "/sql/query", { json: { sql, params } });

describeWith("postgresql", "PostgreSQL", () => {
  it(`${MIGRATIONS.length} changes of the schema under load`, async () => {
    const store = await startPostgres();
    const start = () => Sidecar.start({ kind: "sql", url: store.url, listen: "127.0.0.1:0", logLevel: "off" });
    const sidecars = await Promise.all([start(), start()]);
    const queries = sidecars.map(({ address }) => queryAt(address));
    const [first] = queries as [Query];
    await first("CREATE TABLE t (id serial PRIMARY KEY, n int, s varchar(50), f real, at timestamp)");
    await first(`INSERT INTO t (n, s, at) SELECT g, 's' || g, now() FROM generate_series(1, ${ROWS}) g`);

    const wrong: string[] = [];
    let right = 0;
    let isOver = false;
    const work = async (query: Query) => {
      while (!isOver) {
        const id = 1 + Math.floor(Math.random() * ROWS);
        for (const [sql, ...params] of [
          ["SELECT n, s FROM t WHERE id = $1", id],
          ["SELECT * FROM t WHERE n = $1", String(id)],
          ["UPDATE t SET n = $1, s = $2, at = now() WHERE id = $3 RETURNING n", String(id), "x", id],
        ] as const) {
          const { status, text, json } = await query(sql, ...params);
          if (status === 200 && String(json.rows[0]?.n) === String(id)) right++;
          else wrong.push(`${sql}: ${text}`);
        }
      }
    };
    const workers = queries.flatMap((query) => Array.from({ length: 4 }, () => work(query)));
    for (const migration of MIGRATIONS) {
      const before = right;
      await expect.poll(() => right - before, { interval: 5 }).toBeGreaterThan(50);
      expect([migration, (await first(migration)).status]).toEqual([migration, 200]);
    }
    isOver = true;
    await Promise.all(workers);
    for (const sidecar of sidecars) await sidecar.close();
    await store.stop();
    expect(wrong).toEqual([]);
  });
});
