import { type Attributes, checkAttributes, type EnumAttributes } from "./attributes.ts";
import { fail, type Parse } from "./failures.ts";
import { createSchema, type Optional, type Presence, type Schema } from "./schema.ts";

/** A schema of a few words. */
export interface EnumSchema<out Value extends string = string, out P extends Presence = Presence>
  extends Schema<Value, P> {
  readonly kind: "enum";
  /** The words, in the order given. */
  readonly values: readonly Value[];
  optional(): EnumSchema<Value, Optional<P>>;
}

/** One of a few words, compared exactly. Attributes may follow the words: `field.enum("a", "b", { default: "a" })`. */
export function oneOf<const Value extends string>(...values: Value[]): EnumSchema<Value, "required">;
export function oneOf<const Value extends string, Default extends string | undefined = undefined>(
  ...valuesAndAttributes: [...values: Value[], attributes: EnumAttributes<Default & (Value | undefined)>]
): EnumSchema<Value, Default extends undefined ? "required" : "default">;
export function oneOf(...args: (string | Attributes)[]): Schema {
  const last = args.at(-1);
  const attributes = typeof last === "object" && last !== null ? last : {};
  const values = attributes === last ? args.slice(0, -1) : args;
  checkAttributes("field.enum", attributes, []);
  const known = new Set<unknown>(values);
  if (values.length === 0 || known.size < values.length || values.some((value) => typeof value !== "string")) {
    throw new TypeError("field.enum: takes one or more different texts");
  }
  const expected = `must be one of ${values.map((value) => JSON.stringify(value)).join(", ")}`;
  const json: Parse = (value, failures) => {
    if (known.has(value)) return value;
    return fail(failures, typeof value === "string" ? "enum" : "type", expected);
  };
  return createSchema("field.enum", { kind: "enum", attributes, json, extra: { values: Object.freeze(values) } });
}
