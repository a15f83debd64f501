import { type Attributes, checkAttributes } from "./attributes.ts";
import { fail, type Parse } from "./failures.ts";
import { createSchema, type Schema } from "./schema.ts";

/**
 * Any JSON value. Nested values are `unknown`: a recursive type would fill error messages, and would refuse an object
 * whose type is an interface.
 */
export type Json = string | number | boolean | null | readonly unknown[] | { readonly [key: string]: unknown };

/** Makes the schema of any JSON value; its types are those of `field.json`. */
export function json(attributes: Attributes = {}): Schema {
  checkAttributes("field.json", attributes, []);
  // JSON.parse made the nested values, and limited their depth, so they need no check.
  const parse: Parse = (value, failures) => (isJson(value) ? value : fail(failures, "type", "must be a JSON value"));
  return createSchema("field.json", {
    kind: "json",
    attributes,
    json: parse,
    writeQuick: (value, code) => {
      code.require(`${code.constant(isJson)}(${value})`);
      return value;
    },
    takesNull: true,
    sample: () => ({}),
  });
}

function isJson(value: unknown): boolean {
  return /^(?:string|boolean|object)$/.test(typeof value) || Number.isFinite(value);
}
