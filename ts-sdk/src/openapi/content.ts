import { isSchema } from "../schema/schema.ts";
import type { StandardSchema } from "../schema/standard.ts";
import type { Components, SchemaObject } from "./components.ts";
import { foreignSchema } from "./foreign.ts";
import { bodySchema } from "./schema.ts";

/** The schema of a JSON body: our own, or another library's. */
export function contentSchema(
  schema: StandardSchema,
  direction: "input" | "output",
  components: Components,
  at: string,
): SchemaObject {
  if (isSchema(schema)) return bodySchema(schema, components, `${at} #`);
  return foreignSchema(schema, direction, components, at);
}
