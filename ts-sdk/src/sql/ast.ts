/**
 * Statements and conditions as plain nodes. The readers (`filter.ts`, `keyset.ts`, one file for each statement) make
 * them, and only the printer (`print.ts`) writes SQL. Names in nodes are unchecked: the printer checks each as it
 * writes it.
 */
import type { Value } from "./value.ts";

/** One value that is used in several places, as one parameter. The printer compares identities. */
export interface Shared {
  readonly shared: Value;
}

/** The right side of a comparison. */
export type Operand = Value | Shared;

/** The comparisons that both databases write the same. */
export type Comparison = "=" | "!=" | ">" | ">=" | "<" | "<=";

/** A condition of WHERE. */
export type Condition =
  | CompareNode
  | RowCompareNode
  | NullNode
  | ListNode
  | BetweenNode
  | LikeNode
  | RegexNode
  | GroupNode
  | NotNode
  | ConstantNode;

/** `column op value` */
export interface CompareNode {
  readonly kind: "compare";
  readonly column: string;
  readonly op: Comparison;
  readonly value: Operand;
}

/** `(a, b) op (x, y)`: compared column by column from the left. */
export interface RowCompareNode {
  readonly kind: "row";
  readonly columns: readonly string[];
  readonly op: ">" | "<";
  readonly values: readonly Operand[];
}

/** `column IS [NOT] NULL` */
export interface NullNode {
  readonly kind: "null";
  readonly column: string;
  readonly negated: boolean;
}

/** `column [NOT] IN (…)`; the list is never empty. */
export interface ListNode {
  readonly kind: "list";
  readonly column: string;
  readonly negated: boolean;
  readonly values: readonly Value[];
}

/** `column BETWEEN low AND high` */
export interface BetweenNode {
  readonly kind: "between";
  readonly column: string;
  readonly low: Value;
  readonly high: Value;
}

/** `column LIKE pattern`; `escaped` when the pattern has `\` in front of literal characters. */
export interface LikeNode {
  readonly kind: "like";
  readonly column: string;
  readonly pattern: string;
  readonly insensitive: boolean;
  readonly escaped: boolean;
}

/** `column ~ pattern` */
export interface RegexNode {
  readonly kind: "regex";
  readonly column: string;
  readonly pattern: string;
}

/**
 * Joined conditions. `and` and `or` are the written `$and` and `$or`, and put every item in parentheses; `all` (fields
 * side by side) and `any` (a keyset's alternatives) add them only where needed.
 */
export interface GroupNode {
  readonly kind: "and" | "or" | "all" | "any";
  readonly items: readonly Condition[];
}

/** `NOT (…)` */
export interface NotNode {
  readonly kind: "not";
  readonly item: Condition;
}

/** A condition that holds for every row, or for none. */
export interface ConstantNode {
  readonly kind: "constant";
  readonly holds: boolean;
}

/** One term of ORDER BY. */
export interface OrderTerm {
  readonly column: string;
  readonly descending: boolean;
  /** The place of NULLs, where the database's own is not meant. */
  readonly nulls?: "FIRST" | "LAST";
}

/** A column and its new value. */
export interface Assignment {
  readonly column: string;
  readonly value: Value;
}

/** A statement for the printer. */
export type StatementNode = SelectNode | CountNode | InsertNode | UpdateNode | DeleteNode;

/** SELECT; no columns mean `*`. */
export interface SelectNode {
  readonly kind: "select";
  readonly table: string;
  readonly columns: readonly string[];
  readonly where: Condition | undefined;
  readonly order: readonly OrderTerm[];
  readonly limit: number | undefined;
  readonly offset: number | undefined;
}

/** SELECT COUNT(*); no condition means every row. */
export interface CountNode {
  readonly kind: "count";
  readonly table: string;
  readonly where: Condition | undefined;
}

/** INSERT of rows with a value for each column; no columns mean one row of defaults. */
export interface InsertNode {
  readonly kind: "insert";
  readonly table: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Value[])[];
  readonly conflict: ConflictNode | undefined;
  readonly returning: readonly string[];
}

/** ON CONFLICT: DO UPDATE with the set or excluded columns; DO NOTHING when both are empty. */
export interface ConflictNode {
  /** The columns of the unique index; none mean any index. */
  readonly columns: readonly string[];
  readonly set: readonly Assignment[];
  /** Columns that take the value of the row to be inserted. */
  readonly excluded: readonly string[];
}

/** UPDATE; no condition means every row, which only `filter: all` makes. */
export interface UpdateNode {
  readonly kind: "update";
  readonly table: string;
  readonly assignments: readonly Assignment[];
  readonly where: Condition | undefined;
  readonly returning: readonly string[];
}

/** DELETE; no condition means every row, which only `filter: all` makes. */
export interface DeleteNode {
  readonly kind: "delete";
  readonly table: string;
  readonly where: Condition | undefined;
  readonly returning: readonly string[];
}
