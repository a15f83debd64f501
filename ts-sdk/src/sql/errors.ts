/**
 * The three errors of this module, and no others: every refusal is one of them, so a handler can map `FilterError` and
 * `CursorError` (the caller's input) to 400 and leave `SqlError` (the handler's own code) to 500.
 *
 * None of them contains a value, in its message or elsewhere, because readers of error bodies and logs may not be
 * allowed to see it.
 */

/** The limit of UTF-16 units of users' field names in messages. */
const MAX_SHOWN_NAME = 64;

/** The reason for refusing a filter. */
export type FilterErrorCode =
  /** not an object of fields, an empty `$and`/`$or`/`$not`, or no operator on a field */
  | "shape"
  /** the field is not in `allow`, or is not an identifier */
  | "field"
  /** the operator is unknown, denied, or not available in the dialect */
  | "operator"
  /** the operator does not accept this kind of value */
  | "value"
  /** `undefined` where a value belongs: it would otherwise silently drop a condition */
  | "undefined"
  /** more `$and`/`$or`/`$not` levels than `maxDepth` */
  | "depth"
  /** more conditions than `maxConditions` */
  | "conditions"
  /** more elements in a list than `maxList` */
  | "list"
  /** more values in a merged filter than the rest of the statement leaves of the database's parameters */
  | "params"
  /** the text is not JSON, or repeats a key */
  | "json"
  /** the text is too long or too deeply nested to be parsed */
  | "size";

/** A filter, trusted or from a user, was refused. */
export class FilterError extends Error {
  readonly code: FilterErrorCode;
  /** The field concerned, cut to 64 UTF-16 units, where there is one. */
  readonly field: string | undefined;
  /** The operator concerned, cut likewise, where there is one. */
  readonly operator: string | undefined;

  constructor(code: FilterErrorCode, reason: string, field?: string, operator?: string) {
    const where = [field, operator].filter((name) => name !== undefined).map(quoteName);
    super(where.length > 0 ? `${where.join(" ")}: ${reason}` : reason);
    this.name = "FilterError";
    this.code = code;
    this.field = field === undefined ? undefined : cutName(field);
    this.operator = operator === undefined ? undefined : cutName(operator);
  }
}

/** The reason for refusing a cursor. */
export type CursorErrorCode =
  /** not a text from `Cursor.encode` */
  | "encoding"
  /** longer than a cursor may be */
  | "size"
  /** its keys are not those of `order`, in that order, or one occurs twice */
  | "keys"
  /** a key's value cannot be in a cursor, or not be compared by the dialect */
  | "value";

/** A cursor was refused. */
export class CursorError extends Error {
  readonly code: CursorErrorCode;
  /** The key concerned, cut to 64 UTF-16 units, where there is one. */
  readonly field: string | undefined;

  constructor(code: CursorErrorCode, reason: string, field?: string) {
    super(field === undefined ? reason : `${quoteName(field)}: ${reason}`);
    this.name = "CursorError";
    this.code = code;
    this.field = field === undefined ? undefined : cutName(field);
  }
}

/** The reason for refusing a statement. */
export type SqlErrorCode =
  /** an invalid name */
  | "identifier"
  /** an option that is unknown, of a wrong type, or not allowed with another one */
  | "option"
  /** `sqlUpdate` or `sqlDelete` without a filter */
  | "filter"
  /** a value that cannot be a parameter, or that a hint (`str`, `int`, `bool`, `float`) cannot convert */
  | "value"
  /** more parameters than the database takes in one statement */
  | "params";

/** An invalid call of a statement's function. */
export class SqlError extends Error {
  readonly code: SqlErrorCode;
  /** The identifier, column or option concerned, cut to 64 UTF-16 units, where there is one. */
  readonly field: string | undefined;

  constructor(code: SqlErrorCode, reason: string, field?: string) {
    super(field === undefined ? reason : `${quoteName(field)}: ${reason}`);
    this.name = "SqlError";
    this.code = code;
    this.field = field === undefined ? undefined : cutName(field);
  }
}

function cutName(name: string): string {
  return name.length > MAX_SHOWN_NAME ? `${name.slice(0, MAX_SHOWN_NAME)}…` : name;
}

/** JSON quoting keeps control characters and line ends of a user's field name out of logs. */
function quoteName(name: string): string {
  return JSON.stringify(cutName(name));
}
