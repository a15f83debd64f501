import { existsSync, readFileSync } from "node:fs";
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
 * beside it, or the handler module that `tenon.toml` names.
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

/** Returns the handler module of a folder: `entry` in `[project]` of its `tenon.toml`, or else `src/handler.ts`. */
export function sourceOf(folder: string): string {
  const file = join(folder, "tenon.toml");
  return join(folder, (existsSync(file) && entryIn(readFileSync(file, "utf8"))) || "src/handler.ts");
}

/** The command reads this file as TOML, and reports its errors. Here, one key is looked for, as everybody writes it. */
function entryIn(text: string): string | undefined {
  const [, section] = /^[ \t]*\[[ \t]*project[ \t]*\][^\n]*\n((?:(?![ \t]*\[)[^\n]*\n?)*)/m.exec(text) ?? [];
  const [, basic, literal] = /^[ \t]*entry[ \t]*=[ \t]*(?:"([^"\\\n]*)"|'([^'\n]*)')/m.exec(section ?? "") ?? [];
  return basic ?? literal;
}
