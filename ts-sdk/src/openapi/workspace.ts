import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { readManifest } from "./manifest.ts";
import { ofBuild } from "./of-build.ts";
import { pnpmPackages } from "./pnpm-workspace.ts";

/**
 * The packages of the workspace that contains a folder: the folders with a `package.json` that its root names, sorted,
 * the root itself first. The root has a `package.json` with `workspaces` (npm, Yarn, Bun) or a `pnpm-workspace.yaml`
 * with `packages`. The list is empty outside a workspace.
 *
 * @throws OpenApiError when a `package.json` on the way is not a JSON object
 */
export function workspaceFolders(folder: string): string[] {
  for (let at = resolve(folder); ; at = dirname(at)) {
    const patterns = workspacePatterns(join(at, "package.json")) ?? pnpmPatterns(join(at, "pnpm-workspace.yaml"));
    if (patterns !== undefined) return [at, ...members(at, patterns)];
    if (at === dirname(at)) return [];
  }
}

function workspacePatterns(file: string): readonly string[] | undefined {
  if (!existsSync(file)) return undefined;
  const { workspaces } = readManifest(file).content as { workspaces?: { packages?: unknown } };
  const patterns = Array.isArray(workspaces) ? workspaces : workspaces?.packages;
  return Array.isArray(patterns) ? patterns.filter((pattern) => typeof pattern === "string") : undefined;
}

function pnpmPatterns(file: string): readonly string[] | undefined {
  return existsSync(file) ? pnpmPackages(readFileSync(file, "utf8").replace(/^\ufeff/, "")) : undefined;
}

function members(root: string, patterns: readonly string[]): string[] {
  const files = patterns.map((pattern) => {
    const [, not = "", path = ""] = /^(!?)(.*?)\/*$/.exec(pattern) ?? [];
    return `${not}${path}/package.json`;
  });
  const found = ofBuild("tinyglobby").globSync(files, {
    cwd: root,
    absolute: true,
    ignore: ["**/node_modules/**"],
    expandDirectories: false,
  });
  return found.map((file) => resolve(dirname(file))).sort();
}
