/**
 * The printer: nodes to text and parameters, for either dialect. Nothing else in this module writes SQL, and nothing
 * here writes a value: values go to `params`, and names pass `writeIdentifier`.
 */
import type { Condition, GroupNode, Operand, OrderTerm, Shared, StatementNode } from "./ast.ts";
import type { Dialect } from "./dialect.ts";
import { SqlError } from "./errors.ts";
import { writeIdentifier } from "./identifier.ts";
import type { Value } from "./value.ts";

/** A statement for a driver: the text, and the parameters that its placeholders count from 1. */
export type Statement = [sql: string, params: Value[]];

/**
 * Prints a statement.
 *
 * @throws {SqlError} `identifier` for a name that is none, `params` when the database cannot take so many
 */
export function print(dialect: Dialect, statement: StatementNode): Statement {
  const printer = new Printer(dialect);
  const sql = printer.statement(statement);
  if (printer.params.length > dialect.maxParams) {
    throw new SqlError("params", `${dialect.name} takes at most ${dialect.maxParams} parameters in one statement`);
  }
  return [sql, printer.params];
}

class Printer {
  readonly params: Value[] = [];
  readonly #dialect: Dialect;
  /** Made when first needed: only a keyset shares parameters. */
  #shared: Map<Shared, string> | undefined;

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
  }

  statement(node: StatementNode): string {
    const table = this.#name(node.table);
    switch (node.kind) {
      case "select": {
        const columns = node.columns.length > 0 ? this.#names(node.columns) : "*";
        let sql = `SELECT ${columns} FROM ${table}${this.#where(node.where)}${this.#order(node.order)}`;
        if (node.limit !== undefined) sql += ` LIMIT ${node.limit}`;
        if (node.offset !== undefined) sql += ` OFFSET ${node.offset}`;
        return sql;
      }
      case "insert": {
        const returning = this.#returning(node.returning);
        if (node.assignments.length === 0) return `INSERT INTO ${table} DEFAULT VALUES${returning}`;
        const columns = this.#names(node.assignments.map(({ column }) => column));
        const values = this.#bindAll(node.assignments.map(({ value }) => value));
        return `INSERT INTO ${table} (${columns}) VALUES (${values})${returning}`;
      }
      case "update": {
        const set = node.assignments
          .map(({ column, value }) => `${this.#name(column)} = ${this.#bind(value)}`)
          .join(", ");
        return `UPDATE ${table} SET ${set}${this.#where(node.where)}${this.#returning(node.returning)}`;
      }
      case "delete":
        return `DELETE FROM ${table}${this.#where(node.where)}${this.#returning(node.returning)}`;
    }
  }

  #where(condition: Condition | undefined): string {
    return condition === undefined ? "" : ` WHERE ${this.#condition(condition)}`;
  }

  #order(terms: readonly OrderTerm[]): string {
    if (terms.length === 0) return "";
    return ` ORDER BY ${terms.map((term) => `${this.#name(term.column)} ${term.descending ? "DESC" : "ASC"}`).join(", ")}`;
  }

  #returning(columns: readonly string[]): string {
    return columns.length === 0 ? "" : ` RETURNING ${this.#names(columns)}`;
  }

  #condition(node: Condition): string {
    switch (node.kind) {
      case "compare":
        return `${this.#name(node.column)} ${node.op} ${this.#bind(node.value)}`;
      case "row":
        return `(${this.#names(node.columns)}) ${node.op} (${this.#bindAll(node.values)})`;
      case "null":
        return `${this.#name(node.column)} IS ${node.negated ? "NOT NULL" : "NULL"}`;
      case "list":
        return `${this.#name(node.column)} ${node.negated ? "NOT IN" : "IN"} (${this.#bindAll(node.values)})`;
      case "between":
        return `${this.#name(node.column)} BETWEEN ${this.#bind(node.low)} AND ${this.#bind(node.high)}`;
      case "like": {
        const operator = node.insensitive ? this.#dialect.insensitiveLike : "LIKE";
        const clause = node.escaped ? this.#dialect.escapeClause : "";
        return `${this.#name(node.column)} ${operator} ${this.#bind(node.pattern)}${clause}`;
      }
      case "regex":
        return `${this.#name(node.column)} ${this.#dialect.regex} ${this.#bind(node.pattern)}`;
      case "not":
        return `NOT (${this.#condition(node.item)})`;
      case "constant":
        // Both databases take this; a bare TRUE or FALSE needs SQLite 3.23.
        return node.holds ? "1 = 1" : "1 = 0";
      default:
        return this.#group(node);
    }
  }

  #group({ kind, items }: GroupNode): string {
    const written = kind === "and" || kind === "or";
    const texts = items.map((item) => {
      const text = this.#condition(item);
      return written || (items.length > 1 && needsParentheses(item, kind)) ? `(${text})` : text;
    });
    return texts.join(kind === "and" || kind === "all" ? " AND " : " OR ");
  }

  #name(name: string): string {
    return writeIdentifier(name, this.#dialect.reserved);
  }

  #names(names: readonly string[]): string {
    return names.map((name) => this.#name(name)).join(", ");
  }

  #bindAll(values: readonly Operand[]): string {
    return values.map((value) => this.#bind(value)).join(", ");
  }

  #bind(operand: Operand): string {
    if (typeof operand !== "object" || operand === null) return this.#push(operand);
    this.#shared ??= new Map();
    const earlier = this.#shared.get(operand);
    if (earlier !== undefined) return earlier;
    const placeholder = this.#push(operand.shared);
    this.#shared.set(operand, placeholder);
    return placeholder;
  }

  #push(value: Value): string {
    this.params.push(value);
    return this.#dialect.placeholder + this.params.length;
  }
}

/** Whether a joined item must be set apart from its neighbours: OR beside AND, or AND beside OR (for the reader only). */
function needsParentheses(item: Condition, parent: "all" | "any" | "and" | "or"): boolean {
  if (item.kind === "or" || item.kind === "any") return item.items.length > 1 && parent === "all";
  return item.kind === "all" && item.items.length > 1 && parent === "any";
}
