/** Random migration files that the databases' own programs accept. */

/** Numbers from a seed, so that a failure can be repeated. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A whole number below `end` (mulberry32). */
  below(end: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % end;
  }

  of<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)] as T;
  }
}

interface Words {
  /** Texts as the database writes them. */
  readonly texts: readonly string[];
  /** Whatever may stand between two words. */
  readonly gaps: readonly string[];
  /** Names of columns and tables, in their quotes. */
  readonly names: readonly string[];
  /** Statements with the number of the file's statement, which makes names unique. */
  readonly statements: readonly ((n: number, text: () => string, name: () => string) => string)[];
}

const common = {
  texts: ["'it''s; x'", "'--'", "'/* ;'", "'$$;$$'", "'a\n;\nb'", "';\r\n;'", "'BEGIN; END;'", "''", "'é€𝌆;'", "'\\'"],
  gaps: [" ", " ", "\n", "\r\n", "\t", " -- c; ' \" $$ /*\n", " /* ; ' -- \" */ ", "/**/"],
};

const sqlite: Words = {
  texts: [...common.texts, "x'3b'", "'\\'''"],
  gaps: [...common.gaps, " /* /* ; */ ", " -- c\r; d\n"],
  names: ['"c;1"', "[c;2]", "`c;3`", '"c""4;"', "begin_5", "[case]", '"END"'],
  statements: [
    (n, text, name) => `CREATE TABLE t${n} (id INTEGER PRIMARY KEY, ${name()} TEXT DEFAULT ${text()})`,
    (_, text) => `INSERT INTO log VALUES (${text()}), (CASE WHEN 1 THEN ${text()} ELSE 'b;' END)`,
    (n, text) =>
      `CREATE TRIGGER r${n} AFTER INSERT ON log WHEN new.a = 'r${n}' BEGIN INSERT INTO log VALUES (CASE WHEN 1 THEN ${text()} END); DELETE FROM log WHERE a = ';'; END`,
    (n) => `CREATE TEMP TRIGGER x${n} AFTER INSERT ON log WHEN 0 BEGIN SELECT 1; END`,
    (n, text) => `CREATE VIEW v${n} AS SELECT a, ${text()} AS b FROM log`,
    (n) => `PRAGMA user_version = ${n}`,
    () =>
      "DROP TABLE IF EXISTS o; CREATE TABLE o (id INTEGER PRIMARY KEY, x); INSERT INTO o (id) SELECT id FROM p; DROP TABLE p; ALTER TABLE o RENAME TO p",
    (_, text) => `UPDATE c SET a = ${text()}`,
    (n, text) => `INSERT INTO log SELECT ${text()} FROM (SELECT 1 UNION SELECT 2) WHERE ${n} > 0`,
  ],
};

const postgres: Words = {
  texts: [...common.texts, "E'it\\'s;\\\\'", "e'\\n;'", "$$;'\n$$", "$a$ ; $$ ; $b$ $a$", "U&'d\\0061;'", "'a'\n';b'"],
  gaps: [...common.gaps, " /* /* ; */ ' ; */ ", " -- c\n"],
  names: ['"c;1"', '"c""2;"', "begin_3", '"case"', '"END"', "a$b"],
  statements: [
    (n, text, name) => `CREATE TABLE t${n} (id int PRIMARY KEY, ${name()} text DEFAULT ${text()})`,
    (_, text) => `INSERT INTO log VALUES (${text()}), (CASE WHEN true THEN ${text()} ELSE 'b;' END)`,
    (n, text) =>
      `CREATE FUNCTION f${n}(n int) RETURNS text LANGUAGE sql BEGIN ATOMIC SELECT 'a;'; SELECT CASE WHEN n > 1 THEN ${text()} END; END`,
    (n, text) =>
      `CREATE PROCEDURE p${n}() LANGUAGE sql BEGIN ATOMIC INSERT INTO log VALUES (${text()}); DELETE FROM log WHERE a = ';'; END`,
    (n, text) =>
      `CREATE FUNCTION g${n}() RETURNS int LANGUAGE plpgsql AS $f$ BEGIN PERFORM ${text().includes("$") ? "1" : "2"}; RETURN 1; END $f$`,
    (n, text) => `DO $do$ BEGIN INSERT INTO log VALUES ('do ${n};'); END $do$; SELECT ${text()}`,
    (n) => `CREATE RULE u${n} AS ON UPDATE TO log WHERE old.a = 'u${n}' DO ALSO (SELECT 1; SELECT 2)`,
    (n, text) => `CREATE VIEW v${n} AS SELECT a, ${text()} AS b FROM log`,
    (n) =>
      `CREATE SCHEMA x${n}; SET search_path = x${n}, public; CREATE TABLE own${n} (a int); SET search_path TO public; SET check_function_bodies = false; RESET check_function_bodies`,
    (_, text) => `COMMENT ON TABLE log IS 'c;'; UPDATE c SET a = ${text()}`,
  ],
};

const tables = `CREATE TABLE log (a TEXT); CREATE TABLE p (id INTEGER PRIMARY KEY); INSERT INTO p VALUES (1);
CREATE TABLE c (id INTEGER PRIMARY KEY REFERENCES p (id) ON DELETE CASCADE, a TEXT); INSERT INTO c VALUES (1, 'x');\n`;

/** Writes a file. Now and then it has a byte order mark, `BEGIN` and `COMMIT`, more statements than a request takes, no last semicolon. */
export function randomFile(dialect: "sqlite" | "postgres", random: Random): string {
  const { texts, gaps, names, statements } = dialect === "sqlite" ? sqlite : postgres;
  const gap = () => random.of(gaps);
  const count = random.below(12) === 0 ? 130 + random.below(100) : 1 + random.below(12);
  const parts = Array.from({ length: count }, (_, n) => {
    const statement = random.of(statements)(
      n,
      () => random.of(texts),
      () => random.of(names),
    );
    // A marked place between words of the statements above, which have single blanks there.
    return `${gap()}${withGaps(statement, gap)}${random.below(3) === 0 ? gap() : ""}`;
  });
  const ends = [";", ";\n", " ;\r\n", ";;\n", ";\n\n-- done;\n"];
  const body = parts.map((part, index) => part + (index === count - 1 && random.below(4) === 0 ? "" : random.of(ends)));
  const wraps = random.below(4) === 0;
  const begin = random.of(["BEGIN;", "begin transaction ;\n", "/* a */ BEGIN;\r\n"]);
  const end = random.of(["COMMIT;\n", "\nEND TRANSACTION;", "commit"]);
  const wrapped = wraps ? `${begin}${body.join("")}\n;${end}` : body.join("");
  return `${random.below(3) === 0 ? "\ufeff" : ""}${tables}${wrapped}`;
}

/** Puts other gaps in the places of some blanks outside of quotes. */
function withGaps(statement: string, gap: () => string): string {
  const tokens =
    statement.match(
      /\(?[eE]'(?:[^'\\]|\\[\s\S]|'')*'|\$(\w*)\$[\s\S]*?\$\1\$|'(?:[^']|'')*'|"(?:[^"]|"")*"|\[[^\]]*\]|`[^`]*`| |[^ '"[`$]+|./g,
    ) ?? [];
  return tokens.map((token, index) => (token === " " && index % 3 === 0 ? gap() : token)).join("");
}
