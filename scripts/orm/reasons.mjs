// The tests that fail, by their file and name, each with its reason. The first pattern that fits counts.

const NESTED = "transactions are not nested, and there are no savepoints";
const INTEGERS =
  "the test expects `count` and `sum` as texts, as `pg` returns them; 64-bit integers are numbers up to 2^53 on the wire";
const LIMITED = "our SQLite has no `LIMIT` in `UPDATE` and `DELETE` (`SQLITE_ENABLE_UPDATE_DELETE_LIMIT`)";
const LOCK = "`Migrator` in parallel: a lock of the session does not outlive its statement";
const BYTES = "bytes are base64 on the wire, and Kysely knows no types";

export const reasons = {
  kysely: [
    [
      /postgres: (?:select should select the count of jennifers|having should|json helpers should dehydrate numeric)/,
      INTEGERS,
    ],
    [/cursor implementation is not provided/, "tests the driver `pg` itself"],
    [/order and limit the amount of (?:deleted|updated) rows/, LIMITED],
    [
      /sqlite: insert into .* ignore conflicts/,
      "the test expects the `rowid` of an earlier INSERT; it is `undefined` when no row is new",
    ],
    [/postgres: json helpers should dehydrate Date/, "timestamps are ISO 8601 on the wire, and Kysely knows no types"],
    [/json helpers should dehydrate Buffer/, BYTES],
    [/postgres: (?:merge .* returning|order by order by collate)/, "needs PostgreSQL 17; the server is PostgreSQL 15"],
    [/cancel query|kill session/, "queries are not cancelled on the server"],
    [/should work correctly when run in parallel|issue #1894|custom migration tables in custom schema$/, LOCK],
    [/using folder of migration files/, "the harness bundles the tests, and so has no folder of TypeScript"],
    [/(?:postgres|sqlite): controlled transaction .*savepoint/, NESTED],
    [/retain the full stack trace/, "the test expects an exception of `pg` or `better-sqlite3`"],
    [/failed to begin/, "spies on Kysely's own drivers"],
    [/access mode as "read only"/, "there are no read-only transactions"],
  ],
  drizzle: [
    [/nested transaction/, NESTED],
    [/(?:update|delete) with limit and order by/, LIMITED],
    [/pg-common: .*select count\(\)$/, INTEGERS],
    [
      /sqlite-common: .*join view as subquery/,
      "the test does not wait for its INSERT, as drivers in the process need not",
    ],
  ],
};

/** The reason for which a test fails; undefined when it has to pass. */
export const reasonFor = (suite, { file, name }) =>
  reasons[suite].find(([tests]) => tests.test(`${file}: ${name}`))?.[1];
