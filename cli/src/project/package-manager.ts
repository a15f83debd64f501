/** The package manager that runs this program. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

/** A package manager whose commands `tenon new` prints. */
export type PackageManager = "npm" | "pnpm";

/** The file that makes a folder the root of a pnpm workspace, and that has pnpm's settings. */
export const pnpmWorkspaceFile = "pnpm-workspace.yaml";

/** The package manager that runs this process, as in `pnpm dlx tenon new`; npm unless it is pnpm. */
export function packageManager(environment: NodeJS.ProcessEnv = process.env): PackageManager {
  return environment["npm_config_user_agent"]?.startsWith("pnpm/") ? "pnpm" : "npm";
}

/** Reports whether a folder, which may not be there yet, is in a pnpm workspace, whose root has the settings. */
export function isInPnpmWorkspace(folder: string): boolean {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, pnpmWorkspaceFile))) return true;
    if (at === dirname(at)) return false;
  }
}

/** The settings with which pnpm runs the install scripts of these packages; without them it fails. */
export function pnpmSettings(packages: readonly string[]): string {
  return `allowBuilds:\n${packages.map((name) => `  ${JSON.stringify(name)}: true\n`).join("")}`;
}
