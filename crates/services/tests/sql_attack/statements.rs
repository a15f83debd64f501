//! Random statements of SQLite.

use serde_json::{Value, json};

/// The schema and rows that the statements find.
pub(super) const SCHEMA: [&str; 9] = [
    "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b REAL, c BLOB)",
    "CREATE TABLE u (id INTEGER PRIMARY KEY, t INTEGER REFERENCES t ON DELETE CASCADE, a TEXT)",
    "CREATE INDEX u_a ON u (a)",
    "CREATE TABLE hidden (id INTEGER PRIMARY KEY, a TEXT)",
    "CREATE VIRTUAL TABLE docs USING fts5(text)",
    "CREATE VIRTUAL TABLE places USING rtree(id, x1, x2)",
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
       INSERT INTO t SELECT i, 'text ' || i, i / 7.0, randomblob(50) FROM n",
    "INSERT INTO u SELECT id, id % 100 + 1, a FROM t",
    "INSERT INTO docs SELECT a || ' word' FROM t",
];

/// Functions with their numbers of arguments.
const FUNCTIONS: &str = "abs 1 char 3 coalesce 2 concat 3 format 3 glob 2 hex 1 ifnull 2 iif 3 instr 2 json 1 json_array 2 \
    json_array_length 1 json_extract 2 json_group_array 1 json_group_object 2 json_insert 3 json_object 2 json_patch 2 \
    json_pretty 1 json_quote 1 json_remove 2 json_replace 3 json_set 3 json_type 1 json_valid 2 jsonb 1 jsonb_extract 2 \
    length 1 like 2 like 3 likely 1 lower 1 ltrim 2 max 1 max 2 median 1 min 1 min 2 nullif 2 octet_length 1 pow 2 printf 3 \
    quote 1 random 0 randomblob 1 replace 3 round 2 rtrim 2 sign 1 soundex 1 sqrt 1 substr 3 sum 1 total 1 trim 2 typeof 1 \
    unhex 1 unicode 1 unistr 1 upper 1 zeroblob 1 group_concat 2 string_agg 2 count 1 avg 1 date 2 datetime 1 strftime 2 \
    timediff 2 julianday 1 unixepoch 1 lag 1 ntile 1 row_number 0 bm25 1 snippet 6 highlight 4 log 2 exp 1 mod 2 \
    fts3_tokenizer 1 fts3_tokenizer 2 fts5 1 load_extension 1 sqlite_log 2 rtreecheck 1 rtreenode 2 readfile 1 edit 1 \
    sqlite_compileoption_get 1 changes 0 last_insert_rowid 0 sqlite_rename_table 9 unknown 1";

const OPERATORS: [&str; 24] = [
    "+",
    "-",
    "*",
    "/",
    "%",
    "||",
    "<<",
    ">>",
    "&",
    "|",
    "<",
    "<=",
    "=",
    "==",
    "<>",
    "IS",
    "IS NOT",
    "AND",
    "OR",
    "LIKE",
    "GLOB",
    "->",
    "->>",
    "COLLATE nocase ||",
];

const TABLES: [&str; 8] =
    ["t", "u", "docs", "places", "hidden", "sqlite_schema", "json_each('[1,2,3]')", "pragma_function_list"];

/// A generator with its state.
pub(super) struct Statements {
    state: u64,
    functions: Vec<(&'static str, usize)>,
    params: Vec<Value>,
}

impl Statements {
    pub(super) fn new(seed: u64) -> Self {
        let words: Vec<&str> = FUNCTIONS.split_whitespace().collect();
        let functions = words.chunks(2).map(|pair| (pair[0], pair[1].parse().unwrap())).collect();
        Self { state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1, functions, params: Vec::new() }
    }

    /// A statement and its parameters.
    pub(super) fn next(&mut self) -> (String, Vec<Value>) {
        self.params.clear();
        let mut sql = match self.below(26) {
            0..=7 => self.select(3),
            8..=10 => format!("SELECT {}", self.list(|it| it.expression(4), 5)),
            11 => self.wide(),
            12 => self.chain(),
            13 => self.recursive(),
            14 => self.search(),
            15 => self.nested(),
            16 => self.long_function(),
            17 => self.pattern(),
            18 => self.sort(),
            19 => self.compound(),
            20 => self.change(),
            21 => self.schema(),
            22 => format!("EXPLAIN {}", self.select(2)),
            23 => self.joined(),
            24 => self.repeated(),
            _ => self.pragma(),
        };
        if self.one_in(20) {
            sql = self.damaged(&sql);
        }
        (sql, std::mem::take(&mut self.params))
    }

    pub(super) fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    fn below(&mut self, count: usize) -> usize {
        // xorshift64*
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        (self.state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % count
    }

    fn of<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    /// A size from 1 to `most`, of any magnitude.
    fn size(&mut self, most: usize) -> usize {
        let bits = self.below(usize::BITS as usize - most.leading_zeros() as usize) + 1;
        self.below(1 << bits).clamp(1, most)
    }

    fn list(&mut self, mut item: impl FnMut(&mut Self) -> String, most: usize) -> String {
        let count = self.below(most) + 1;
        (0..count).map(|_| item(self)).collect::<Vec<_>>().join(", ")
    }

    fn value(&mut self) -> String {
        match self.below(12) {
            0 => "NULL".to_owned(),
            1 => self
                .of(&["0", "1", "-1", "9223372036854775807", "-9223372036854775808", "1e308", "-0.0", "1e-320"])
                .to_owned(),
            2 => format!("'{}'", "a%_\u{e4}".repeat(self.size(200))),
            3 => format!("x'{}'", "00ff41".repeat(self.size(100))),
            4 => format!("zeroblob({})", self.size(30_000_000)),
            5 => format!("hex(zeroblob({}))", self.size(2_000_000)),
            6 => format!("printf('%.{}c', 'x')", self.size(3_000_000)),
            7 => self
                .of(&["'[1,{\"a\":[null,true]}]'", "'{'", "'$.a[0]'", "'$'", "'%'", "'now'", "'%Y-%m-%d'", "'+1 day'"])
                .to_owned(),
            8 => self.param(),
            _ => self.of(&["id", "a", "b", "c", "t.a", "x1", "text", "rowid", "name", "value"]).to_owned(),
        }
    }

    fn param(&mut self) -> String {
        let size = self.size(300_000);
        let value = match self.below(5) {
            0 => Value::Null,
            1 => json!(self.below(1000)),
            2 => json!(["a%", "*?", "0", "[", "{\"a\":"][self.below(5)].repeat(size / 4 + 1)),
            3 => json!({ "base64": "QUFB".repeat(size / 8 + 1) }),
            _ => json!(0.1),
        };
        self.params.push(value);
        format!("?{}", self.params.len())
    }

    fn expression(&mut self, depth: usize) -> String {
        if depth == 0 || self.one_in(4) {
            return self.value();
        }
        match self.below(10) {
            0..=3 => {
                let at = self.below(self.functions.len());
                let (name, count) = self.functions[at];
                let arguments: Vec<String> = (0..count).map(|_| self.expression(depth - 1)).collect();
                let over = if self.one_in(15) { " OVER (ORDER BY 1)" } else { "" };
                format!("{name}({}){over}", arguments.join(", "))
            }
            4..=6 => {
                let operator = self.of(&OPERATORS);
                format!("({} {operator} {})", self.expression(depth - 1), self.expression(depth - 1))
            }
            7 => format!(
                "CAST({} AS {})",
                self.expression(depth - 1),
                self.of(&["TEXT", "BLOB", "INTEGER", "REAL", "NUMERIC"])
            ),
            8 => format!("CASE {} WHEN 1 THEN {} ELSE 0 END", self.expression(depth - 1), self.expression(depth - 1)),
            _ => format!("({} IN ({}))", self.expression(depth - 1), self.list(|it| it.expression(depth - 1), 4)),
        }
    }

    fn select(&mut self, depth: usize) -> String {
        let distinct = if self.one_in(5) { "DISTINCT " } else { "" };
        let mut sql = format!("SELECT {distinct}{}", self.list(|it| it.expression(depth), 4));
        sql += &format!(" FROM {}", self.of(&TABLES));
        for (share, word) in [(3, " WHERE "), (6, " GROUP BY "), (5, " ORDER BY ")] {
            if self.one_in(share) {
                sql += &format!("{word}{}", self.expression(depth - 1));
            }
        }
        sql + &format!(" LIMIT {}", self.size(1000))
    }

    /// Columns that are large together.
    fn wide(&mut self) -> String {
        let (count, size) = (self.size(2100), self.size(8_000_000));
        let value = self.of(&["hex(zeroblob(N))", "zeroblob(N)", "randomblob(N)", "printf('%.Nc', 'x')"]);
        let value = value.replace('N', &size.to_string());
        format!("SELECT {}", vec![value; count].join(", "))
    }

    /// Common table expressions, each of the one before.
    fn chain(&mut self) -> String {
        let count = self.size(3000);
        let more = self.of(&["", ", c{}", ", c{} AS d"]);
        let mut sql = "WITH c0(x) AS (SELECT 1)".to_owned();
        for at in 1..count {
            let before = at - 1;
            let second = more.replace("{}", &before.to_string());
            sql += &format!(", c{at}(x) AS (SELECT c{before}.x FROM c{before}{second})");
        }
        sql + &format!(" SELECT count(*) FROM c{}", count - 1)
    }

    fn recursive(&mut self) -> String {
        let (rows, value) = (self.size(1 << 40), self.expression(2));
        let union = self.of(&["UNION", "UNION ALL"]);
        format!(
            "WITH RECURSIVE n(i, v) AS (SELECT 1, '' {union} SELECT i + 1, v || {value} FROM n WHERE i < {rows}) SELECT count(*), max(v) FROM n"
        )
    }

    fn search(&mut self) -> String {
        let word = self.of(&[
            "word OR ",
            "text AND ",
            "te* OR ",
            "NEAR(a b) OR ",
            "(word) OR ",
            "\"a b\" + c OR ",
            "word NOT ",
            "^text OR ",
        ]);
        let text = word.repeat(self.size(60_000)) + "word";
        self.params.push(json!(text));
        format!(
            "SELECT {} FROM docs WHERE docs MATCH ?1",
            self.of(&["count(*)", "snippet(docs, 0, '[', ']', '', 60)", "bm25(docs)", "highlight(docs, 0, 'a', 'b')"])
        )
    }

    fn nested(&mut self) -> String {
        let (open, close) = self.of(&[
            ("(", ")"),
            ("(SELECT ", ")"),
            ("NOT ", ""),
            ("- ", ""),
            ("abs(", ")"),
            ("CASE WHEN 1 THEN ", " END"),
            ("1 IN (SELECT ", ")"),
        ]);
        let count = self.size(20_000);
        format!("SELECT {}1{}", open.repeat(count), close.repeat(count))
    }

    /// One call that takes long.
    fn long_function(&mut self) -> String {
        let (size, part) = (self.size(9_000_000), self.size(2_000_000));
        let call = self.of(&[
            "replace(hex(zeroblob(N)), hex(zeroblob(M)) || '1', 'x')",
            "replace(hex(zeroblob(N)), '0', hex(zeroblob(M)))",
            "instr(zeroblob(N), zeroblob(M) || x'01')",
            "trim(hex(zeroblob(N)), hex(zeroblob(M)) || 'y')",
            "json_extract(replace(hex(zeroblob(M)), '00', '['), '$[0]')",
            "json_valid('[' || replace(hex(zeroblob(M)), '00', '1,') || '1]')",
            "json_patch('{\"a\":1}', '{' || substr(replace(hex(zeroblob(M)), '00', ',\"b\":2'), 2) || '}')",
            "length(json_pretty('[' || replace(hex(zeroblob(M)), '00', '[') || '1' || replace(hex(zeroblob(M)), '00', ']') || ']'))",
            "printf('%.*f', N, 1.0)",
            "printf('%*d', N, 1)",
            "unistr(replace(hex(zeroblob(M)), '00', '\\0041'))",
            "strftime(replace(hex(zeroblob(M)), '00', '%Y'), 'now')",
            "quote(zeroblob(N))",
            "unhex(hex(zeroblob(N)), hex(zeroblob(M)))",
        ]);
        format!("SELECT length({})", call.replace('N', &size.to_string()).replace('M', &part.to_string()))
    }

    fn pattern(&mut self) -> String {
        let part = self.of(&["%a", "_%", "%0%", "*a", "[a-z]*", "?*", "%\u{e4}"]);
        let text = part.repeat(self.size(30_000));
        self.params.push(json!(text));
        let (operator, size) = (self.of(&["LIKE", "GLOB", "NOT LIKE"]), self.size(9_000_000));
        match self.below(3) {
            0 => format!("SELECT count(*) FROM t WHERE a {operator} ?1"),
            1 => format!("SELECT hex(zeroblob({size})) {operator} ?1"),
            _ => format!("SELECT hex(zeroblob({size})) LIKE ?1 ESCAPE '0'"),
        }
    }

    fn sort(&mut self) -> String {
        let (rows, bytes) = (self.size(1 << 24), self.size(20_000));
        let end = self.of(&["ORDER BY v", "GROUP BY v", "UNION SELECT i, v FROM n ORDER BY 2"]);
        format!(
            "WITH RECURSIVE n(i, v) AS (SELECT 1, 'x' UNION ALL SELECT i + 1, hex(randomblob({bytes})) FROM n LIMIT {rows})
             SELECT count(*) FROM (SELECT i, v FROM n {end})"
        )
    }

    fn compound(&mut self) -> String {
        let (part, count) = (
            self.of(&[" UNION SELECT 1", " UNION ALL SELECT a FROM t", " EXCEPT SELECT 2", " INTERSECT SELECT 1"]),
            self.size(600),
        );
        match self.below(3) {
            0 => format!("SELECT 1{}", part.repeat(count)),
            1 => format!("VALUES {}(1)", "(1), ".repeat(self.size(100_000))),
            _ => format!("SELECT 1 IN ({}1)", "1, ".repeat(self.size(300_000))),
        }
    }

    fn change(&mut self) -> String {
        let value = self.expression(3);
        match self.below(6) {
            0 => format!("INSERT INTO t (a) VALUES ({value})"),
            1 => format!("INSERT INTO t (a) SELECT a FROM t LIMIT {}", self.size(500)),
            2 => format!("UPDATE t SET a = {value} WHERE id = {}", self.below(300)),
            3 => "DELETE FROM t WHERE id > 400".to_owned(),
            4 => format!("INSERT INTO docs VALUES ({value})"),
            _ => format!(
                "INSERT INTO u (id, t, a) VALUES (1, 1, {value}) ON CONFLICT DO UPDATE SET a = {value} RETURNING *"
            ),
        }
    }

    fn schema(&mut self) -> String {
        let (name, value) = (self.below(5), self.expression(2));
        match self.below(9) {
            0 => format!("CREATE TABLE IF NOT EXISTS x{name} (a DEFAULT ({value}), b AS ({value}))"),
            1 => format!(
                "CREATE TABLE IF NOT EXISTS x{name} ({})",
                (0..self.size(2100)).map(|at| format!("c{at}")).collect::<Vec<_>>().join(", ")
            ),
            2 => format!("CREATE VIEW IF NOT EXISTS v{name} AS {}", self.select(2)),
            3 => format!("CREATE TRIGGER IF NOT EXISTS r{name} AFTER UPDATE ON u BEGIN UPDATE u SET a = {value}; END"),
            4 => format!("CREATE INDEX IF NOT EXISTS i{name} ON u ({value})"),
            5 => format!("DROP TRIGGER IF EXISTS r{name}"),
            6 => format!("DROP VIEW IF EXISTS v{name}"),
            7 => self
                .of(&["VACUUM", "ANALYZE", "REINDEX", "VACUUM INTO '/tmp/x'", "ATTACH '/etc/passwd' AS p"])
                .to_owned(),
            _ => format!("CREATE TEMP TABLE IF NOT EXISTS y{name} AS {}", self.select(2)),
        }
    }

    fn joined(&mut self) -> String {
        let tables = (0..self.below(70) + 2).map(|_| self.of(&TABLES)).collect::<Vec<_>>();
        let join = self.of(&[" NATURAL JOIN ", ", ", " LEFT JOIN ", " NATURAL FULL JOIN ", " CROSS JOIN "]);
        format!("SELECT count(*) FROM {}", tables.join(join))
    }

    fn repeated(&mut self) -> String {
        let part = self.of(&["id AND ", "a || ", "1 + ", "a = 'x' OR ", "max(a, b) + ", "id BETWEEN 1 AND 2 OR "]);
        format!("SELECT * FROM t WHERE {}1", part.repeat(self.size(100_000)))
    }

    fn pragma(&mut self) -> String {
        let name = self.of(&[
            "table_info",
            "writable_schema",
            "journal_mode",
            "page_size",
            "cache_size",
            "temp_store_directory",
            "integrity_check",
            "foreign_keys",
            "hard_heap_limit",
            "mmap_size",
            "function_list",
            "wal_checkpoint",
        ]);
        match self.below(3) {
            0 => format!("PRAGMA {name}"),
            1 => format!("PRAGMA {name} = {}", self.size(1 << 40)),
            _ => format!("SELECT * FROM pragma_{name}"),
        }
    }

    fn damaged(&mut self, sql: &str) -> String {
        let mut text: Vec<char> = sql.chars().take(100_000).collect();
        for _ in 0..self.below(4) + 1 {
            let (at, other) = (self.below(text.len()), self.below(text.len()));
            match self.below(4) {
                0 => text[at] = self.of(&['\'', '"', ';', '(', ')', '\0', '\u{fffd}', '/', '-', '[']),
                1 => text.truncate(at.max(1)),
                2 => text.swap(at, other),
                _ => text.insert(at, self.of(&['*', '?', ' ', '\n', 'e', '0'])),
            }
        }
        text.into_iter().collect()
    }
}
