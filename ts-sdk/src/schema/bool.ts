import { type Attributes, checkAttributes } from "./attributes.ts";
import { fail, type Parse } from "./failures.ts";
import type { WriteQuick } from "./quick.ts";
import { createSchema, type Schema } from "./schema.ts";

/** Makes the schema of a boolean; its types are those of `field.bool`. */
export function bool(attributes: Attributes = {}): Schema {
  checkAttributes("field.bool", attributes, []);
  const json: Parse = (value, failures) =>
    typeof value === "boolean" ? value : fail(failures, "type", "must be true or false");
  const text: Parse = (value, failures) =>
    value === "true" ? true : value === "false" ? false : json(value, failures);
  const writeQuick: WriteQuick = (value, code, arrival) => {
    if (arrival === "text") {
      code.require(`${value}=="true"||${value}=="false"`);
      return `${value}=="true"`;
    }
    code.require(`typeof ${value}=="boolean"`);
    return value;
  };
  return createSchema("field.bool", { kind: "bool", attributes, json, text, writeQuick });
}
