import type { OpenApiDialect } from "./dialect.ts";
import { openapi30 } from "./dialect-3.0.ts";
import { openapi31 } from "./dialect-3.1.ts";
import { OpenApiError } from "./errors.ts";

/** A version of OpenAPI that documents are written for. */
export type OpenApiVersion = "3.0" | "3.1";

/** The version of documents by default. */
export const DEFAULT_VERSION: OpenApiVersion = "3.0";

const DIALECTS: ReadonlyMap<string, OpenApiDialect> = new Map([
  ["3.0", openapi30],
  ["3.1", openapi31],
]);

/** The versions that documents can be written for. */
export const openApiVersions = [...DIALECTS.keys()] as readonly OpenApiVersion[];

/** Finds a dialect. @throws OpenApiError listing the versions when there is no such version */
export function dialectOf(version: OpenApiVersion = DEFAULT_VERSION): OpenApiDialect {
  const dialect = DIALECTS.get(version);
  if (dialect) return dialect;
  throw new OpenApiError(`documents are written for OpenAPI ${openApiVersions.join(" or ")}, not ${version}`);
}
