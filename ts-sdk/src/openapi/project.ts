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
 * Opens a package. Its name is that of `[project]` in its `tenon.toml` when its `package.json` has none, which npm allows.
 *
 * @throws OpenApiError when its `package.json` can't be read, or has another type than a text where one is required, or when there is
 *   no name in either file
 */
export function openPackage(folder: string): HandlerPackage {
  const { content, called } = readManifest(join(folder, "package.json"));
  const name = content["name"] || projectSetting(folder, "name");
  const manifest = name === undefined ? content : { ...content, name };
  return { folder, manifest: checkManifest(manifest, called), source: sourceOf(folder) };
}

/** Returns the handler module of a folder: `entry` in `[project]` of its `tenon.toml`, or else `src/handler.ts`. */
export function sourceOf(folder: string): string {
  return join(folder, projectSetting(folder, "entry") || "src/handler.ts");
}

/**
 * A text in `[project]` of a folder's `tenon.toml`. The command reads this file as TOML, and reports its errors. Here, one key is looked
 * for, as everybody writes it.
 */
function projectSetting(folder: string, key: "name" | "entry"): string | undefined {
  const file = join(folder, "tenon.toml");
  if (!existsSync(file)) return undefined;
  const text = readFileSync(file, "utf8");
  const [, section] = /^[ \t]*\[[ \t]*project[ \t]*\][^\n]*\n((?:(?![ \t]*\[)[^\n]*\n?)*)/m.exec(text) ?? [];
  const lines = (section ?? "").matchAll(/^[ \t]*(\w+)[ \t]*=[ \t]*(?:"([^"\\\n]*)"|'([^'\n]*)')/gm);
  const [, , basic, literal] = [...lines].find(([, each]) => each === key) ?? [];
  return basic ?? literal;
}
