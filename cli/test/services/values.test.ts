/**
 * Values at random of every type that the page lists, there and back: equal, or refused by an error that says why.
 * `TENON_VALUES=10000` makes so many of each type, and `TENON_VALUES_SEED` makes the same ones again.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { describeWith } from "../../../testing/needs.ts";
import { db, get, ok, routes } from "../../../ts-sdk/src/index.ts";
import { testApp } from "../../../ts-sdk/src/testing/index.ts";
import { Sidecar } from "../../src/embed/sidecar.ts";
import { type Ask, askAt } from "./ask.ts";
import {
  arrayOf,
  decimal,
  double,
  json,
  LABELS,
  LISTED,
  numberText,
  type PostgresType,
  quote,
  type Random,
  randomOf,
  text,
  UNLISTED,
} from "./random-values.ts";
import { folder, type PostgresStore, startPostgres } from "./stores.ts";

const COUNT = Number(process.env["TENON_VALUES"] ?? 300);
const SEED = Number(process.env["TENON_VALUES_SEED"] ?? Date.now() % 2 ** 32);
/** Values of one request. */
const AT_ONCE = 100;
const timeout = 60_000 + COUNT * 30;

/** Errors for a value whose JSON not every reader accepts. */
const REFUSED = /^the body has a number beyond a double, half of a surrogate pair/;

let equal = 0;
let refused = 0;

/** The values of a result of `id` and `value`, as they are written: a reader of JSON would round numbers and drop members. */
function rawValues(body: string): Map<number, string> {
  const values = new Map<number, string>();
  const row = /\{"id":(\d+),"value":/y;
  let at = body.indexOf('"rows":[') + '"rows":['.length;
  while (body[at] === "{") {
    row.lastIndex = at;
    const id = Number(row.exec(body)?.[1]);
    const start = row.lastIndex;
    let depth = 0;
    for (at = start; depth > 0 || body[at] !== "}"; at++) {
      if (body[at] === '"') while (body[++at] !== '"') if (body[at] === "\\") at++;
      if ("[{".includes(body[at] as string)) depth++;
      if ("]}".includes(body[at] as string)) depth--;
    }
    values.set(id, body.slice(start, at));
    at += body[at + 1] === "," ? 2 : 1;
  }
  return values;
}

/** Asks with parameters as they are written. */
async function queryRaw(ask: Ask, sql: string, params: readonly string[] = []) {
  const body = `{"sql":${JSON.stringify(sql)},"params":[${params.join(",")}]}`;
  return await ask("POST", "/sql/query", { body, headers: { "content-type": "application/json" } });
}

async function rows(ask: Ask, sql: string, params: readonly string[] = []) {
  const answer = await queryRaw(ask, sql, params);
  if (answer.status !== 200) throw new Error(`seed ${SEED}: ${sql.slice(0, 500)} ${params.join()}: ${answer.text}`);
  return answer;
}

const atOnce = (count: number) =>
  Array.from({ length: Math.ceil(count / AT_ONCE) }, (_, n) => Math.min(AT_ONCE, count - n * AT_ONCE));

afterAll(() => process.stderr.write(`values: ${equal} equal, ${refused} refused, seed ${SEED}\n`));

describeWith("postgresql", "values of PostgreSQL", () => {
  let store: PostgresStore;
  let sidecar: Sidecar;
  let ask: Ask;
  beforeAll(async () => {
    store = await startPostgres();
    sidecar = await Sidecar.start({ kind: "sql", url: store.url, listen: "127.0.0.1:0", logLevel: "off" });
    ask = askAt(sidecar.address);
    for (const sql of [
      `CREATE TYPE odd AS ENUM (${LABELS.map(quote).join()})`,
      "CREATE DOMAIN positive AS int4 CHECK (value > 0)",
      "CREATE DOMAIN document AS jsonb",
      "CREATE DOMAIN few AS int4[] CHECK (cardinality(value) < 4)",
      "CREATE TYPE pair AS (n int4, t text)",
      `CREATE FUNCTION read_text(text, regtype) RETURNS text LANGUAGE plpgsql AS $$
         DECLARE result text;
         BEGIN EXECUTE format('SELECT $1::%s::text', $2) INTO result USING $1; RETURN result;
         EXCEPTION WHEN others THEN RETURN NULL; END $$`,
    ]) {
      await rows(ask, sql);
    }
  });
  afterAll(async () => {
    await sidecar.close();
    await store.stop();
  });

  /** Makes a table of values; the database itself reads them. */
  const fill = async (table: string, random: Random, count: number, [type, expression]: PostgresType) => {
    await rows(ask, `DROP TABLE IF EXISTS ${table}`);
    await rows(ask, `CREATE TABLE ${table} (id int, value ${type})`);
    const values = random.list(count, () => (random.is(0.05) ? "NULL" : `(${expression(random)})::${type}`));
    await rows(ask, `INSERT INTO ${table} VALUES ${values.map((value, id) => `(${id}, ${value})`).join()}`);
  };

  /** Binds values, and compares them with the ones that are there. None is a request that was refused. */
  const differing = async (
    table: string,
    type: string,
    bound: readonly (readonly [number, string])[],
    cast: string,
  ) => {
    const list = bound.map(([id], n) => `(${id}, $${n + 1}${cast}::${type})`).join();
    const sql = `SELECT t.value::text AS stored, v.value::text AS bound FROM (VALUES ${list}) AS v(id, value)
      JOIN ${table} t USING (id) WHERE t.value::text IS DISTINCT FROM v.value::text`;
    const params = bound.map(([, raw]) => raw);
    const answer = await queryRaw(ask, sql, params);
    if (answer.status === 400 && REFUSED.test(answer.json.detail)) return undefined;
    if (answer.status !== 200) throw new Error(`seed ${SEED}: ${type} ${params.join().slice(0, 2000)}: ${answer.text}`);
    return answer.json.rows as unknown[];
  };

  const thereAndBack = async (given: PostgresType, n: number, isListed: boolean) => {
    const [type] = given;
    const random = randomOf(SEED + n);
    const table = `values_${n}_${isListed}`;
    for (const count of atOnce(COUNT)) {
      await fill(table, random, count, given);
      if (!isListed) {
        const direct = await queryRaw(ask, `SELECT id, value FROM ${table} WHERE value IS NOT NULL`);
        expect([direct.status, direct.text]).toEqual([
          400,
          expect.stringMatching(/select (?:value|it as column)::text/),
        ]);
      }
      const answer = await rows(ask, `SELECT id, value${isListed ? "" : "::text AS value"} FROM ${table}`);
      // A text for JSON is JSON text.
      const isJson = ["json", "jsonb", "document"].includes(type);
      const bound = [...rawValues(answer.text)].map(
        ([id, raw]) => [id, isJson && raw.startsWith('"') ? JSON.stringify(raw) : raw] as const,
      );
      expect(bound).toHaveLength(count);
      const cast = isListed ? "" : "::text";
      const differ = await differing(table, type, bound, cast);
      let alike = count;
      for (const one of differ === undefined ? bound : []) {
        const alone = await differing(table, type, [one], cast);
        if (alone === undefined) alike--;
        else expect(alone, `seed ${SEED}`).toEqual([]);
      }
      expect(differ ?? [], `seed ${SEED}`).toEqual([]);
      equal += alike;
      refused += count - alike;
    }
  };

  it.each(LISTED.map((type, n) => [type[0], type, n] as const))("%s", { timeout }, (_, type, n) =>
    thereAndBack(type, n, true),
  );
  it.each(LISTED.map((type, n) => [type[0], arrayOf(type), 100 + n] as const).filter(([type]) => type !== "few"))(
    "arrays of %s",
    { timeout },
    (_, type, n) => thereAndBack(type, n, true),
  );
  it.each(UNLISTED.map((type, n) => [type[0], type, 200 + n] as const))("%s as text", { timeout }, (_, type, n) =>
    thereAndBack(type, n, false),
  );

  it.each([
    "int2",
    "int4",
    "int8",
    "float4",
    "float8",
    "numeric",
    "bool",
    "uuid",
    "date",
    "time",
    "timestamp",
    "timestamptz",
  ])("a text for %s is what PostgreSQL reads of it, or is refused", { timeout }, async (type) => {
    const given = LISTED.find(([name]) => name === type) as PostgresType;
    const random = randomOf(SEED + 300);
    await fill("texts", random, AT_ONCE, given);
    const texts: string[] = (
      await rows(ask, "SELECT value::text AS value FROM texts WHERE value IS NOT NULL")
    ).json.rows.map(({ value }: { value: string }) => value);
    let accepted = 0;
    for (let n = 0; n < COUNT; n++) {
      const from = random.of(...texts).slice(0, 60);
      const at = random.below(from.length + 1);
      const middle = random.of(
        "",
        "0",
        "9",
        "-",
        "+",
        " ",
        ".",
        ":",
        "e",
        "T",
        "Z",
        "BC",
        "_",
        "f",
        String(random.below(100)),
      );
      const changed = from.slice(0, at) + middle + from.slice(at + random.below(2));
      // ISO 8601 has signs and a year 0 before the Common Era, which PostgreSQL does not read.
      if (/^(?:date|timestamp)/.test(type) && /^(?:[-+]|0+-)/.test(changed)) continue;
      const bound = await queryRaw(ask, `SELECT $1::${type}::text AS value`, [JSON.stringify(changed)]);
      if (bound.status !== 200) continue;
      accepted++;
      const read = await rows(ask, `SELECT read_text($1, '${type}'::regtype) AS value`, [JSON.stringify(changed)]);
      expect([changed, bound.json.rows], `seed ${SEED}`).toEqual([changed, read.json.rows]);
    }
    expect(accepted).toBeGreaterThan(0);
  });

  it("refuses arrays that lists do not show", async () => {
    for (const array of ["'[0:1]={1,2}'::int4[]", `ARRAY[ARRAY['[1]'::jsonb]]`, `ARRAY[ARRAY['[1]'::document]]`]) {
      const answer = await queryRaw(ask, `SELECT ${array} AS value`);
      expect([answer.status, answer.json.detail]).toEqual([400, expect.stringContaining("select value::text")]);
    }
  });

  it("takes no number of a client for an object of JSON", async () => {
    const answer = await queryRaw(ask, "SELECT $1::jsonb", ['{"float":"Infinity"}']);
    expect([answer.status, answer.json.detail]).toEqual([400, expect.stringContaining("bind its JSON as a text")]);
    const zero = await rows(
      ask,
      "SELECT $1::jsonb AS a, $2::int4 AS b, $3::text AS c",
      Array(3).fill('{"float":"-0"}'),
    );
    expect(zero.json.rows).toEqual([{ a: 0, b: 0, c: "-0" }]);
  });

  it.each(["float4", "float8", "int8", "numeric", "text", "bool", "timestamptz", "date"])(
    "%s by the client of the SDK",
    { timeout },
    async (type) => {
      const random = randomOf(SEED + 400);
      const given = LISTED.find(([name]) => name === type) as PostgresType;
      let differ: unknown;
      const app = routes({
        run: get("/", async () => {
          const read = await db.query<{ id: number; value: string }>(["SELECT id, value FROM clients", []]);
          const list = read.map(({ id }, n) => `(${id}, $${n + 1}::${type})`).join();
          differ = await db.query([
            `SELECT t.value::text AS stored, v.value::text AS bound FROM (VALUES ${list}) AS v(id, value)
             JOIN clients t USING (id) WHERE t.value::text IS DISTINCT FROM v.value::text`,
            read.map(({ value }) => value),
          ]);
          return ok({});
        }),
      });
      const api = testApp(app, { env: { SIDECAR_DB_URL: sidecar.address } });
      for (const count of atOnce(COUNT)) {
        await fill("clients", random, count, given);
        expect((await api.get("/")).status).toBe(200);
        expect(differ, `seed ${SEED}`).toEqual([]);
        equal += count;
      }
    },
  );

  it("takes bigints and large numbers of the client of the SDK with all digits", async () => {
    const given: readonly (readonly [type: string, value: bigint | number, text?: string])[] = [
      ["int8", 2 ** 60, "1152921504606846976"],
      ["numeric", -(2 ** 62), "-4611686018427387904"],
      ["numeric", 1.5e19],
      ["float8", -1e20, "-1e+20"],
      ["jsonb", 1.5e19],
      ["int4", -5n],
      ["int8", 2n ** 63n - 1n],
      ["int8", -(2n ** 63n)],
      ["bool", 1n, "true"],
      ["float8", 2n ** 53n, "9.007199254740992e+15"],
      ["numeric", 2n ** 53n + 1n],
      ["numeric", 2n ** 64n + 1n],
      ["numeric", 10n ** 400n],
      ["text", 2n ** 53n + 1n],
      ["text", 10n ** 20n],
      ["jsonb", 2n ** 53n + 1n],
      ["jsonb", 10n ** 20n],
    ];
    const app = routes({
      run: get("/", async () => {
        const columns = given.map(([type], n) => `$${n + 1}::${type}::text AS c${n}`);
        const [row = {}] = await db.query([`SELECT ${columns}`, given.map(([, value]) => value)]);
        return ok(Object.values(row));
      }),
    });
    const answer = await testApp(app, { env: { SIDECAR_DB_URL: sidecar.address } }).get("/");
    expect(answer.json()).toEqual(given.map(([, value, text]) => text ?? String(value)));
  });

  it("refuses types that cannot be looked up", async () => {
    await rows(ask, "CREATE TYPE nothing AS ENUM ('NULL')");
    for (const sql of ["SELECT 'NULL'::nothing", "SELECT '{}'::int4multirange", "SELECT $1::nothing"]) {
      const answer = await queryRaw(ask, sql, sql.includes("$1") ? ['"NULL"'] : []);
      expect([answer.status, answer.json.detail]).toEqual([400, expect.stringContaining("$1::text::its_type")]);
    }
    const text = await rows(ask, "SELECT $1::text::nothing::text AS value", ['"NULL"']);
    expect(text.json.rows).toEqual([{ value: "NULL" }]);
  });
});

/** Values of SQLite by their storage class, as SQL. */
const classes: Readonly<Record<string, (random: Random) => string>> = {
  INTEGER: (random) => {
    const integer = random.between(-(2n ** 63n), 2n ** 63n - 1n);
    const edge = 2n ** 53n + BigInt(random.below(5)) - 2n;
    // SQLite's own text of the least integer is a sum.
    return random.is(0.3)
      ? `${random.of("", "-")}${edge}`
      : integer === -(2n ** 63n)
        ? `(${integer + 1n} - 1)`
        : `${integer}`;
  },
  REAL: (random) => {
    const number = double(random);
    if (Number.isNaN(number)) return "9e999";
    return Number.isFinite(number) ? numberText(number).replace(/^(-?\d+)$/, "$1.0") : number > 0 ? "9e999" : "-9e999";
  },
  TEXT: (random) => `CAST(x'${Buffer.from(`${text(random)}${random.of("", "\0", "\0x")}`).toString("hex")}' AS TEXT)`,
  BLOB: (random) => `x'${random.hex(random.below(30))}'`,
  NUMERIC: (random) => quote(decimal(random).slice(0, 40)),
  JSON: (random) => quote(json(random, true)),
};

describe("values of SQLite", () => {
  let sidecar: Sidecar;
  let ask: Ask;
  beforeAll(async () => {
    const url = `sqlite:${folder()}/values.db`;
    sidecar = await Sidecar.start({ kind: "sql", url, listen: "127.0.0.1:0", logLevel: "off" });
    ask = askAt(sidecar.address);
  });
  afterAll(() => sidecar.close());

  /** As the page says that each is bound: a text beyond 2^53 is an integer, and bytes are base64. */
  const bind = (raw: string, storage: string): string => {
    if (raw === "null") return raw;
    if (storage === "integer") return raw.replaceAll('"', "");
    if (storage === "real" && raw.startsWith('"')) return `{"float":${raw}}`;
    return storage === "blob" ? `{"base64":${raw}}` : raw;
  };

  const columns = Object.keys(classes).flatMap((name) => [[name, ""] as const, [name, name] as const]);
  it.each(columns)("%s in a column that is declared '%s'", { timeout: timeout * 2 }, async (name, declared) => {
    const random = randomOf(SEED + name.length + declared.length);
    const make = classes[name] as (random: Random) => string;
    // There are fewer classes than types of PostgreSQL.
    for (const count of atOnce(COUNT * 2)) {
      await rows(ask, "DROP TABLE IF EXISTS stored");
      await rows(ask, `CREATE TABLE stored (id INTEGER PRIMARY KEY, value ${declared})`);
      const values = random.list(count, () => (random.is(0.05) ? "NULL" : make(random)));
      await rows(ask, `INSERT INTO stored VALUES ${values.map((value, id) => `(${id}, ${value})`).join()}`);
      const answer = await rows(ask, "SELECT id, value FROM stored");
      const kinds = (await rows(ask, "SELECT typeof(value) AS kind FROM stored ORDER BY id")).json.rows;
      const read = [...rawValues(answer.text)];
      expect(read).toHaveLength(count);
      await rows(ask, "DROP TABLE IF EXISTS bound");
      await rows(ask, `CREATE TABLE bound (id INTEGER PRIMARY KEY, value ${declared})`);
      const list = read.map(([id], n) => `(${id}, $${n + 1})`).join();
      await rows(
        ask,
        `INSERT INTO bound VALUES ${list}`,
        read.map(([id, raw]) => bind(raw, kinds[id].kind)),
      );
      const differ = await rows(
        ask,
        `SELECT id, quote(s.value) AS stored, quote(b.value) AS bound FROM stored s JOIN bound b USING (id)
         WHERE s.value IS NOT b.value OR typeof(s.value) <> typeof(b.value) OR length(CAST(s.value AS BLOB)) IS NOT length(CAST(b.value AS BLOB))`,
      );
      expect(differ.json.rows, `seed ${SEED}`).toEqual([]);
      equal += count;
    }
  });

  it("keeps the sign of 0 until SQLite stores it", async () => {
    for (const zero of ["-0", "-0.0", '{"float":"-0"}']) {
      expect((await rows(ask, "SELECT $1 AS value", [zero])).text).toContain('"value":-0.0');
    }
  });

  it("refuses texts that are not UTF-8, and numbers that SQLite would change", async () => {
    for (const bytes of ["eda080", "edbfbf", "ff", "f4908080", "c080"]) {
      const sql = `SELECT CAST(x'61${bytes}' AS TEXT) AS value`;
      const answer = await queryRaw(ask, sql);
      expect([answer.status, answer.json.detail]).toEqual([400, expect.stringContaining("CAST(value AS BLOB)")]);
    }
    for (const [param, detail] of [
      ["9223372036854775808", /beyond 64 bits/],
      ["1e-400", /too small/],
      ["1e400", REFUSED],
      ['"\\ud800"', REFUSED],
      ['{"float":"NaN"}', /is not a number that SQLite has/],
    ] as const) {
      const answer = await queryRaw(ask, "SELECT $1 AS value", [param]);
      expect([param, answer.status, answer.json.detail]).toEqual([param, 400, expect.stringMatching(detail)]);
    }
  });
});
