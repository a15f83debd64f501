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

/** Reports whether a body has to be sent: another library's schema takes `undefined` for a body that is absent. */
export function isRequired(schema: StandardSchema): boolean {
  if (isSchema(schema)) return schema.presence === "required";
  // Zod would run checks that are asynchronous, and nobody would await them.
  const { _zod: zod } = schema as { readonly _zod?: { readonly optin?: string } };
  if (zod !== undefined) return zod.optin === undefined;
  try {
    const result = schema["~standard"].validate(undefined);
    if (!("then" in result)) return result.issues !== undefined;
    // Documents are made synchronously, so an asynchronous schema counts as required, whatever it answers.
    result.catch(() => {});
  } catch {
    // A schema that throws takes no absent body.
  }
  return true;
}
