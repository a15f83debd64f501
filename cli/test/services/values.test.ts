/** Values at random of every type that the page lists, there and back: equal or refused. `TENON_VALUES=100000` runs more. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeWith } from "../../../testing/needs.ts";
import { Sidecar } from "../../src/sidecar.ts";
import { type Ask, askAt } from "./ask.ts";
import { type Store, startPostgres } from "./stores.ts";

const COUNT = Number(process.env["TENON_VALUES"] ?? 1_000);
/** Values of one request: they are made by the server, read, bound again, and compared by the server. */
const AT_ONCE = 100;

/** How PostgreSQL makes a value of a type at random, `r` being random numbers from 0 to 1. */
const types: Readonly<Record<string, string>> = {
  bool: "random() < 0.5",
  int2: "(random() * 65535 - 32768)::int4::int2",
  int4: "(random() * 4294967295 - 2147483648)::int8::int4",
  int8: "((random() * 2 - 1) * power(2, random() * 62))::int8",
  float4: "((random() - 0.5) * power(10, random() * 60 - 30))::float4",
  float8: "(random() - 0.5) * power(10, random() * 600 - 300)",
  numeric: "((random() - 0.5) * power(10, random() * 60 - 30))::numeric * random()::numeric",
  text: "(SELECT coalesce(string_agg(chr((1 + random() * 55000)::int), ''), '') FROM generate_series(1, (random() * 20 + x * 0)::int))",
  varchar: "md5(random()::text)::varchar",
  bytea: "decode(repeat(md5(random()::text), (random() * 3)::int), 'hex')",
  uuid: "gen_random_uuid()",
  date: "DATE '2000-01-01' + ((random() * 2 - 1) * power(10, random() * 6))::int4",
  time: "(random() * interval '86400 s')::time",
  timestamp: "TIMESTAMP '2000-01-01' + (random() * 2 - 1) * power(10, random() * 10) * interval '1 s'",
  timestamptz: "TIMESTAMPTZ '2000-01-01 00:00:00Z' + (random() * 2 - 1) * power(10, random() * 10) * interval '1 s'",
  jsonb: "jsonb_build_object('a', (random() * 1000000000)::int4, 'b', ARRAY[md5(random()::text), NULL])",
  "int4[]": "ARRAY[[(random() * 100)::int4, NULL], [3, (random() * 100)::int4]]",
  "text[]": "ARRAY[md5(random()::text), '', NULL, '{\"}', E'\\\\']",
  "timestamptz[]":
    "ARRAY[TIMESTAMPTZ '2000-01-01 00:00:00Z' + (random() * 2 - 1) * power(10, random() * 10) * interval '1 s']",
};

describeWith("postgresql", "values of PostgreSQL", () => {
  let store: Store;
  let sidecar: Sidecar;
  let ask: Ask;
  beforeAll(async () => {
    store = await startPostgres();
    const listen = "127.0.0.1:0";
    sidecar = await Sidecar.start({ kind: "sql", url: store.url, listen, logLevel: "off" });
    ask = askAt(sidecar.address);
  });
  afterAll(async () => {
    await sidecar.close();
    await store.stop();
  });

  it.each(Object.entries(types))("%s", { timeout: 120_000 + COUNT * 20 }, async (type, made) => {
    const query = async (sql: string, params: unknown[] = []) => {
      const answer = await ask("POST", "/sql/query", { json: { sql, params } });
      if (answer.status !== 200) throw new Error(`${sql} ${JSON.stringify(params).slice(0, 300)}: ${answer.text}`);
      return answer.json.rows;
    };
    const table = `values_${type.replace("[]", "s")}`;
    await query(`CREATE TABLE ${table} (id int, value ${type})`);
    for (let done = 0; done < COUNT; done += AT_ONCE) {
      await query(`TRUNCATE ${table}`);
      await query(`INSERT INTO ${table} SELECT x, ${made} FROM generate_series(1, ${AT_ONCE}) AS x`);
      const rows = await query(`SELECT id, value FROM ${table}`);
      expect(rows).toHaveLength(AT_ONCE);
      const values = rows.map((_: unknown, n: number) => `($${2 * n + 1}::int4, $${2 * n + 2}::${type})`).join(", ");
      const params = rows.flatMap(({ id, value }: { id: number; value: unknown }) => [id, value]);
      const differ = await query(
        `SELECT t.value::text AS stored, v.value::text AS bound FROM (VALUES ${values}) AS v(id, value)
         JOIN ${table} t USING (id) WHERE t.value::text IS DISTINCT FROM v.value::text`,
        params,
      );
      expect(differ).toEqual([]);
    }
  });
});
