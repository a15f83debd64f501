import { type Attributes, type BoolAttributes, checkAttributes } from "./attributes.ts";
import { fail, type Parse } from "./failures.ts";
import { createSchema, type WithDefault } from "./schema.ts";

/** `true` or `false`; in a path or query exactly these two words. */
export function bool<Default extends boolean | undefined = undefined>(
  attributes: BoolAttributes<Default> = {},
): WithDefault<boolean, Default> {
  const given = attributes as Attributes;
  checkAttributes("field.bool", given, []);
  const json: Parse = (value, failures) =>
    typeof value === "boolean" ? value : fail(failures, "type", "must be true or false");
  const text: Parse = (value, failures) =>
    value === "true" ? true : value === "false" ? false : json(value, failures);
  return createSchema("field.bool", { kind: "bool", attributes: given, json, text }) as WithDefault<boolean, Default>;
}
