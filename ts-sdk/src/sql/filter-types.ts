/** The static types of filters. The same rules are checked at run time, because filters also come from users. */
import type { Value } from "./value.ts";

type Letter =
  | ("a" | "b" | "c" | "d" | "e" | "f" | "g" | "h" | "i" | "j" | "k" | "l" | "m" | "n" | "o" | "p" | "q" | "r" | "s")
  | ("t" | "u" | "v" | "w" | "x" | "y" | "z" | "_");

/**
 * A row of a table with unknown columns: any column, any value. Its index is not `string`, so that the compiler
 * distinguishes `$` operators from columns.
 */
export type AnyRow = { readonly [Column in `${Letter | Uppercase<Letter>}${string}`]: Value };

/** The columns of a row. */
export type ColumnOf<Row> = keyof AnyRow extends keyof Row ? string : Extract<keyof Row, string>;

/** The columns of a row with single values, which can be compared and stored. */
type ScalarColumns<Row> = {
  readonly [Column in keyof Row as Exclude<Row[Column], undefined> extends Value ? Column : never]: Row[Column];
};

/** A column's values except NULL. A bigint may stand for any integer. */
type Known<C> = Widened<Exclude<C, null | undefined>>;
type Widened<C> = C extends number ? C | bigint : C;

/** The values that a column can be compared with: `null` if its field is optional or nullable. */
export type Comparable<C> = null extends C ? Known<C> | null : undefined extends C ? Known<C> | null : Known<C>;

/** The operators of a column. */
export type Operators<C> = GeneralOperators<C> & (Extract<C, string> extends never ? unknown : TextOperators);

/** The operators that every column has. */
export interface GeneralOperators<C> {
  readonly $eq?: Comparable<C>;
  readonly $ne?: Comparable<C>;
  readonly $gt?: Known<C>;
  readonly $gte?: Known<C>;
  readonly $lt?: Known<C>;
  readonly $lte?: Known<C>;
  readonly $in?: readonly Comparable<C>[];
  readonly $nin?: readonly Comparable<C>[];
  readonly $between?: readonly [low: Known<C>, high: Known<C>];
}

/** The operators of a text column. */
export interface TextOperators {
  readonly $like?: string;
  readonly $ilike?: string;
  readonly $starts_with?: string;
  readonly $ends_with?: string;
  readonly $contains?: string;
  readonly $regex?: string;
}

/** The operators that join filters. */
export interface LogicalOperators<Row> {
  readonly $and?: readonly Filter<Row>[];
  readonly $or?: readonly Filter<Row>[];
  readonly $not?: Filter<Row>;
}

/** A filter on a row's columns, joined by AND in the order written: `{ active: true, age: { $gte: 18, $lt: 65 } }`. */
export type Filter<Row = AnyRow> = Conditions<ScalarColumns<Row>> & LogicalOperators<Row>;

/**
 * Arguments of a statement on unknown columns whose filter `F` is an interface. An interface has no implicit index
 * signature, so {@link Filter} does not take it. Other types are refused here, because {@link Filter} checks them.
 * `D` makes two type parameters, so that a call with a row as its only type argument is not one of these.
 */
export type InterfaceCall<Options, F, D> =
  | [table: string, options: InterfaceOptions<Options, F>]
  | [dialect: D, table: string, options: InterfaceOptions<Options, F>];

type InterfaceOptions<Options, F> = Omit<Options, "filter"> & { readonly filter: F & InterfaceFilter<F> };

type InterfaceFilter<F> = F extends { readonly [name: string]: unknown } ? never : CheckedFilter<F>;

/** Reports whether a type has properties to check: lists, functions and `object` have none. */
type HasProperties<T> = T extends readonly unknown[] | ((...args: never[]) => unknown)
  ? false
  : keyof T extends never
    ? false
    : true;

/** A filter whose properties are checked one by one: an unknown operator or a wrong value has the type `never`. */
type CheckedFilter<F> = F extends object ? (HasProperties<F> extends true ? CheckedProperties<F> : never) : never;

type CheckedProperties<F> = {
  readonly [Name in keyof F]: Name extends "$and" | "$or"
    ? CheckedList<F[Name]>
    : Name extends "$not"
      ? CheckedFilter<F[Name]>
      : Name extends keyof AnyRow
        ? CheckedCondition<F[Name]>
        : never;
};

type CheckedList<T> = T extends readonly (infer Item)[] ? readonly CheckedFilter<Item>[] : never;

type CheckedCondition<C> = C extends Value
  ? C
  : C extends object
    ? HasProperties<C> extends true
      ? { readonly [Name in keyof C]: Name extends keyof Operators<Value> ? Operators<Value>[Name] : never }
      : never
    : never;

/** The values that a column can be set to. */
export type Assignments<Row> = Stored<ScalarColumns<Row>>;

// An optional index would accept `undefined`, so the columns of AnyRow, which has only an index, are not optional.
type IsOpen<Row> = keyof AnyRow extends keyof Row ? true : false;

type Conditions<Row> =
  IsOpen<Row> extends true
    ? { readonly [Column in keyof Row]: Condition<Row[Column]> }
    : { readonly [Column in keyof Row]?: Condition<Row[Column]> };

type Condition<C> = Comparable<C> | Operators<C>;

type Stored<Row> =
  IsOpen<Row> extends true
    ? { readonly [Column in keyof Row]: Comparable<Row[Column]> }
    : { readonly [Column in keyof Row]?: Comparable<Row[Column]> };
