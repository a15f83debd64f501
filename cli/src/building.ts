/**
 * The package `@tenon/build`: its own copy of this code runs the commands that build, because it finds the packages for
 * building.
 */
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { TenonError } from "./errors.ts";
import { buildPackage, commandPackage, isComplete, requireHere, requireIn, version } from "./package.ts";

/**
 * The commands that need more than serving does. `mcp` builds, too, unless it passes messages on to a server, and `replay` with a line of
 * the sources.
 */
const commands = new Set(["build", "dev", "mcp", "schema"]);

/** Runs a command line. */
export type Main = (argv: readonly string[]) => Promise<void>;

/**
 * The function that runs a command line instead of this package's own; undefined when this package can run the command.
 *
 * @throws TenonError `NO_BUILD` when `@tenon/build` is not installed, or another version of it
 */
export async function mainOf(argv: readonly string[], folder: string = process.cwd()): Promise<Main | undefined> {
  const [, , command = "", ...args] = argv;
  if (isComplete || !isBuilding(command, args)) return undefined;
  const found = buildPackageFrom(projectOf(command, args, folder));
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
      `npm install --save-dev ${commandPackage}@${found.version}, or ${buildPackage}@${version}`,
    );
  }
  const { main } = (await import(pathToFileURL(join(found.folder, "dist/main.js")).href)) as { main: Main };
  return main;
}

/** Returns true when a command line needs the package. @internal */
export function isBuilding(command: string, args: readonly string[]): boolean {
  if (command === "replay") return args.some((each) => /^--until(=|$)/.test(each));
  return commands.has(command) && !(command === "mcp" && mcpOptions(args).url !== undefined);
}

/** The folder of the project that a command line builds: a client may start `tenon mcp --project` anywhere. @internal */
export function projectOf(command: string, args: readonly string[], folder: string): string {
  const project = command === "mcp" ? mcpOptions(args).project : undefined;
  return typeof project === "string" ? resolve(folder, project) : folder;
}

function mcpOptions(args: readonly string[]) {
  const options = { project: { type: "string", short: "C" }, url: { type: "string" } } as const;
  return parseArgs({ args: [...args], options, strict: false }).values;
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
