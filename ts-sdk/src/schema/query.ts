import type { ListSchema } from "./list.ts";
import { createObject, type OutputOf, type QuerySchema } from "./object.ts";
import type { Schema } from "./schema.ts";

type Scalar = string | number | boolean;

/** The fields of a `Query`: single values, and lists of them. */
export type QueryFields = Readonly<Record<string, Schema<Scalar> | ListSchema<Scalar>>>;

/**
 * The keys of a route's query string: `Query("Page", { page: field.u32({ default: 1 }) })`. Text is converted to each
 * field's kind; of a repeated key the last one wins, unless the field is a list: then they fill it.
 *
 * @throws TypeError at definition: a field that is neither a single value nor a list of them.
 */
export function Query<F extends QueryFields>(name: string, fields: F): QuerySchema<OutputOf<F>> {
  const schema = createObject("Query", "query", name, fields) as unknown as QuerySchema<OutputOf<F>>;
  for (const [key, field] of Object.entries(schema.fields)) {
    const { kind } = field.kind === "list" ? (field as ListSchema).items : field;
    if (kind === "list" || kind === "object") {
      throw new TypeError(`Query ${name}: "${key}" must be a single value or a list of single values`);
    }
  }
  return schema;
}
