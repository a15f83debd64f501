import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { OpenApiError } from "./errors.ts";

/** The members of `package.json` that the document uses; others are ignored. */
export interface Manifest {
  readonly name: string;
  /** `0.0.0` by default, because OpenAPI requires a version. */
  readonly version?: string;
  readonly description?: string;
}

/**
 * @param called the manifest's name in errors
 * @throws OpenApiError naming the key that is missing or not a text
 */
export function checkManifest(manifest: object | null | undefined, called: string): Manifest {
  const { name, version, description } = (manifest ?? {}) as Record<string, unknown>;
  if (name === undefined || name === "") throw new OpenApiError(`${called} has no "name"`);
  for (const [key, value] of Object.entries({ name, version, description })) {
    if (value === undefined || typeof value === "string") continue;
    throw new OpenApiError(`${called}: "${key}" is not a text but ${JSON.stringify(value)?.slice(0, MAX_SHOWN)}`);
  }
  return manifest as Manifest;
}

/** The length at which a wrong value is cut. */
const MAX_SHOWN = 40;

/**
 * Reads a `package.json`, and returns its object and its name in errors.
 *
 * @throws OpenApiError naming the file, when it can't be read or holds no object
 */
export function readManifest(file: string): {
  readonly content: Readonly<Record<string, unknown>>;
  readonly called: string;
} {
  const called = relative(process.cwd(), file);
  let content: unknown;
  try {
    // npm ignores a byte order mark, too.
    content = JSON.parse(readFileSync(file, "utf8").replace(/^\ufeff/, ""));
  } catch (error) {
    throw new OpenApiError(`${called}: ${(error as Error).message}`);
  }
  if (typeof content !== "object" || content === null || Array.isArray(content)) {
    throw new OpenApiError(`${called} is not a JSON object`);
  }
  return { content: content as Record<string, unknown>, called };
}
