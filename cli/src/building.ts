/**
 * The package `@tenon/build`: its own copy of this code runs the commands that build, because it finds the packages for
 * building.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { TenonError } from "./errors.ts";
import { buildPackage, isComplete, requireHere, requireIn, version } from "./package.ts";

/** The commands that need more than serving does. */
const commands = new Set(["build", "dev", "schema"]);

/** Runs a command line. */
export type Main = (argv: readonly string[]) => Promise<void>;

/**
 * The function that runs a command line instead of this package's own; undefined when this package can run the command.
 *
 * @throws TenonError `NO_BUILD` when `@tenon/build` is not installed, or another version of it
 */
export async function mainOf(argv: readonly string[], folder: string = process.cwd()): Promise<Main | undefined> {
  const [, , command = ""] = argv;
  if (!commands.has(command) || isComplete) return undefined;
  const found = buildPackageFrom(folder);
  if (found === undefined) {
    throw new TenonError(
      "NO_BUILD",
      `\`tenon ${command}\` needs the package ${buildPackage}, which is not installed`,
      `npm install --save-dev ${buildPackage}@${version}`,
    );
  }
  if (found.version !== version) {
    throw new TenonError(
      "NO_BUILD",
      `${buildPackage} ${found.version} is installed, and this is tenon ${version}`,
      `npm install --save-dev tenon@${found.version}, or ${buildPackage}@${version}`,
    );
  }
  const { main } = (await import(pathToFileURL(join(found.folder, "dist/main.js")).href)) as { main: Main };
  return main;
}

/** Finds the package beside this one, or in the project of a folder. */
export function buildPackageFrom(folder: string): { readonly folder: string; readonly version: string } | undefined {
  for (const require of [requireHere, requireIn(folder)]) {
    for (const modules of require.resolve.paths(buildPackage) ?? []) {
      const at = join(modules, buildPackage);
      if (!existsSync(join(at, "dist/main.js"))) continue;
      const { version } = JSON.parse(readFileSync(join(at, "package.json"), "utf8")) as { version: string };
      return { folder: at, version };
    }
  }
  return undefined;
}
