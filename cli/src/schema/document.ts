import { existsSync } from "node:fs";
import { join } from "node:path";
import { moduleJson, OpenApiError, packageJson } from "@tenon/sdk/openapi";
import { TenonError } from "../errors.ts";
import type { Project } from "../project/project.ts";

/** The file that a package's document is in, beside its `package.json`. */
export const schemaFile = "openapi.json";

/**
 * The OpenAPI document of a project, as JSON text. It is titled by the project's `package.json`, and by its `tenon.toml`
 * where there is none.
 *
 * @throws TenonError `SCHEMA` when the handler module can't be loaded, or OpenAPI 3.0 can't express it
 */
export async function documentFor({ folder, source, config }: Project): Promise<string> {
  if (existsSync(join(folder, "package.json"))) return packageDocument(folder);
  const { name, version } = config.project;
  return asTenonError(() => moduleJson(source, { name, ...(version === undefined ? {} : { version }) }));
}

/** The OpenAPI document of the package in a folder; throws as {@link documentFor} does. */
export function packageDocument(folder: string): string {
  return asTenonError(() => packageJson(folder));
}

/** Runs what reads or describes a package; what can't be read or described becomes a TenonError `SCHEMA`. */
export function asTenonError<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof OpenApiError) throw new TenonError("SCHEMA", error.message, undefined, error);
    throw error;
  }
}
