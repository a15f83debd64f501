import { type Attributes, checkAttributes } from "./attributes.ts";
import { fail, type Parse } from "./failures.ts";
import type { WriteQuick } from "./quick.ts";
import { createSchema, type Optional, type Presence, type Schema } from "./schema.ts";

/** A schema of string literals. */
export interface EnumSchema<out Value extends string = string, out P extends Presence = Presence>
  extends Schema<Value, P> {
  readonly kind: "enum";
  /** The literals, in the order given. */
  readonly values: readonly Value[];
  optional(): EnumSchema<Value, Optional<P>>;
}

/** Makes the schema of string literals, which attributes may follow; its types are those of `field.enum`. */
export function enumOf(...args: (string | Attributes)[]): Schema {
  const last = args.at(-1);
  const attributes = typeof last === "object" && last !== null ? last : {};
  const values = attributes === last ? args.slice(0, -1) : args;
  checkAttributes("field.enum", attributes, []);
  const known = new Set<unknown>(values);
  if (values.length === 0 || known.size < values.length || values.some((value) => typeof value !== "string")) {
    throw new TypeError("field.enum: it must have one or more different texts");
  }
  const expected = `must be one of ${values.map((value) => JSON.stringify(value)).join(", ")}`;
  const json: Parse = (value, failures) => {
    if (known.has(value)) return value;
    return fail(failures, typeof value === "string" ? "enum" : "type", expected);
  };
  const writeQuick: WriteQuick = (value, code) => {
    code.require(`${code.constant(known)}.has(${value})`);
    return value;
  };
  const extra = { values: Object.freeze(values) };
  return createSchema("field.enum", { kind: "enum", attributes, json, writeQuick, extra });
}
