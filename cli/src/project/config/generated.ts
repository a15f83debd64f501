import { jsonSchema } from "./json-schema.ts";
import { configurationReference } from "./reference.ts";
import { sidecarsPage } from "./sidecar-tables.ts";

/** The committed files that are made from the table of keys, by their paths in the repository. */
export function generated(): Record<string, string> {
  return {
    "cli/tenon.schema.json": `${JSON.stringify(jsonSchema(), null, 2)}\n`,
    "docs/configuration.md": configurationReference(),
    "docs/sidecars.md": sidecarsPage(),
  };
}
