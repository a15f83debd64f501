import initSqlJs, { type SqlJsStatic, type SqlValue } from "sql.js";
import type { Statement } from "../../src/sql/index.ts";
import type { Database } from "./database.ts";

let engine: SqlJsStatic | undefined;

/** Loads SQLite, compiled to WebAssembly: in this process, in memory. */
export async function loadSqlite(): Promise<SqlJsStatic> {
  engine ??= await initSqlJs();
  return engine;
}

/** Opens an empty database. */
export async function startSqlite(): Promise<Database> {
  const database = new (await loadSqlite()).Database();
  return {
    name: "sqlite",
    query: async ([sql, params]: Statement) => {
      const statement = database.prepare(sql);
      try {
        statement.bind(params as SqlValue[]);
        const rows: Record<string, unknown>[] = [];
        while (statement.step()) rows.push(statement.getAsObject());
        return rows;
      } finally {
        statement.free();
      }
    },
    close: async () => database.close(),
  };
}
