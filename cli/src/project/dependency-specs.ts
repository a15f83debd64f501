/** The versions of packages that a new project depends on. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve, sep } from "node:path";
import { buildPackage, commandPackage, packageFolder, version } from "../package.ts";

/** The packages that a project depends on. */
const direct = [commandPackage, "@tenon/sdk", buildPackage];

/**
 * Tenon's packages and their dependencies, with their places in a clone from this package's folder. Only packages outside a registry must be
 * named one by one.
 */
const all: readonly (readonly [name: string, place: string])[] = [
  [commandPackage, "."],
  ["@tenon/sdk", "../ts-sdk"],
  [buildPackage, "build"],
  ["@tenon/native", "../bindings"],
  ["@tenon/engine", "engine"],
];

/**
 * The versions of Tenon's own packages in a new project's `package.json`: a project uses the same packages as the
 * command that made it. Usually that is this version from the registry; a command that was installed from tarballs, or
 * that runs in a clone, names those instead.
 */
export function dependencySpecs(folder: string = packageFolder): Record<string, string> {
  const found = installedFromFiles(folder) ?? inClone(folder);
  return found ?? Object.fromEntries(direct.map((name) => [name, `^${version}`]));
}

/** The tarballs that npm noted when it installed this package, if it was from tarballs. */
function installedFromFiles(folder: string): Record<string, string> | undefined {
  const modules = resolve(folder, "..");
  const lock = join(modules, ".package-lock.json");
  if (!modules.endsWith(`${sep}node_modules`) || !existsSync(lock)) return undefined;
  const { packages } = JSON.parse(readFileSync(lock, "utf8")) as { packages: Record<string, { resolved?: string }> };
  const root = dirname(modules);
  // The addon's package for this platform, which `@tenon/native` of a release names.
  const platform = Object.keys(packages).flatMap((path) => /^node_modules\/(@tenon\/native-.*)$/.exec(path)?.[1] ?? []);
  const names = [...all.map(([name]) => name), ...platform];
  const specs = names.map((name) => {
    const resolved = packages[`node_modules/${name}`]?.resolved;
    if (resolved?.startsWith("file:") !== true) return undefined;
    return [name, `file:${resolve(root, resolved.slice("file:".length))}`] as const;
  });
  const known = specs.filter((spec) => spec !== undefined);
  return known.length === names.length ? Object.fromEntries(known) : undefined;
}

function inClone(folder: string): Record<string, string> | undefined {
  if (folder.includes(`${sep}node_modules${sep}`)) return undefined;
  const entries = all.map(([name, place]) => [name, resolve(folder, place)] as const);
  if (!entries.every(([, path]) => existsSync(join(path, "package.json")))) return undefined;
  return Object.fromEntries(entries.map(([name, path]) => [name, `file:${path}`]));
}
