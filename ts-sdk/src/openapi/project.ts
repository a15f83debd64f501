import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { OpenApiError } from "./errors.ts";
import type { Manifest } from "./manifest.ts";

/** A package with a handler. */
export interface HandlerPackage {
  /** Absolute. */
  readonly folder: string;
  readonly manifest: Manifest;
  /** Its handler module. */
  readonly source: string;
}

/** The package with a handler that a folder is in: the nearest `package.json` upwards with a `src/handler.ts` beside it. */
export function findPackage(folder: string): HandlerPackage | undefined {
  for (let at = resolve(folder); ; at = dirname(at)) {
    if (isHandlerPackage(at)) return openPackage(at);
    if (at === dirname(at)) return undefined;
  }
}

/** Whether a folder is a package with a handler. */
export function isHandlerPackage(folder: string): boolean {
  return existsSync(join(folder, "package.json")) && existsSync(sourceOf(folder));
}

/** @throws OpenApiError when its `package.json` can't be read, or has no name */
export function openPackage(folder: string): HandlerPackage {
  const file = join(folder, "package.json");
  let manifest: Partial<Manifest>;
  try {
    manifest = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new OpenApiError(`${relative(process.cwd(), file)}: ${(error as Error).message}`);
  }
  const { name } = manifest;
  if (typeof name !== "string") throw new OpenApiError(`${relative(process.cwd(), file)} has no "name"`);
  return { folder, manifest: { ...manifest, name }, source: sourceOf(folder) };
}

function sourceOf(folder: string): string {
  return join(folder, "src", "handler.ts");
}
