import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { globSync } from "tinyglobby";
import { OpenApiError } from "./errors.ts";

/**
 * The packages of the npm workspace that a folder is in: the folders with a `package.json` that its root names, sorted, the
 * root itself first. None outside of any workspace.
 *
 * @throws OpenApiError when a `package.json` on the way is no JSON
 */
export function workspaceFolders(folder: string): string[] {
  for (let at = resolve(folder); ; at = dirname(at)) {
    const patterns = workspacePatterns(join(at, "package.json"));
    if (patterns !== undefined) return [at, ...members(at, patterns)];
    if (at === dirname(at)) return [];
  }
}

function workspacePatterns(file: string): readonly string[] | undefined {
  if (!existsSync(file)) return undefined;
  try {
    const { workspaces } = JSON.parse(readFileSync(file, "utf8")) as { workspaces?: unknown };
    if (Array.isArray(workspaces)) return workspaces.filter((pattern) => typeof pattern === "string");
    return (workspaces as { packages?: string[] } | undefined)?.packages;
  } catch (error) {
    throw new OpenApiError(`${relative(process.cwd(), file)}: ${(error as Error).message}`);
  }
}

function members(root: string, patterns: readonly string[]): string[] {
  const files = patterns.map((pattern) => {
    const [, not = "", path = ""] = /^(!?)(.*?)\/*$/.exec(pattern) ?? [];
    return `${not}${path}/package.json`;
  });
  const found = globSync(files, {
    cwd: root,
    absolute: true,
    ignore: ["**/node_modules/**"],
    expandDirectories: false,
  });
  return found.map((file) => resolve(dirname(file))).sort();
}
