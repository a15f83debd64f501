/** Checks each word with the databases' own parsers, unquoted, in every place where this module writes a name. */
import { loadModule, parseSync, scanSync } from "libpg-query";
import { beforeAll, expect, it } from "vitest";
import { loadSqlite } from "../../test/sql/sqlite.ts";
import { POSTGRES_RESERVED, SQLITE_RESERVED } from "./reserved.ts";

/** Statements like those that the printer writes, with a name in each place; `t` has the columns `b` and the name. */
const statements = (name: string, table: string, mark: string): string[] => [
  `SELECT b FROM ${table}`,
  `SELECT ${table}.b FROM ${table}`,
  `INSERT INTO ${table} (b) VALUES (${mark}1)`,
  `INSERT INTO ${table} DEFAULT VALUES RETURNING b`,
  `UPDATE ${table} SET b = ${mark}1 WHERE b = ${mark}2`,
  `DELETE FROM ${table} WHERE b IS NULL`,
  `INSERT INTO t (${name}, b) VALUES (${mark}1, ${mark}2) RETURNING ${name}, b`,
  `INSERT INTO t (b, ${name}) VALUES (${mark}1, ${mark}2) RETURNING b, ${name}`,
  `UPDATE t SET ${name} = ${mark}1, b = ${mark}2 WHERE ${name} != ${mark}3 AND ${name} IS NOT NULL`,
  `UPDATE t SET b = ${mark}1, ${name} = ${mark}2`,
  `SELECT ${name} FROM t WHERE ${name} = ${mark}1 AND (${name} IN (${mark}2) OR ${name} IS NULL) AND NOT (${name} BETWEEN ${mark}1 AND ${mark}2)`,
  `SELECT b, ${name} FROM t WHERE ${name} LIKE ${mark}1 AND (${name}, b) > (${mark}1, ${mark}2) ORDER BY ${name} DESC, ${name} ASC LIMIT 2`,
  `SELECT t.${name} FROM t WHERE (b, ${name}) < (${mark}1, ${mark}2) AND ((${name} NOT IN (${mark}1)) OR (${name} <= ${mark}1)) ORDER BY b ASC, ${name} ASC`,
];

/** Both dialects' words, other keywords, and names that people use. */
const words = [...POSTGRES_RESERVED, ...SQLITE_RESERVED].concat(
  "abort action after at begin bigint bit boolean by cascade char character coalesce column comment conflict data database date day",
  "desc each end exclude exists extract filter first float following full glob groups hour id if ignore indexed int integer",
  "interval json key language last left level like location match materialized merge minute month name names national natural",
  "none no nullif nulls numeric of offset others outer over partition password plan position pragma preceding precision query",
  "range real recursive regexp reindex release rename replace restrict right role row rows rowid savepoint second smallint",
  "status system temp temporary text ties time timestamp title treat trigger trim type unbounded vacuum value values varchar",
  "version view virtual window within without work xmlparse year zone true false",
);
const all = [...new Set(words.flatMap((line) => line.split(" ")))];

beforeAll(loadModule);

it("PostgreSQL: a word is on the list if, and only if, it cannot stand bare", () => {
  const tree = (sql: string) =>
    JSON.stringify(parseSync(sql).stmts).replace(/"[a-z_]*(?:location|len|start|end)":-?\d+,?/g, "");
  const means = (sql: string, quoted: string) => {
    try {
      return tree(sql).replaceAll(",}", "}") === tree(quoted).replaceAll(",}", "}");
    } catch {
      return false;
    }
  };
  for (const word of all) {
    const quoted = statements(`"${word}"`, `"${word}"`, "$");
    const bare = statements(word, word, "$").every((sql, i) => means(sql, quoted[i] as string));
    expect({ word, bare }).toEqual({ word, bare: !POSTGRES_RESERVED.has(word) });
  }
});

it("PostgreSQL: the list has every keyword that its scanner calls reserved", () => {
  for (const word of all) {
    const kind = scanSync(word).tokens[0]?.keywordName ?? "";
    expect({ word, reserved: /^(?:RESERVED|TYPE_FUNC_NAME)_KEYWORD$/.test(kind) }).toEqual({
      word,
      reserved: POSTGRES_RESERVED.has(word),
    });
  }
});

it("SQLite: a word is on the list if, and only if, it cannot stand bare", async () => {
  const { Database } = await loadSqlite();
  for (const word of all) {
    const database = new Database();
    database.run(`CREATE TABLE t ("${word}", b)`);
    database.run("INSERT INTO t VALUES ('cell', 1)");
    if (word !== "t") database.run(`CREATE TABLE "${word}" (b)`);
    const bare = statements(word, word, "?").every((sql) => {
      try {
        database.prepare(sql).free();
        return true;
      } catch {
        return false;
      }
    });
    const readsCell = bare && database.exec(`SELECT ${word} FROM t`)[0]?.values[0]?.[0] === "cell";
    database.close();
    expect({ word, bare: readsCell }).toEqual({ word, bare: !SQLITE_RESERVED.has(word) });
  }
});
