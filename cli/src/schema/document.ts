/** Writes and checks a package's OpenAPI document. */
import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { setImmediate } from "node:timers/promises";
import { types } from "node:util";
import { moduleJson, OpenApiError, type OpenApiVersion, packageJson, sourceOf } from "@tenon/sdk/openapi";
import { TenonError } from "../errors.ts";
import type { Project } from "../project/project.ts";

/** File of a package's document, beside its `package.json`. */
export const schemaFile = "openapi.json";

/**
 * Returns the OpenAPI document of a project as JSON text. Its title comes from the project's `package.json`, or from
 * its `tenon.toml` if that is missing.
 *
 * @throws TenonError `SCHEMA` when the handler module can't be loaded, or OpenAPI can't express it
 */
export async function documentFor({ folder, source, config }: Project): Promise<string> {
  const end = setVariables(config.env);
  try {
    if (existsSync(join(folder, "package.json"))) return packageDocument(folder);
    const { name, version } = config.project;
    return asTenonError(() => moduleJson(source, { name, ...(version === undefined ? {} : { version }) }));
  } finally {
    end();
  }
}

/** Gives top levels the variables of `[env]`, as a build does. Returns a function that ends it. */
export function setVariables(variables: Readonly<Record<string, string>>): () => void {
  const before = { ...process.env };
  Object.assign(process.env, variables);
  return () => {
    for (const name of Object.keys(variables)) {
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
    }
  };
}

/** Returns the OpenAPI document of the package in a folder; throws like {@link documentFor}. */
function packageDocument(folder: string, version?: OpenApiVersion): string {
  return asTenonError(() => packageJson(folder, version));
}

/**
 * Does what {@link packageDocument} does, and refuses a top level that leaves a promise rejected, as a build does. Node would end
 * the process with its stack.
 */
export function handledDocument(folder: string, version?: OpenApiVersion): Promise<string> {
  return refuseRejections(sourceOf(folder), () => packageDocument(folder, version));
}

/** Runs a handler module, and refuses one whose top level leaves a promise rejected. */
export async function refuseRejections<T>(source: string, run: () => T): Promise<T> {
  const reasons: unknown[] = [];
  const note = (reason: unknown) => reasons.push(reason);
  process.on("unhandledRejection", note);
  try {
    const result = run();
    // Node reports rejections once the queue of promise jobs is empty.
    await setImmediate();
    if (reasons.length === 0) return result;
    const [reason] = reasons;
    const file = relative(process.cwd(), source);
    const said = types.isNativeError(reason) ? reason.message : String(reason);
    throw new TenonError(
      "SCHEMA",
      `${file}: the module's top level failed: it rejects a promise that nobody handles: ${said}`,
    );
  } finally {
    process.off("unhandledRejection", note);
  }
}

/** Runs code that reads or describes a package, and converts its errors to a TenonError `SCHEMA`. */
export function asTenonError<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof OpenApiError) throw new TenonError("SCHEMA", error.message, undefined, error);
    throw error;
  }
}
