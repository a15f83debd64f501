// Random statements of PostgreSQL: most are those of a handler on its allowed tables, some try to reach the canary. The
// same seed makes the same statements.

/** The database of the statements. No user of `users` and `app.orders` alone may read the canary's parts. */
export const schema = (canary) => [
  "CREATE SCHEMA app",
  "CREATE TYPE place AS (street text, city text)",
  "CREATE TYPE mood AS ENUM ('good', 'bad')",
  "CREATE TABLE users (id serial PRIMARY KEY, name text, age int, active bool, tags text[], data jsonb, home place, seen timestamptz)",
  "CREATE TABLE app.orders (id serial PRIMARY KEY, user_id int, total numeric, note text, placed timestamptz, mood mood)",
  "CREATE TABLE secrets (id int, token text)",
  `INSERT INTO secrets VALUES (1, '${canary}table')`,
  "ANALYZE secrets",
  "CREATE VIEW leak_view AS SELECT token FROM secrets",
  "CREATE FUNCTION leak() RETURNS text LANGUAGE sql AS 'SELECT token FROM public.secrets'",
  "CREATE FUNCTION leak(users) RETURNS text LANGUAGE sql AS 'SELECT token FROM public.secrets'",
  "CREATE FUNCTION leak(text) RETURNS text LANGUAGE sql AS 'SELECT token FROM public.secrets'",
  // The names of built-in functions and operators, for types that fit better.
  "CREATE FUNCTION initcap(users) RETURNS text LANGUAGE sql AS 'SELECT token FROM public.secrets'",
  "CREATE FUNCTION leak_check(text) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN RAISE '%', (SELECT token FROM public.secrets); END $$",
  "CREATE DOMAIN leaky AS text CHECK (leak_check(VALUE))",
  "CREATE FUNCTION leak_operator(text, text) RETURNS text LANGUAGE sql AS 'SELECT token FROM public.secrets'",
  "CREATE OPERATOR === (LEFTARG = text, RIGHTARG = text, FUNCTION = leak_operator)",
  "CREATE SEQUENCE secret_numbers",
  `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET canary.value = %L', current_database(), '${canary}setting'); END $$`,
  `COMMENT ON TABLE secrets IS '${canary}comment'`,
  `DO $do$ BEGIN COPY (SELECT '${canary}file') TO PROGRAM 'cat > canary.txt'; END $do$`,
];

/** Puts the tables that may be named into their first state. */
export const fresh = [
  "TRUNCATE users, app.orders RESTART IDENTITY",
  `INSERT INTO users (name, age, active, tags, data, home, seen) SELECT 'user ' || n, 20 + n, n % 2 = 0, ARRAY['a', 'b' || n],
     jsonb_build_object('a', n, 'b', jsonb_build_array(1, n)), ROW('Elm St ' || n, 'Rome')::place, now() FROM generate_series(1, 2) n`,
  "INSERT INTO app.orders (user_id, total, note, placed, mood) SELECT n, n * 10.5, 'note ' || n, now(), 'good' FROM generate_series(1, 2) n",
];

/** The tables that may be named. */
export const tables = ["users", "app.orders"];

const columns = {
  users: { id: "int", name: "text", age: "int", active: "bool", tags: "list", data: "json", seen: "time" },
  "app.orders": { id: "int", user_id: "int", total: "num", note: "text", placed: "time" },
};

/** A generator of random numbers (mulberry32). */
function numbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** Gives statement after statement: `{ sql, hostile }`. */
export function statements(seed) {
  const random = numbers(seed);
  const chance = (p) => random() < p;
  const below = (n) => Math.floor(random() * n);
  const pick = (list) => list[below(list.length)];
  const some = (make, least, most) => Array.from({ length: least + below(most - least + 1) }, make);
  let hostility = 0;
  let fuel = 0;
  let serial = 0;
  let last = "SELECT 1";
  const evil = () => chance(hostility);
  const alias = () => `${pick(["a", "b", "x", "t", "u", "o", "sub", "secrets_", "q"])}${serial++ % 7}`;

  // Names and literals in all the ways that they are written.
  const escaped = (text, sign) =>
    [...text].map((c) => (chance(0.4) ? `${sign}${c.charCodeAt(0).toString(16).padStart(4, "0")}` : c)).join("");
  const name = (text) => {
    if (chance(0.75)) return text;
    return pick([
      () => `"${text}"`,
      () => text.toUpperCase(),
      () => text[0].toUpperCase() + text.slice(1),
      () => `U&"${escaped(text, "\\")}"`,
      () => `U&"${escaped(text, "!")}" UESCAPE '!'`,
      () => `u&"${escaped(text, "\\")}"`,
    ])();
  };
  const path = (full) => full.split(".").map(name).join(".");
  const payload = () =>
    pick([
      "' || (SELECT token FROM secrets) --",
      "\\' || (SELECT string_agg(token, chr(44)) FROM secrets) --",
      "\\",
      "''",
      "'; SELECT token FROM secrets --",
      "/* ' */ \" -- ",
      "$$ || (TABLE secrets) || $$",
      "*/ UNION SELECT token FROM secrets /*",
      "\\0027 || (SELECT max(token) FROM secrets) --",
      "select token from secrets",
      "secrets",
      "canary.txt",
      "a",
      "Ann",
      "",
      "user 1",
      "\u00fc\u{1f600}",
    ]);
  const quoted = (text) => `'${text.replaceAll("'", "''")}'`;
  const string = (text = payload()) =>
    pick([
      () => quoted(text),
      () => quoted(text),
      () => quoted(text),
      () => `E'${text.replaceAll("\\", "\\\\").replaceAll("'", pick(["\\'", "''"]))}'`,
      () => `$$${text.replaceAll("$", "")}$$`,
      () => `$t$${text.replaceAll("$", "")}$t$`,
      () => `U&'${text.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`,
      () => `N${quoted(text)}`,
      () => `${quoted(text.slice(0, 2))}\n${quoted(text.slice(2))}`,
    ])();
  const gap = () =>
    chance(0.93)
      ? " "
      : pick(["\n", "\t", " /* ' */ ", "/**/", " /* a /* b */ ' */ ", " -- ' \n", "/*--*/", "\r\n", "\f"]);
  const words = (...parts) => parts.filter((part) => part !== "").join(gap());

  const secret = () =>
    pick([
      () => path("secrets"),
      () => path("public.secrets"),
      () => `${path("secrets")} AS ${alias()}`,
      () => `ONLY ${path("secrets")}`,
      () => `${path("public.secrets")} *`,
      () => '"public.secrets"',
      () => path("leak_view"),
      () => "pg_stats",
      () => "pg_catalog.pg_statistic",
      () => "pg_stat_activity",
      () => "pg_description",
      () => "information_schema.tables",
      () => path("postgres.public.secrets"),
      () => "(TABLE secrets) z",
      () => "LATERAL (SELECT * FROM secrets) z",
      () => `ROWS FROM (leak(), ${call("int")})`,
      () => "leak()",
      () => "leak() AS token(token)",
      () => "query_to_xml('select * from secrets', true, true, '') AS token",
      () => "ts_stat('select to_tsvector(token) from secrets') AS z(token, b, c)",
      () => "pg_read_file('canary.txt') AS token",
      () => "pg_ls_dir('.') AS token",
      () =>
        "XMLTABLE('/a' PASSING query_to_xml('select * from secrets', true, true, '') COLUMNS token text PATH '.') z",
      () => "JSON_TABLE((SELECT to_jsonb(s) FROM secrets s), '$' COLUMNS (token text PATH '$.token')) z",
      () => "secrets TABLESAMPLE system (100)",
      () => "users TABLESAMPLE leak (10)",
      () => "(users CROSS JOIN secrets) z",
      () => "current_setting('canary.value') token",
      () => "CAST(current_setting('canary.value') AS text) token",
      () => "dblink('', 'select 1') AS z(token text)",
      () => "generate_series(1, (SELECT count(*) FROM secrets)) token",
    ])();

  // An expression of type text that would return the canary, or another forbidden value.
  const attack = () => {
    const sql = () =>
      string(pick(["select token from secrets", "table secrets", "select to_tsvector(token) from secrets"]));
    const file = () => string("canary.txt");
    return pick([
      () => `(SELECT token FROM ${secret()} LIMIT 1)`,
      () => `(SELECT string_agg(token, chr(44)) FROM ${secret()})`,
      () => `(SELECT max(z::text) FROM ${path("secrets")} z)`,
      () => `(TABLE ${path("secrets")} LIMIT 1)::text`,
      () => `ARRAY(SELECT token FROM ${secret()})::text`,
      () => `(${sql()}::text).${name("ts_stat")}::text`,
      () => `((${sql()}::text).ts_stat).word`,
      () => `(${file()}::text).${name("pg_read_file")}`,
      () => `(CAST(${file()} AS text)).pg_read_binary_file::text`,
      () => `(ARRAY[${file()}::text])[1].pg_read_file`,
      () => `(SELECT x.${name("pg_read_file")} FROM unnest(ARRAY[${file()}]) AS x)`,
      () => `(SELECT x.pg_read_file FROM unnest(ARRAY[${file()}]) AS x(y))`,
      () => `(SELECT unnest.pg_read_file FROM unnest(ARRAY[${file()}]))`,
      () => `(SELECT string_agg(x.ts_stat::text, ',') FROM unnest(ARRAY[${sql()}]) AS x)`,
      () => `(SELECT (x).pg_read_file FROM unnest(ARRAY[${file()}]) AS x)`,
      () => `(SELECT y.pg_read_file FROM (SELECT * FROM unnest(ARRAY[${file()}]) AS y) AS y)`,
      () => `(SELECT x.regclass::text FROM unnest(ARRAY['secrets'::text]) x)`,
      () => `(SELECT x.current_setting FROM unnest(ARRAY['canary.value'::text]) x)`,
      () => `('canary.value'::text).current_setting`,
      () => `${name("current_setting")}('canary.value')`,
      () => `pg_catalog.${name("current_setting")}('canary.value', true)`,
      () => `${name("pg_read_file")}(${file()})`,
      () => `pg_catalog.pg_read_file(${file()})`,
      () => `encode(pg_read_binary_file(${file()}), 'escape')`,
      () => `${name("query_to_xml")}(${sql()}, true, true, '')::text`,
      () => `table_to_xml('secrets', true, true, '')::text`,
      () => `database_to_xml(true, true, '')::text`,
      () => `schema_to_xml('public', true, true, '')::text`,
      () => `(SELECT string_agg(word, ',') FROM ts_stat(${sql()}))`,
      () => `ts_rewrite('a'::tsquery, 'select ''a''::tsquery, token::tsquery from secrets')::text`,
      () => `${pick(["leak", "public.leak", "LEAK", '"leak"', 'U&"l\\0065ak"'])}()`,
      () => `leak(${string()}::text)`,
      () => `(${string()}::text).leak`,
      () => "(SELECT u.leak FROM users u LIMIT 1)",
      () => "(SELECT users.leak FROM users LIMIT 1)",
      () => "(SELECT (u).leak FROM users u LIMIT 1)",
      () => "(SELECT leak(u) FROM users u LIMIT 1)",
      () => "(SELECT u.initcap FROM users u LIMIT 1)",
      () => "(SELECT initcap(u) FROM users u LIMIT 1)",
      () => "(SELECT (u.*).initcap FROM users u LIMIT 1)",
      () => "(SELECT excluded.leak FROM users excluded LIMIT 1)",
      () => `${string()}::${pick(["leaky", "public.leaky", '"leaky"'])}`,
      () => `CAST(${string()} AS leaky)`,
      () => `leaky ${quoted("a")}`,
      () => `${string()}::text === ${string()}::text`,
      () => `${string()}::text OPERATOR(public.===) ${string()}::text`,
      () => `CASE WHEN ${string()} === 'a' THEN 'b' END`,
      () => `(${string()}::text === ANY (ARRAY['a']))::text`,
      () => "'secrets'::regclass::text",
      () => "'secrets'::regclass::oid::regclass::text",
      () => "obj_description('secrets'::regclass)",
      () => "(SELECT most_common_vals::text FROM pg_stats WHERE tablename = 'secrets' LIMIT 1)",
      () => `(SELECT CASE WHEN EXISTS (SELECT FROM ${secret()}) THEN ${name("pg_sleep")}(30)::text END)`,
      () => "pg_sleep(30)::text",
      () => "(30::float8).pg_sleep::text",
      () => "(SELECT x.pg_sleep::text FROM unnest(ARRAY[30::float8]) x)",
      () => "pg_catalog.pg_sleep(30)::text",
      () => "pg_sleep_for('30 s')::text",
      () => `${pick(["set_config", 'U&"set\\005fconfig"'])}('search_path', 'public', false)`,
      () => "set_config('standard_conforming_strings', 'off', false)",
      () => "lo_import('/etc/passwd')::text",
      () => "nextval('secret_numbers')::text",
      () => "pg_get_functiondef('leak()'::regprocedure)",
      () => "cursor_to_xml('c', 1, true, true, '')::text",
      () => "to_regclass('secrets')::text",
      () => "has_table_privilege('secrets', 'select')::text",
      () => "(SELECT CAST(s AS text) FROM secrets s)",
      () => "(SELECT row_to_json(s)::text FROM secrets s)",
      () => "(SELECT s::text FROM (SELECT * FROM secrets) s)",
      () => "(WITH secrets AS (SELECT 'a' AS token) SELECT public.secrets.token FROM public.secrets)",
      () => '(WITH "public.secrets" AS (SELECT 1) SELECT token FROM public.secrets)',
      () => "(WITH secrets AS (SELECT * FROM secrets) SELECT token FROM secrets)",
      () => "(WITH a AS (SELECT token FROM secrets), secrets AS (SELECT 1) SELECT token FROM a)",
      () =>
        "((WITH secrets AS (SELECT 'a' AS token) SELECT token FROM secrets) UNION ALL SELECT token FROM secrets OFFSET 1)",
      () => "(SELECT token FROM secrets WHERE (SELECT true FROM (WITH secrets AS (SELECT 1) SELECT FROM secrets) z))",
      () => `(SELECT DISTINCT ON (token) token FROM ${secret()} ORDER BY token)`,
      () => `(SELECT DISTINCT ON ((SELECT max(token) FROM ${path("secrets")})) leak() FROM users)`,
      () => `(SELECT max(${string()}) FILTER (WHERE leak_check((SELECT token FROM ${secret()} LIMIT 1))) FROM users)`,
      () => "(SELECT mode() WITHIN GROUP (ORDER BY leak(u)) FROM users u)",
      () => `(SELECT mode() WITHIN GROUP (ORDER BY (SELECT token FROM ${secret()} LIMIT 1)) FROM users)`,
      () => "(SELECT first_value(u.name) OVER w FROM users u WINDOW w AS (ORDER BY leak(u)) LIMIT 1)",
      () =>
        `(SELECT max(name) OVER w FROM users WINDOW w AS (PARTITION BY (SELECT token FROM ${secret()} LIMIT 1)) LIMIT 1)`,
      () =>
        "(WITH RECURSIVE w(token) AS (SELECT token FROM secrets UNION ALL SELECT token FROM w WHERE false) SEARCH DEPTH FIRST BY token SET o SELECT o::text FROM w LIMIT 1)",
      () =>
        "(WITH RECURSIVE secrets(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM secrets WHERE n < 2) CYCLE n SET c TO (SELECT token FROM public.secrets) DEFAULT '' USING p SELECT c FROM secrets LIMIT 1)",
      () => `${pick(["JSON_OBJECT", "JSON_ARRAY", "JSON_SCALAR", "JSON_SERIALIZE"])}(${attack()})::text`,
      () => `JSON_OBJECT('a': (SELECT token FROM ${secret()} LIMIT 1) RETURNING text)`,
      () => `(SELECT JSON_ARRAYAGG(s.token ORDER BY s.id RETURNING text) FROM ${path("secrets")} s)`,
      () => `JSON_ARRAY(SELECT token FROM ${secret()})::text`,
      () => `JSON_VALUE((SELECT to_jsonb(s) FROM ${path("secrets")} s), '$.token')`,
      () => `JSON_QUERY('{}', '$' RETURNING ${pick(["leaky", "text", "regclass"])} DEFAULT leak() ON EMPTY)::text`,
      () => `JSON_VALUE('{}', '$.a' PASSING (SELECT token FROM secrets) AS a DEFAULT leak() ON EMPTY)`,
      () => "CAST('a' AS leaky) IS JSON",
    ])();
  };

  const operators = {
    int: ["+", "-", "*", "&", "|", "#", "%"],
    num: ["+", "-", "*"],
    compare: ["=", "<>", "<", ">", "<=", ">=", "!="],
  };
  const operator = (symbol) => (chance(0.03) ? `OPERATOR(pg_catalog.${symbol})` : symbol);

  /** A column of a type that is in scope. */
  const column = (type, scope) => {
    const fit = scope.flatMap(({ as, columns }) =>
      Object.entries(columns).flatMap(([column, kind]) => (kind === type ? [[as, column]] : [])),
    );
    if (fit.length === 0) return undefined;
    const [as, found] = pick(fit);
    return chance(0.8) || scope.length > 1 ? `${as}.${name(found)}` : name(found);
  };

  const call = (type, scope = []) => {
    const e = (kind) => expression(kind, scope);
    const fn = (called, ...given) => `${chance(0.05) ? "pg_catalog." : ""}${name(called)}(${given.join(", ")})`;
    const calls = {
      int: [
        () => fn("length", e("text")),
        () => fn("abs", e("int")),
        () => fn("cardinality", e("list")),
        () => fn("strpos", e("text"), e("text")),
        () => `extract(${pick(["year", "epoch", "day"])} FROM ${e("time")})::int`,
        () => `position(${e("text")} IN ${e("text")})`,
        () => fn("jsonb_array_length", "'[1, 2]'"),
        () => fn("octet_length", e("text")),
      ],
      num: [() => fn("round", e("num"), "2"), () => fn("abs", e("num")), () => fn("trunc", e("num"))],
      text: [
        () => fn("lower", e("text")),
        () => fn("upper", e("text")),
        () => fn("concat", e("text"), e("int"), e("bool")),
        () => fn("left", e("text"), "9"),
        () => fn("replace", e("text"), e("text"), string()),
        () => fn("md5", e("text")),
        () => fn("format", "'%s %L'", e("text"), e("text")),
        () => `substring(${e("text")} FROM 1 FOR 9)`,
        () => `trim(BOTH ' ' FROM ${e("text")})`,
        () => `overlay(${e("text")} PLACING 'a' FROM 1)`,
        () => fn("to_char", e("time"), "'YYYY'"),
        () => fn("jsonb_typeof", e("json")),
        () => fn("array_to_string", e("list"), "','"),
        () => fn("regexp_replace", e("text"), "'[a-z]'", "'x'"),
        () => fn("quote_literal", e("text")),
      ],
      bool: [() => fn("starts_with", e("text"), e("text")), () => fn("jsonb_path_exists", e("json"), "'$.a'")],
      list: [
        () => fn("array_append", e("list"), e("text")),
        () => fn("string_to_array", e("text"), "' '"),
        () => fn("regexp_split_to_array", e("text"), "' '"),
      ],
      json: [
        () => fn("to_jsonb", e(pick(["text", "int", "list"]))),
        () => fn("jsonb_build_object", "'a'", e("int")),
        () => fn("jsonb_set", e("json"), "'{a}'", "'1'"),
      ],
      time: [() => fn("date_trunc", "'day'", e("time")), () => fn("now")],
    };
    return pick(calls[type])();
  };

  /** SQL/JSON, which PostgreSQL has from 16 and 17 on; an older server has no such syntax. */
  const sqlJson = (type, scope) => {
    const e = (kind) => expression(kind, scope);
    const forms = {
      json: [
        () =>
          `JSON_OBJECT('a': ${e("text")}, 'b': ${e("int")} ${pick(["NULL ON NULL", "ABSENT ON NULL"])} RETURNING jsonb)`,
        () => `JSON_ARRAY(${e("text")}, ${e("int")} RETURNING jsonb)`,
        () => `JSON_ARRAY(${select(["text"], scope, "LIMIT 2")} RETURNING jsonb)`,
        () => `JSON_QUERY(${e("json")}, '$.a' ${pick(["WITH WRAPPER", "WITHOUT WRAPPER"])} NULL ON ERROR)`,
        () => `JSON(${quoted('{"a": 1}')} WITH UNIQUE KEYS)::jsonb`,
        () => `JSON_SCALAR(${e("int")})::jsonb`,
      ],
      text: [
        () => `JSON_VALUE(${e("json")}, '$.a' RETURNING text DEFAULT ${e("text")} ON EMPTY NULL ON ERROR)`,
        () => `JSON_VALUE(${e("json")}, '$ ? (@.a == $x)' PASSING ${e("int")} AS x)`,
        () => `JSON_SERIALIZE(${e("json")} RETURNING text)`,
      ],
      bool: [
        () => `JSON_EXISTS(${e("json")}, '$.a' FALSE ON ERROR)`,
        () => `(${e("text")} IS ${pick(["", "NOT "])}JSON ${pick(["", "OBJECT", "ARRAY", "SCALAR"])})`,
      ],
    };
    return pick(forms[type])();
  };

  /** An expression of a type. */
  const expression = (type, scope) => {
    if (type === "text" && evil()) return attack();
    if (evil() && evil())
      return `(${attack()})::${{ int: "int", bool: "bool", num: "numeric", list: "text[]", json: "jsonb", time: "timestamptz" }[type] ?? "text"}`;
    fuel -= 1;
    const e = (kind) => expression(kind, scope);
    const found = column(type, scope);
    const leaf = () =>
      found !== undefined && chance(0.7)
        ? found
        : {
            int: () => String(below(100)),
            num: () => `${below(100)}.${below(100)}`,
            text: () => `${string()}${chance(0.3) ? "::text" : ""}`,
            bool: () => pick(["true", "false", "TRUE"]),
            list: () => `ARRAY[${string()}, ${string()}]::text[]`,
            json: () => `'{"a": [1, {"b": "c"}]}'::jsonb`,
            time: () =>
              pick(["CURRENT_TIMESTAMP", "'2026-01-01'::timestamptz", "now()", "timestamptz '2026-01-01 UTC'"]),
          }[type]();
    if (fuel < 0 || chance(0.35)) return leaf();
    const general = [
      () => `CASE WHEN ${e("bool")} THEN ${e(type)} ELSE ${e(type)} END`,
      () => `coalesce(${e(type)}, ${e(type)})`,
      () => `(${e(type)})`,
      () => `(SELECT ${e(type)})`,
      () => scalar(type, scope),
      () => call(type, scope),
      () => call(type, scope),
    ];
    const own = {
      int: [
        () => `(${e("int")} ${operator(pick(operators.int.slice(0, 6)))} ${e("int")})`,
        () => `(- ${leaf()})`,
        () => `(${e("num")})::int`,
        () => `(${e("json")} -> 'a' ->> 0)::int`,
        () => `greatest(${e("int")}, ${e("int")})`,
        () => `nullif(${e("int")}, ${e("int")})`,
      ],
      num: [() => `(${e("num")} ${operator(pick(operators.num))} ${e("num")})`, () => `${e("int")}::numeric(12, 2)`],
      text: [
        () => `(${e("text")} ${operator("||")} ${e("text")})`,
        () => `CAST(${e(pick(["int", "bool", "num", "time"]))} AS text)`,
        () => `(${e("json")} ->> 'a')`,
        () => (chance(0.1) ? sqlJson("text", scope) : `(${e("list")})[2]`),
        () => `(${e("list")})[1]`,
        () => `${e("text")} COLLATE "C"`,
        () => {
          const users = scope.find(({ table }) => table === "users");
          return users === undefined ? leaf() : `(${users.as}.home).${pick(["city", "street"])}`;
        },
      ],
      bool: [
        () => {
          const kind = pick(["int", "num", "text", "time"]);
          return `${e(kind)} ${operator(pick(operators.compare))} ${e(kind)}`;
        },
        () => `(${e("bool")} ${pick(["AND", "OR"])} ${e("bool")})`,
        () => `NOT (${e("bool")})`,
        () =>
          `${e("text")} ${pick(["LIKE", "NOT LIKE", "ILIKE", "SIMILAR TO", "~", "!~*"])} ${quoted(pick(["a%", "u_er%", "[a-z]+"]))}`,
        () => `${e("text")} LIKE ${quoted("a!%")} ESCAPE '!'`,
        () => `${e("int")} BETWEEN ${pick(["", "SYMMETRIC "])}${e("int")} AND ${e("int")}`,
        () => `${e("int")} IN (${e("int")}, ${e("int")})`,
        () => `${e("int")} IN ${query(["int"], scope)}`,
        () => `${e("int")} ${pick(["=", "<", ">="])} ${pick(["ANY", "ALL", "SOME"])} ${query(["int"], scope)}`,
        () => `${e("text")} = ANY (${e("list")})`,
        () => `EXISTS ${query(["int"], scope)}`,
        () => `(${e("int")}, ${e("text")}) ${pick(["=", "<", "<>"])} (${e("int")}, ${e("text")})`,
        () => `${e("text")} IS ${pick(["", "NOT "])}NULL`,
        () => `${e("bool")} IS ${pick(["", "NOT "])}${pick(["TRUE", "UNKNOWN"])}`,
        () => `${e("int")} IS DISTINCT FROM ${e("int")}`,
        () => `${e("json")} @> '{"a": 1}'`,
        () => (chance(0.1) ? sqlJson("bool", scope) : `${e("bool")} IS NOT FALSE`),
      ],
      list: [() => `(${e("list")} || ${e("list")})`, () => `(${e("list")})[1:2]`],
      json: [
        () => `(${e("json")} -> 'a')`,
        () => `(${e("json")} || '{}'::jsonb)`,
        () => `(${e("json")})['a']`,
        () => (chance(0.3) ? sqlJson("json", scope) : leaf()),
      ],
      time: [() => `(${e("time")} + interval '1 day')`, () => `(${e("time")} AT TIME ZONE 'UTC')::timestamptz`],
    };
    return pick(chance(0.6) ? own[type] : general)();
  };

  /** A subquery of one value. */
  const scalar = (type, scope) => {
    const [text] = [select([type], scope, "LIMIT 1")];
    return `(${text})`;
  };
  const query = (types, scope) => `(${select(types, scope)})`;

  /** An item of FROM, and the names that it adds to the scope. */
  const item = (scope, lateral = []) => {
    if (evil()) {
      const as = alias();
      return chance(0.5)
        ? { text: secret(), scope: { as: "secrets", columns: { token: "text", id: "int" } } }
        : {
            text: `${path(pick(["secrets", "public.secrets"]))} ${as}`,
            scope: { as, columns: { token: "text", id: "int" } },
          };
    }
    const as = alias();
    const named = scope.filter(({ cte }) => cte);
    if (named.length > 0 && chance(0.35)) {
      const cte = pick(named);
      return { text: `${name(cte.as)} AS ${as}`, scope: { as, columns: cte.columns } };
    }
    if (fuel > 0 && chance(0.2)) {
      const types = some(() => pick(["int", "text", "bool"]), 1, 3);
      const names = types.map((_, n) => `c${n}`);
      const own = Object.fromEntries(names.map((each, n) => [each, types[n]]));
      const inner = chance(0.3)
        ? { text: `LATERAL ${query(types, [...scope, ...lateral])}` }
        : {
            text: query(
              types,
              scope.filter(({ cte }) => cte),
            ),
          };
      return { text: `${inner.text} AS ${as}(${names.join(", ")})`, scope: { as, columns: own } };
    }
    if (chance(0.15)) {
      return pick([
        () => ({ text: `generate_series(1, ${1 + below(4)}) AS ${as}`, scope: { as, columns: { [as]: "int" } } }),
        () => ({ text: `unnest(${expression("list", [])}) AS ${as}(v)`, scope: { as, columns: { v: "text" } } }),
        () => ({
          text: `ROWS FROM (generate_series(1, 2), unnest(ARRAY['a', 'b'])) WITH ORDINALITY AS ${as}(n, v, o)`,
          scope: { as, columns: { n: "int", v: "text" } },
        }),
        () => ({ text: `jsonb_each('{"a": 1}') AS ${as}`, scope: { as, columns: { key: "text", value: "json" } } }),
        () => ({
          text: `jsonb_to_recordset('[{"id": 1, "name": "a"}]') AS ${as}(id int, name text)`,
          scope: { as, columns: { id: "int", name: "text" } },
        }),
        () => ({ text: `(VALUES (1, 'a'), (2, 'b')) AS ${as}(n, v)`, scope: { as, columns: { n: "int", v: "text" } } }),
      ])();
    }
    const table = pick(tables);
    const sample = chance(0.03) ? " TABLESAMPLE bernoulli (50)" : "";
    const only = chance(0.03) ? "ONLY " : "";
    return {
      text: `${only}${path(table)} ${chance(0.5) ? "AS " : ""}${as}${sample}`,
      scope: { as, table, columns: columns[table] },
    };
  };

  const from = (scope) => {
    const first = item(scope);
    const inner = [first.scope];
    let text = first.text;
    for (let n = below(3); n > 0 && fuel > 0; n--) {
      const next = item(scope, inner);
      const on = () => `ON ${expression("bool", [...inner, next.scope])}`;
      text = words(
        text,
        pick([
          () => `, ${next.text}`,
          () => `CROSS JOIN ${next.text}`,
          () => `${pick(["JOIN", "LEFT JOIN", "RIGHT JOIN", "INNER JOIN"])} ${next.text} ${on()}`,
        ])(),
      );
      inner.push(next.scope);
    }
    return { text, scope: inner };
  };

  /** A query of columns of these types. */
  const select = (types, outer, end = "") => {
    fuel -= 2;
    if (evil() && chance(0.2)) return `SELECT ${types.map(() => attack()).join(", ")}`;
    if (fuel > 0 && chance(0.08)) {
      const set = pick(["UNION", "UNION ALL", "INTERSECT", "EXCEPT", "EXCEPT ALL"]);
      if (types.every((type) => type !== "json"))
        return words(`(${select(types, outer)})`, set, `(${select(types, outer)})`, end);
    }
    const scope = outer.filter(({ cte }) => !cte);
    const ctes = outer.filter(({ cte }) => cte);
    if (fuel < 0 || chance(0.08)) {
      return words("SELECT", types.map((type) => expression(type, scope)).join(", "), end);
    }
    const with_ = fuel > 4 && chance(0.12) ? parts(ctes) : { text: "", scope: ctes };
    const { text, scope: own } = from(with_.scope);
    const all = [...own, ...scope];
    const where = chance(0.6) ? words("WHERE", expression("bool", all)) : "";
    if (chance(0.15)) {
      const key = `(${expression("int", own)} + ${own[0].as === undefined ? 0 : below(3)})`;
      const filter = () => (chance(0.25) ? ` FILTER (WHERE ${expression("bool", own)})` : "");
      const within = (type) => `WITHIN GROUP (ORDER BY ${expression(type, own)}${pick(["", " DESC"])})${filter()}`;
      const ordered = {
        int: () => `(percentile_disc(0.5) ${within("int")})::int`,
        num: () => `(percentile_cont(0.5) ${within("int")})::numeric`,
        text: () => `mode() ${within("text")}`,
      };
      const aggregate = (type) => {
        if (ordered[type] !== undefined && chance(0.2)) return ordered[type]();
        return plain[type]();
      };
      const plain = {
        int: () => `(count(*)${filter()})::int`,
        num: () => `sum(${expression("num", own)})${filter()}`,
        text: () => `string_agg(${expression("text", own)}, ',' ORDER BY ${expression("int", own)})${filter()}`,
        bool: () => `bool_or(${expression("bool", own)})`,
        json: () => "'1'::jsonb",
        list: () => `array_agg(${expression("text", own)}::text)`,
        time: () => `max(${expression("time", own)})${filter()}`,
      };
      return words(
        with_.text,
        "SELECT",
        types.map(aggregate).join(", "),
        "FROM",
        text,
        where,
        "GROUP BY",
        pick([key, `ROLLUP (${key})`, `GROUPING SETS ((${key}), ())`, `CUBE (${key})`]),
        end,
      );
    }
    const windowed = types.includes("int") && chance(0.12);
    const named = windowed && chance(0.5);
    const frame = pick(["", " ROWS BETWEEN 1 PRECEDING AND CURRENT ROW", " GROUPS CURRENT ROW EXCLUDE TIES"]);
    const definition = () =>
      pick([
        () => "ORDER BY 1",
        () => `PARTITION BY ${expression("text", own)} ORDER BY ${expression("int", own)}${frame}`,
      ])();
    const over = named ? pick(["w0", "w1", `(w0${frame})`]) : `(${definition()})`;
    const ranked = pick(["row_number()", "count(*)", `count(*) FILTER (WHERE ${expression("bool", own)})`, "ntile(2)"]);
    const targets = types.map((type) =>
      type === "int" && windowed ? `(${ranked} OVER ${over})::int` : expression(type, all),
    );
    const windows = named ? `WINDOW w0 AS (ORDER BY ${expression("int", own)}), w1 AS (${definition()})` : "";
    const sorted = `(${expression("text", own)} || '')`;
    const distinct = chance(0.06) ? `DISTINCT ON (${sorted})` : "";
    const order =
      distinct !== "" || chance(0.3)
        ? `ORDER BY ${sorted} ${pick(["", "ASC", "DESC", "DESC NULLS LAST", ...(distinct === "" ? ["USING <"] : [])])}`
        : "";
    const limit = end === "" ? `LIMIT ${below(20)}${chance(0.3) ? ` OFFSET ${below(3)}` : ""}` : end;
    return words(with_.text, "SELECT", distinct, targets.join(", "), "FROM", text, where, windows, order, limit);
  };

  /** A WITH, and the names that it gives. */
  const parts = (outer) => {
    const recursive = chance(0.2);
    const scope = [...outer];
    const texts = some(
      () => {
        const as = evil() ? pick(["secrets", '"public.secrets"', "users_"]) : `w${serial++ % 9}`;
        if (recursive && chance(0.5)) {
          scope.push({ as, cte: true, columns: { n: "int" } });
          const search = pick(["", "", ` SEARCH ${pick(["DEPTH", "BREADTH"])} FIRST BY n SET o`]);
          const cycle = pick(["", "", " CYCLE n SET c USING p", " CYCLE n SET c TO 'y' DEFAULT 'n' USING p"]);
          return `${as}(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM ${as} WHERE n < 4)${search}${cycle}`;
        }
        const types = some(() => pick(["int", "text", "bool"]), 1, 2);
        const body =
          evil() && chance(0.5)
            ? pick([
                "DELETE FROM secrets RETURNING token AS c0",
                "UPDATE secrets SET id = id RETURNING token AS c0",
                "INSERT INTO secrets VALUES (2, 'a') RETURNING token AS c0",
                "TABLE secrets",
              ])
            : select(types, scope);
        scope.push({ as, cte: true, columns: Object.fromEntries(types.map((type, n) => [`c${n}`, type])) });
        const list =
          body.includes("RETURNING") || body.startsWith("TABLE") ? "" : `(${types.map((_, n) => `c${n}`).join(", ")})`;
        return `${as}${list} AS ${pick(["", "MATERIALIZED ", "NOT MATERIALIZED "])}(${body})`;
      },
      1,
      2,
    );
    return { text: `WITH ${recursive ? "RECURSIVE " : ""}${texts.join(", ")}`, scope };
  };

  const insert = () => {
    const table = evil() ? pick(["secrets", "leak_view"]) : "users";
    const with_ = chance(0.15) ? parts([]) : { text: "", scope: [] };
    const source = pick([
      () => `VALUES (${expression("text", [])}, ${expression("int", [])})`,
      () => `VALUES (${expression("text", [])}, DEFAULT), (${expression("text", [])}, ${expression("int", [])})`,
      () => select(["text", "int"], with_.scope, "LIMIT 2"),
    ])();
    const conflict = chance(0.3)
      ? pick([
          () => "ON CONFLICT DO NOTHING",
          () =>
            `ON CONFLICT (id) DO UPDATE SET name = excluded.name || ${expression("text", [])}, age = EXCLUDED.age WHERE users.age < 50`,
          () => "ON CONFLICT ON CONSTRAINT users_pkey DO NOTHING",
        ])()
      : "";
    return words(with_.text, "INSERT INTO", path(table), "(name, age)", source, conflict, returning("users"));
  };
  const returning = (as) =>
    chance(0.5) ? words("RETURNING", pick(["*", "id", expression("text", [{ as, columns: columns.users }])])) : "";
  const update = () => {
    const table = evil() ? "secrets" : "users";
    const as = "u";
    const scope = [{ as, columns: columns.users, table: "users" }];
    const other = chance(0.3) ? from([]) : { text: "", scope: [] };
    const set = pick([
      () => `name = ${expression("text", scope)}`,
      () => `name = left(${expression("text", scope)}, 20), age = ${expression("int", scope)} % 100`,
      () => `(name, age) = (SELECT ${expression("text", scope)}, 1)`,
      () => `tags[1] = ${expression("text", scope)}`,
      () => `home.city = ${expression("text", scope)}`,
      () => "age = DEFAULT",
    ])();
    return words(
      "UPDATE",
      path(table),
      "AS u SET",
      set,
      other.text === "" ? "" : `FROM ${other.text}`,
      "WHERE",
      expression("bool", [...scope, ...other.scope]),
      returning(as),
    );
  };
  const remove = () => {
    const table = evil() ? "secrets" : pick(tables);
    const using = chance(0.3) ? from([]) : { text: "", scope: [] };
    const scope = [{ as: "d", columns: columns[table] ?? { token: "text", id: "int" } }];
    return words(
      "DELETE FROM",
      path(table),
      "AS d",
      using.text === "" ? "" : `USING ${using.text}`,
      "WHERE",
      expression("bool", [...scope, ...using.scope]),
      chance(0.4) ? "RETURNING *" : "",
    );
  };
  const merge = () => {
    const source = evil() ? pick(["secrets s", "(SELECT 1 AS id, token AS note FROM secrets) s"]) : "app.orders AS s";
    return words(
      "MERGE INTO",
      evil() ? "secrets" : "users",
      `AS u USING ${source} ON u.id = s.id`,
      "WHEN MATCHED THEN",
      pick([
        "DELETE",
        "DO NOTHING",
        `UPDATE SET name = ${expression("text", [{ as: "s", columns: columns["app.orders"] }])}`,
      ]),
      chance(0.5) ? "WHEN NOT MATCHED THEN INSERT (name) VALUES (s.note)" : "",
    );
  };
  const command = () =>
    pick([
      "COPY secrets TO STDOUT",
      "COPY (SELECT token FROM secrets) TO STDOUT",
      "EXPLAIN ANALYZE SELECT * FROM secrets",
      "EXPLAIN (FORMAT json) SELECT token FROM secrets",
      "DO $$ BEGIN RAISE '%', (SELECT token FROM secrets); END $$",
      "CALL leak()",
      "PREPARE p AS SELECT token FROM secrets",
      "EXECUTE p",
      "DECLARE c CURSOR WITH HOLD FOR SELECT token FROM secrets",
      "FETCH ALL FROM c",
      "CREATE VIEW users2 AS SELECT token FROM secrets",
      "CREATE TEMP TABLE users AS SELECT token AS name FROM secrets",
      "CREATE TABLE app.copy AS TABLE secrets",
      "CREATE RULE r AS ON SELECT TO users DO INSTEAD SELECT * FROM secrets",
      "CREATE FUNCTION length(text) RETURNS text LANGUAGE sql AS 'SELECT token FROM secrets'",
      "ALTER TABLE secrets RENAME TO users3",
      "ALTER TABLE users INHERIT secrets",
      "GRANT SELECT ON secrets TO PUBLIC",
      "SET search_path = app",
      "SET standard_conforming_strings = off",
      "SET LOCAL backslash_quote = on",
      "RESET ALL",
      "BEGIN; SELECT token FROM secrets",
      "LOCK TABLE secrets",
      "TRUNCATE secrets",
      "TABLE secrets",
      "VALUES ((SELECT token FROM secrets))",
      "SELECT token INTO users4 FROM secrets",
      "SHOW canary.value",
      "LISTEN a",
      "NOTIFY a, 'b'",
      "VACUUM secrets",
      "SELECT 1; SELECT token FROM secrets",
      "UPDATE pg_settings SET setting = 'off' WHERE name = 'standard_conforming_strings'",
      "REFRESH MATERIALIZED VIEW secrets",
      "IMPORT FOREIGN SCHEMA public FROM SERVER a INTO app",
      "SECURITY LABEL ON TABLE secrets IS 'a'",
      "SELECT * FROM users FOR UPDATE OF secrets",
    ]);

  /** Breaks a statement, because readers of the text may disagree on literals and comments. */
  const broken = (sql) => {
    const at = below(sql.length + 1);
    const to = Math.min(sql.length, at + below(8));
    const cut = below(last.length);
    return pick([
      () =>
        sql.slice(0, at) +
        pick([
          "'",
          '"',
          "\\",
          "\\'",
          "''",
          "$$",
          "/*",
          "*/",
          "--",
          "E",
          "U&",
          "N",
          "e'",
          "(",
          ")",
          ";",
          "$1",
          "::",
          ".",
          "?",
          "\u00a0",
          "\u2019",
          "\ufeff",
          "@",
          "1e",
          "0x",
          "1_0",
        ]) +
        sql.slice(at),
      () => sql.slice(0, at) + sql.slice(to),
      () => sql.slice(0, to) + sql.slice(at),
      () => sql.slice(0, at) + last.slice(cut, cut + below(30)) + sql.slice(at),
      () => sql.replace(/'/, pick(["E'", "U&'", "N'", "'\\", "B'", "X'"])),
      () => sql.replaceAll("'", pick(["''", "\\'", '"'])),
      () => `${sql} ${pick(["--", "/*", ";", "'", "UNION SELECT token FROM secrets", "; TABLE secrets"])}`,
      () =>
        sql.replace(
          /\b(users|app\.orders)\b/,
          pick(["secrets", "public.secrets", '"app.orders"', "users.secrets", "secrets.users"]),
        ),
      () =>
        sql.replace(
          /\.(name|note|c0|v)\b/,
          pick([".leak", ".pg_read_file", ".ts_stat", ".query_to_xml", ".token", ".regclass"]),
        ),
      () =>
        sql.replace(
          /\b(lower|upper|length|abs|md5|concat)\b/,
          pick(["leak", "pg_read_file", "query_to_xml", "public.leak", "pg_sleep", "initcap"]),
        ),
    ])();
  };

  return () => {
    const hostile = chance(0.4);
    hostility = hostile ? pick([0.02, 0.05, 0.15, 0.4]) : 0;
    fuel = pick([2, 4, 8, 14]);
    const kind = random();
    let sql;
    if (hostile && chance(0.06)) sql = command();
    else if (kind < 0.08) sql = insert();
    else if (kind < 0.16) sql = update();
    else if (kind < 0.2) sql = remove();
    else if (kind < 0.22) sql = merge();
    else {
      const with_ = chance(0.2) ? parts([]) : { text: "", scope: [] };
      sql = words(
        with_.text,
        select(
          some(() => pick(Object.keys({ int: 1, text: 1, bool: 1, num: 1, time: 1, list: 1, json: 1 })), 1, 3),
          with_.scope,
        ),
      );
    }
    if (hostile && chance(0.25)) for (let n = 1 + below(2); n > 0; n--) sql = broken(sql);
    last = sql;
    return { sql: sql.replaceAll("\0", ""), hostile };
  };
}
