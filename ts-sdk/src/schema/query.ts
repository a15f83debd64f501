import type { ListSchema } from "./list.ts";
import type { DefaultKey, OutputOf, QuerySchema } from "./object.ts";
import { createObject, type Schema } from "./schema.ts";

type Scalar = string | number | boolean;

/** The fields of a `Query`: single values, and lists of them. */
export type QueryFields = Readonly<Record<string, Schema<Scalar> | ListSchema<Scalar>>>;

/**
 * The keys of a route's query string: `Query("Page", { page: field.u32({ default: 1 }) })`. Text is converted to each
 * field's kind. A repeated key fills a list; for any other field its last value wins.
 *
 * @throws TypeError at definition: for a field that is neither a single value nor a list of them.
 */
export function Query<F extends QueryFields>(name: string, fields: F): QuerySchema<OutputOf<F>, DefaultKey<F>> {
  return createObject("Query", "query", name, fields) as never;
}
