import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { OpenApiError } from "./errors.ts";

/** What the document takes from `package.json`; other keys are ignored. */
export interface Manifest {
  readonly name: string;
  /** `0.0.0` when there is none: OpenAPI wants one. */
  readonly version?: string;
  readonly description?: string;
}

/**
 * @param called what errors call the manifest
 * @throws OpenApiError naming the key that is missing or no text
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

/** How much of a wrong value is shown. */
const MAX_SHOWN = 40;

/**
 * The object that a `package.json` holds, and what errors call that file.
 *
 * @throws OpenApiError naming the file, when it can't be read or holds something else
 */
export function readManifest(file: string): {
  readonly content: Readonly<Record<string, unknown>>;
  readonly called: string;
} {
  const called = relative(process.cwd(), file);
  let content: unknown;
  try {
    // As npm has it, a byte order mark is no part of it.
    content = JSON.parse(readFileSync(file, "utf8").replace(/^\ufeff/, ""));
  } catch (error) {
    throw new OpenApiError(`${called}: ${(error as Error).message}`);
  }
  if (typeof content !== "object" || content === null || Array.isArray(content)) {
    throw new OpenApiError(`${called} is no JSON object`);
  }
  return { content: content as Record<string, unknown>, called };
}
