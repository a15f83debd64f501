/** Descriptions of statements by the databases' own parsers. */
import { loadModule, parseSync } from "libpg-query";
import type { Dialect, Statement } from "../../src/sql/index.ts";
import { loadSqlite } from "./sqlite.ts";

/** The parts of a parsed statement. */
export interface Shape {
  /** The number of statements in the text. */
  readonly statements: number;
  /** True when it changes data. */
  readonly writes: boolean;
  /** Every kind of node (PostgreSQL) or function called (SQLite) in it. */
  readonly kinds: ReadonlySet<string>;
  /** Columns that it names; PostgreSQL only, SQLite's program has none. */
  readonly columns: ReadonlySet<string>;
  /** Tables that it names; PostgreSQL only. */
  readonly tables: ReadonlySet<string>;
  /** The highest parameter. */
  readonly params: number;
  /** Strings and numbers in the text itself. */
  readonly constants: readonly unknown[];
}

/** Loads the parser of a dialect. `t` has the columns a to d and id; statements about it can be parsed. */
export async function loadParser({ name }: Dialect): Promise<(statement: Statement) => Shape> {
  if (name === "postgres") {
    await loadModule();
    return postgresShape;
  }
  const database = new (await loadSqlite()).Database();
  database.run('CREATE TABLE t (id INTEGER PRIMARY KEY, a, b, c, d, "order")');
  return ([sql]) => {
    let statements = 0;
    for (const statement of database.iterateStatements(sql)) {
      statement.getSQL();
      statements++;
    }
    const [program] = database.exec(`EXPLAIN ${sql}`);
    const rows = program?.values ?? [];
    const params = rows.filter(([, opcode]) => opcode === "Variable").map(([, , p1]) => Number(p1));
    return {
      statements,
      writes: rows.some(([, opcode, , p2]) => opcode === "Transaction" && p2 !== 0),
      kinds: new Set(rows.filter(([, opcode]) => opcode === "Function").map((row) => String(row[5]))),
      columns: new Set(),
      tables: new Set(),
      params: Math.max(0, ...params),
      constants: rows.filter(([, opcode]) => opcode === "String8").map((row) => row[5]),
    };
  };
}

function postgresShape([sql]: Statement): Shape {
  const { stmts = [] } = parseSync(sql);
  const kinds = new Set<string>();
  const columns = new Set<string>();
  const tables = new Set<string>();
  const constants: unknown[] = [];
  let params = 0;
  const visit = (node: unknown, kind: string): void => {
    if (typeof node !== "object" || node === null) return;
    if (/^[A-Z]/.test(kind)) kinds.add(kind);
    const fields = node as ParsedFields;
    if (kind === "ColumnRef") columns.add(namesOf(fields).join("."));
    if (kind === "RangeVar")
      tables.add(Object.values({ schema: fields.schemaname, name: fields.relname }).filter(Boolean).join("."));
    if (kind === "ParamRef") params = Math.max(params, Number(fields.number));
    if (kind === "A_Const") constants.push(constantOf(fields));
    for (const [key, child] of Object.entries(fields)) visit(child, Array.isArray(node) ? "" : key);
  };
  visit(stmts, "");
  return { statements: stmts.length, writes: !kinds.has("SelectStmt"), kinds, columns, tables, params, constants };
}

/** The members of PostgreSQL's nodes that are read. */
interface ParsedFields {
  readonly schemaname?: string;
  readonly relname?: string;
  readonly number?: number;
  readonly fields?: unknown;
}

function namesOf({ fields }: ParsedFields): string[] {
  return (fields as { String?: { sval: string } }[]).map((field) => field.String?.sval ?? "*");
}

function constantOf(fields: object): unknown {
  const { sval, ival } = fields as { sval?: { sval?: string }; ival?: { ival?: number } };
  return sval === undefined ? (ival?.ival ?? 0) : sval.sval;
}
