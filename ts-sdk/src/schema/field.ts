import type {
  BoolAttributes,
  EnumAttributes,
  JsonAttributes,
  NumberAttributes,
  StringAttributes,
} from "./attributes.ts";
import { bool } from "./bool.ts";
import { type EnumSchema, enumOf } from "./enum.ts";
import { type FileAttributes, type FileSchema, file } from "./file.ts";
import { type Json, json } from "./json.ts";
import { f64, i32, i64, u32 } from "./number.ts";
import type { WithDefault } from "./schema.ts";
import { string } from "./string.ts";

/** The kinds of field, each taking its attributes as one object: `field.u32({ default: 10, max: 100 })`. */
// Methods, because the type checker searches the whole file above a property for narrowing, which makes checking a file
// of many schemas quadratic.
export interface FieldKinds {
  /**
   * A text. `min` and `max` are lengths in Unicode code points, `format` is one of `email`, `uuid`, `date`, `date-time`,
   * `uri`, `ipv4`, `ipv6`.
   */
  string<Default extends string | undefined = undefined>(
    attributes?: StringAttributes<Default>,
  ): WithDefault<string, Default>;
  /** A whole number from 0 to 4294967295. `min` and `max` are inclusive bounds. */
  u32<Default extends number | undefined = undefined>(
    attributes?: NumberAttributes<Default>,
  ): WithDefault<number, Default>;
  /** A whole number from -2147483648 to 2147483647. `min` and `max` are inclusive bounds. */
  i32<Default extends number | undefined = undefined>(
    attributes?: NumberAttributes<Default>,
  ): WithDefault<number, Default>;
  /**
   * A whole number that JavaScript holds exactly, within ±9007199254740991. A number beyond is refused, not rounded.
   */
  i64<Default extends number | undefined = undefined>(
    attributes?: NumberAttributes<Default>,
  ): WithDefault<number, Default>;
  /** A finite number. `min` and `max` are inclusive bounds. */
  f64<Default extends number | undefined = undefined>(
    attributes?: NumberAttributes<Default>,
  ): WithDefault<number, Default>;
  /** `true` or `false`; in a path or query exactly these two words. */
  bool<Default extends boolean | undefined = undefined>(
    attributes?: BoolAttributes<Default>,
  ): WithDefault<boolean, Default>;
  /**
   * One of several string literals, compared exactly. Attributes may follow them: `field.enum("a", "b", { default: "a"
   * })`.
   */
  enum<const Values extends readonly string[]>(...values: Values): EnumSchema<Values[number], "required">;
  enum<const Values extends readonly string[], Default extends Values[number] | undefined = undefined>(
    ...valuesAndAttributes: [...values: Values, attributes: EnumAttributes<Default>]
  ): EnumSchema<Values[number], Default extends undefined ? "required" : "default">;
  /** Any JSON value, including `null`, also after `.optional()`. Nested values are not inspected. */
  json<Default extends Json | undefined = undefined>(attributes?: JsonAttributes<Default>): WithDefault<Json, Default>;
  /** A file of a `Form`. `max` is its maximum size in bytes, `types` the accepted media types. */
  file(attributes?: FileAttributes): FileSchema<"required">;
}

/**
 * The kinds of field, each taking its attributes as one object: `field.u32({ default: 10, max: 100 })`.
 *
 * @example
 * const NewUser = { name: field.string({ min: 1, max: 100 }), age: field.u32({ max: 150 }).optional(), role: field.enum("reader", "writer") };
 */
export const field = { string, u32, i32, i64, f64, bool, enum: enumOf, json, file } as FieldKinds;
