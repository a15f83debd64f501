/** Cursors: places in an ordered list of rows. */
import type { OrderTerm } from "./ast.ts";
import { CursorError, SqlError } from "./errors.ts";
import { MAX_CURSOR_KEYS, MAX_CURSOR_TEXT } from "./limits.ts";
import { readOrder } from "./order.ts";
import { isValue, type Value } from "./value.ts";

// Present in every engine that runs handlers, and in Node, but not in TypeScript's ES library. Only ASCII is passed.
declare const btoa: (text: string) => string;
declare const atob: (text: string) => string;

const BIGINT_MARK = "int";
const NEEDS_ESCAPE = /[>?~\u007f-\uffff]/;
const INT64 = /^-?[0-9]{1,19}$/;

/**
 * A position in an ordered list of rows: the values of one row in the columns of `order`, named and in its sequence.
 *
 * The encoded text is base64 of a JSON list, written so that it contains letters and digits only: it needs no escaping
 * in a URL. It is neither secret nor signed: its holder can read and change its values, so put only columns into
 * `order` that they may see. A changed cursor only moves the position; it never names a column.
 */
export class Cursor {
  // Two lists, because a cursor has few keys, and a Map is slow in an interpreter.
  readonly #keys: string[] = [];
  readonly #values: Value[] = [];

  /** Adds a text. */
  string(key: string, text: string): this {
    if (typeof text !== "string") throw new CursorError("value", "must be a string", String(key));
    return this.#add(key, text);
  }

  /** Adds an integer: a safe integer, or a bigint. */
  int(key: string, value: number | bigint): this {
    if (typeof value !== "bigint" && !Number.isSafeInteger(value)) {
      throw new CursorError("value", "must be a safe integer or a bigint", String(key));
    }
    return this.#add(key, value);
  }

  /** Adds a finite number. */
  float(key: string, value: number): this {
    if (typeof value !== "number") throw new CursorError("value", "must be a number", String(key));
    return this.#add(key, value);
  }

  /** Adds a boolean. */
  bool(key: string, value: boolean): this {
    if (typeof value !== "boolean") throw new CursorError("value", "must be a boolean", String(key));
    return this.#add(key, value);
  }

  /** Adds NULL. */
  null(key: string): this {
    return this.#add(key, null);
  }

  #add(key: string, value: Value): this {
    if (typeof key !== "string" || key === "") throw new CursorError("keys", "a key is a column's name");
    if (this.#keys.includes(key)) throw new CursorError("keys", "is there already", key);
    if (this.#keys.length >= MAX_CURSOR_KEYS) throw new CursorError("size", `more than ${MAX_CURSOR_KEYS} keys`);
    if (!isValue(value)) throw new CursorError("value", "cannot be carried by a cursor", key);
    this.#keys.push(key);
    this.#values.push(value === 0 ? 0 : value);
    return this;
  }

  /**
   * The cursor of a row.
   *
   * A column `t.a` of the order is looked up as `t.a`, then as `a`. A `Date` is refused: it lacks PostgreSQL's
   * microseconds, and the next page would repeat the row. Read such a column as text.
   *
   * @param row a row from the database
   * @param order as in `sqlRead`
   * @param key as in `sqlRead`
   * @throws {CursorError} `keys` for a column that the row does not have, `value` for one that no cursor can contain
   * @throws {SqlError} `option` when `order` is wrong or empty
   */
  static from(row: object, order: string | readonly string[], key?: string): Cursor {
    if (typeof row !== "object" || row === null) throw new CursorError("value", "a cursor is made from a row");
    const cursor = new Cursor();
    const terms = readOrder(order, key);
    if (terms.length === 0) throw new SqlError("option", "must be given to make a cursor", "order");
    for (const { column } of terms) {
      const name = Object.hasOwn(row, column) ? column : column.slice(column.indexOf(".") + 1);
      const value: unknown = Object.hasOwn(row, name) ? (row as Record<string, unknown>)[name] : undefined;
      if (value === undefined) throw new CursorError("keys", "is in the order, but not in the row", column);
      if (value instanceof Date)
        throw new CursorError("value", "a Date is not exact enough: read the column as text", column);
      cursor.#add(column, value as Value);
    }
    return cursor;
  }

  /**
   * Encodes the cursor.
   *
   * @throws {CursorError} `size` beyond 16,384 characters
   */
  encode(): string {
    const text = btoa(this.#json());
    if (text.length > MAX_CURSOR_TEXT) throw new CursorError("size", `more than ${MAX_CURSOR_TEXT} characters`);
    return text;
  }

  /** The JSON with escapes, because base64 then has no `+` and no `/`, and with a length of whole triples no `=`. */
  #json(): string {
    const entries: unknown[] = [];
    for (let i = 0; i < this.#keys.length; i++) {
      const value = this.#values[i];
      entries.push(typeof value === "bigint" ? [this.#keys[i], value.toString(), BIGINT_MARK] : [this.#keys[i], value]);
    }
    let json = JSON.stringify(entries);
    if (NEEDS_ESCAPE.test(json)) json = json.replace(new RegExp(NEEDS_ESCAPE, "g"), (unit) => `\\u${hex(unit)}`);
    return json + " ".repeat((3 - (json.length % 3)) % 3);
  }

  /**
   * Decodes a text of `encode`, and no other: each cursor has one text.
   *
   * @throws {CursorError} `encoding`, or `size` beyond 16,384 characters
   */
  static decode(text: string): Cursor {
    if (typeof text !== "string") throw malformed();
    if (text.length > MAX_CURSOR_TEXT) throw new CursorError("size", `more than ${MAX_CURSOR_TEXT} characters`);
    if (text.length % 4 !== 0 || !/^[A-Za-z0-9]+$/.test(text)) throw malformed();
    const json = atob(text);
    const cursor = readEntries(parse(json));
    if (cursor.#json() !== json) throw malformed();
    return cursor;
  }

  /**
   * The values for an order of these columns.
   *
   * @throws {CursorError} `keys` unless the cursor has exactly these keys, in this sequence
   */
  values(columns: readonly OrderTerm[]): readonly Value[] {
    let same = columns.length === this.#keys.length;
    for (let i = 0; same && i < columns.length; i++) same = columns[i]?.column === this.#keys[i];
    if (!same) throw new CursorError("keys", "the cursor is of another order");
    return this.#values;
  }
}

/** The bounded length also bounds the nesting, for any engine's parser. */
function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw malformed();
  }
}

function readEntries(entries: unknown): Cursor {
  if (!Array.isArray(entries)) throw malformed();
  const cursor = new Cursor();
  for (let i = 0; i < entries.length; i++) {
    const entry: unknown = entries[i];
    if (!Array.isArray(entry)) throw malformed();
    const key = entry[0];
    const value = entry[1];
    const mark = entry[2];
    if (mark === BIGINT_MARK && typeof value === "string" && INT64.test(value)) cursor.int(key, BigInt(value));
    else if (typeof value === "string") cursor.string(key, value);
    else if (typeof value === "number") cursor.float(key, value);
    else if (typeof value === "boolean") cursor.bool(key, value);
    else if (value === null) cursor.null(key);
    else throw malformed();
  }
  return cursor;
}

function malformed(): CursorError {
  return new CursorError("encoding", "the text is not a cursor");
}

function hex(unit: string): string {
  return unit.charCodeAt(0).toString(16).padStart(4, "0");
}
