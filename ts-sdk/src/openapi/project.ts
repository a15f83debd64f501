import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { checkManifest, type Manifest, readManifest } from "./manifest.ts";

/** A package with a handler. */
export interface HandlerPackage {
  /** The absolute path. */
  readonly folder: string;
  readonly manifest: Manifest;
  /** Its handler module. */
  readonly source: string;
}

/**
 * Finds the package with a handler that contains a folder: the nearest `package.json` upwards with a `src/handler.ts`
 * beside it.
 *
 * @throws OpenApiError as {@link openPackage} does
 */
export function findPackage(folder: string): HandlerPackage | undefined {
  for (let at = resolve(folder); ; at = dirname(at)) {
    if (isHandlerPackage(at)) return openPackage(at);
    if (at === dirname(at)) return undefined;
  }
}

/** Reports whether a folder is a package with a handler. */
export function isHandlerPackage(folder: string): boolean {
  return existsSync(join(folder, "package.json")) && existsSync(sourceOf(folder));
}

/**
 * @throws OpenApiError when its `package.json` can't be read, has no name, or another type than a text where one is
 *   required
 */
export function openPackage(folder: string): HandlerPackage {
  const { content, called } = readManifest(join(folder, "package.json"));
  return { folder, manifest: checkManifest(content, called), source: sourceOf(folder) };
}

function sourceOf(folder: string): string {
  return join(folder, "src", "handler.ts");
}
