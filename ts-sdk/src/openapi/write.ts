import { writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { dialectOf, type OpenApiVersion } from "./dialects.ts";
import { OpenApiError } from "./errors.ts";
import { serialize } from "./json.ts";
import { bundle, type DocumentedApp, evaluateAny } from "./load.ts";
import type { Manifest } from "./manifest.ts";
import { findPackage, openPackage } from "./project.ts";

/** A written document. */
export interface WrittenSchema {
  /** The absolute path. */
  readonly path: string;
  readonly bytes: number;
}

/** Makes the document of the package in a folder: of its `src/handler.ts`, with the title in its `package.json`. */
export function packageJson(folder: string, version?: OpenApiVersion): string {
  const { source, manifest } = openPackage(resolve(folder));
  return moduleJson(source, manifest, version);
}

/**
 * Makes the document of a handler module, which is bundled and run. An app with its own generator writes it itself.
 *
 * @throws OpenApiError when the module can't be loaded or OpenAPI can't express it
 */
export function moduleJson(source: string, manifest: Manifest, version?: OpenApiVersion): string {
  const { openapi } = dialectOf(version);
  const { app, marked } = evaluateAny(source, bundle(source));
  if ("getOpenAPIDocument" in app) return ownDocument(app, manifest, openapi);
  return serialize(app, manifest, marked.commentsOf(app), version);
}

function ownDocument(app: DocumentedApp, { name, version, description }: Manifest, openapi: string): string {
  const info = { title: name, version: version ?? "0.0.0", ...(description === undefined ? {} : { description }) };
  try {
    const write = openapi === "3.0.0" ? app.getOpenAPIDocument : (app.getOpenAPI31Document ?? app.getOpenAPIDocument);
    return `${JSON.stringify(write.call(app, { openapi, info }), null, 2)}\n`;
  } catch (error) {
    throw new OpenApiError(`the app cannot write its OpenAPI document: ${(error as Error)?.message}`, { cause: error });
  }
}

/**
 * Writes a package's document to a file. The package is the one that contains the file, or else the working directory:
 * the nearest `package.json` upwards with a `src/handler.ts` beside it.
 *
 * @throws OpenApiError when there is no such package, or its document can't be made; the system's error of writing
 */
export function writeTo(path: string | URL): WrittenSchema {
  const file = path instanceof URL ? fileURLToPath(path) : resolve(path);
  const found = findPackage(dirname(file)) ?? findPackage(process.cwd());
  if (found === undefined) {
    throw new OpenApiError(`there is no package.json with a src/handler.ts beside it in ${dirname(file)} or above it`);
  }
  const text = packageJson(found.folder);
  writeFileSync(file, text);
  return { path: file, bytes: Buffer.byteLength(text) };
}

/**
 * Writes `openapi.json` beside the `package.json` of the package that contains a file, and prints its size. The test
 * `__sdk_write_schema` of every project calls it.
 *
 * @param file any file of the package, such as the test's own
 */
export function writeSchema(file: string): WrittenSchema {
  const found = findPackage(dirname(resolve(file)));
  if (found === undefined) throw new OpenApiError(`${file} is in no package with a src/handler.ts`);
  const written = writeTo(join(found.folder, "openapi.json"));
  process.stdout.write(`openapi.json was generated: ${written.bytes} bytes\n`);
  return written;
}
