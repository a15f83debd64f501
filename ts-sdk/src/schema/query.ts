import { type Attributes, type CheckAttribute, checkObjectOptions } from "./attributes.ts";
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
 * @param options `check` is a rule of the program's own for all keys together: returns undefined, or the expectation
 * @example
 * const Page = Query("Page", { page: field.u32({ default: 1 }), limit: field.u32({ default: 10, max: 100 }) });
 * @throws TypeError at definition: for a field that is neither a single value nor a list of them, and an invalid option.
 */
export function Query<F extends QueryFields>(
  name: string,
  fields: F,
  options?: CheckAttribute<OutputOf<F>>,
): QuerySchema<OutputOf<F>, DefaultKey<F>> {
  if (options) checkObjectOptions(`Query ${name}`, options);
  return createObject("Query", "query", name, fields, options as unknown as Attributes) as never;
}
