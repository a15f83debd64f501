import type { Format } from "./formats.ts";
import { refuseUnknown } from "./unknown.ts";

/** Attributes that every field takes. */
export interface FieldAttributes {
  /** The field's meaning; the `description` in the OpenAPI document. */
  docs?: string;
  /** Marks the field as deprecated in the OpenAPI document. */
  deprecated?: boolean;
  /** An OpenAPI extension: `x_internal_id` becomes `x-internal-id`. */
  [extension: `x_${string}`]: string | boolean | number;
}

/** The attribute of a field with a rule of its own. */
export interface CheckAttribute<Value> {
  /**
   * A rule of the program's own for a value that satisfies all others: returns undefined for a valid one, else the expectation,
   * as `"must be even"`. It must not contain the value. It is not called while a component is built.
   */
  check?: (value: Value) => string | undefined;
}

/** Attributes of a field that may be absent because it has a default. */
export interface DefaultAttribute<Default> {
  /** The value of an absent field. It must satisfy the field's other attributes. */
  default?: Default;
}

/** Attributes of `field.string`. */
export interface StringAttributes<Default = string | undefined>
  extends FieldAttributes,
    DefaultAttribute<Default>,
    CheckAttribute<string> {
  /** The minimum length, in Unicode code points. */
  min?: number;
  /** The maximum length, in Unicode code points. */
  max?: number;
  /** The format of the text. */
  format?: Format;
  /** A regular expression that the text must match, such as `/^[a-z]+$/`, without the flags that JSON Schema lacks. */
  pattern?: RegExp;
}

/** Attributes of `field.u32`, `i32`, `i64` and `f64`. */
export interface NumberAttributes<Default = number | undefined>
  extends FieldAttributes,
    DefaultAttribute<Default>,
    CheckAttribute<number> {
  /** The minimum value, inclusive. */
  min?: number;
  /** The maximum value, inclusive. */
  max?: number;
}

/** Attributes of `field.bool`. */
export interface BoolAttributes<Default = boolean | undefined>
  extends FieldAttributes,
    DefaultAttribute<Default>,
    CheckAttribute<boolean> {}

/** Attributes of `field.enum`. */
export interface EnumAttributes<Default = string | undefined>
  extends FieldAttributes,
    DefaultAttribute<Default>,
    CheckAttribute<string> {}

/** Attributes of `list`. */
export interface ListAttributes<Default = readonly unknown[] | undefined>
  extends FieldAttributes,
    DefaultAttribute<Default> {
  /** The minimum number of items. */
  min?: number;
  /** The maximum number of items. */
  max?: number;
}

/** Attributes of `record`. */
export interface RecordAttributes<Default = { readonly [key: string]: unknown } | undefined>
  extends FieldAttributes,
    DefaultAttribute<Default> {
  /** The minimum number of keys. */
  min?: number;
  /** The maximum number of keys; 1,000 by default. */
  max?: number;
}

/** Attributes of `field.json`. */
export interface JsonAttributes<Default = unknown>
  extends FieldAttributes,
    DefaultAttribute<Default>,
    CheckAttribute<unknown> {}

/** The attributes of any field in a schema. */
export interface Attributes extends FieldAttributes {
  min?: number;
  max?: number;
  format?: Format;
  pattern?: RegExp;
  default?: unknown;
  check?: (value: never) => string | undefined;
}

const COMMON = ["default", "docs", "deprecated", "check"] as const;

/** Refuses unknown, mistyped and contradictory attributes; `own` lists the attributes besides the common ones. */
export function checkAttributes(
  what: string,
  attributes: Attributes,
  own: readonly ("min" | "max" | "format" | "pattern")[],
): void {
  if (typeof attributes !== "object" || attributes === null)
    throw new TypeError(`${what}: attributes must be an object`);
  refuseUnknown(what, attributes, [...own, ...COMMON], /^x_./);
  for (const [name, value] of Object.entries(attributes)) {
    const [has, expected] = TYPES[name] ?? EXTENSION;
    // `undefined` means not given.
    if (value !== undefined && !has(value)) throw new TypeError(`${what}: "${name}" must be ${expected}`);
  }
  const { min, max } = attributes;
  if (min !== undefined && max !== undefined && min > max) {
    throw new RangeError(`${what}: "min" ${min} is greater than "max" ${max}`);
  }
}

/** Refuses options of a `Type` but a rule of its own. */
export function checkObjectOptions(what: string, options: object): void {
  refuseUnknown(what, options, ["check"]);
  checkAttributes(what, options as Attributes, []);
}

/** Refuses a count that is not a whole number from 0 on. */
export function checkCounts(what: string, { min, max }: Attributes): void {
  for (const count of [min, max]) {
    if (count !== undefined && !(Number.isSafeInteger(count) && count >= 0)) {
      throw new RangeError(`${what}: "min" and "max" count, they must be whole numbers from 0 on, not ${count}`);
    }
  }
}

/** An attribute's test, and its description. */
type AttributeType = readonly [has: (value: unknown) => boolean, expected: string];

const isString = (value: unknown) => typeof value === "string";
const isBoolean = (value: unknown) => typeof value === "boolean";
const NUMBER: AttributeType = [Number.isFinite, "a finite number"];
// Checked by the kind of field, which alone knows its values.
const ANYTHING: AttributeType = [() => true, ""];
const TYPES: Readonly<Record<string, AttributeType>> = {
  min: NUMBER,
  max: NUMBER,
  docs: [isString, "a string"],
  deprecated: [isBoolean, "true or false"],
  format: ANYTHING,
  default: ANYTHING,
  check: [(value) => typeof value === "function", "a function"],
  pattern: [
    (value) => value instanceof RegExp && /^[uv]?$/.test(value.flags),
    "a regular expression without flags but u or v: JSON Schema has no others",
  ],
};
const EXTENSION: AttributeType = [
  (value) => isString(value) || isBoolean(value) || Number.isFinite(value),
  "a string, a boolean or a finite number",
];
