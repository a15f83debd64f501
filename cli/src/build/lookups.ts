/** Notes the files that a build reads or looks for, also in a build that fails. */
import { existsSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Plugin } from "esbuild";
import { readJsonWithComments } from "./json-with-comments.ts";
import { packageFolderOf } from "./packages.ts";

/** The endings that esbuild tries behind a name, and those that it puts in the place of JavaScript's. */
const endings = [".tsx", ".ts", ".jsx", ".js", ".css", ".json"];
const sources: Readonly<Record<string, readonly string[]>> = {
  ".js": [".ts", ".tsx"],
  ".jsx": [".ts", ".tsx"],
  ".mjs": [".mts"],
  ".cjs": [".cts"],
};

/** The files that configure how names are found. */
const settings = ["package.json", "tsconfig.json", "jsconfig.json"];

/**
 * The files that builds read or looked for. A file that is missing would change the result of the build once it is there:
 * an import that fails would find it, or it would win over the file that was found.
 */
export class Lookups {
  readonly #read = new Set<string>();
  readonly #imports = new Map<string, { readonly specifier: string; readonly from: string }>();

  /** @param source the handler module; absolute */
  constructor(source: string) {
    this.#read.add(source);
  }

  /** Sees each import and each file before the other plugins do. */
  get plugin(): Plugin {
    return {
      name: "lookups",
      setup: ({ onResolve, onLoad }) => {
        onResolve({ filter: /./ }, ({ path, resolveDir }) => {
          if (resolveDir !== "") this.#imports.set(`${resolveDir}\0${path}`, { specifier: path, from: resolveDir });
          return undefined;
        });
        onLoad({ filter: /./ }, ({ path, namespace }) => {
          if (namespace === "file") this.#read.add(path);
          return undefined;
        });
      },
    };
  }

  /** Absolute paths; some do not exist. */
  files(): string[] {
    const found = new Set(this.#read);
    const folders = new Set([...this.#read].map((file) => dirname(file)));
    for (const { from } of this.#imports.values()) folders.add(from);
    for (const folder of folders) for (const file of settingsOf(folder)) found.add(file);
    const pathsOf = aliases(found);
    for (const { specifier, from } of this.#imports.values()) {
      const bases =
        /^\.{0,2}\//.test(specifier) || specifier === "." || specifier === ".."
          ? [resolve(from, specifier)]
          : [...pathsOf(from, specifier), ...inPackages(specifier, from, found)];
      for (const base of bases) for (const file of triedFor(base)) found.add(file);
    }
    return [...found];
  }
}

/** The files that may configure modules of a folder. Those of an installed package are in the package. */
function settingsOf(folder: string): string[] {
  const packageFolder = packageFolderOf(join(folder, "x"));
  const found: string[] = [];
  for (let at = folder; ; at = dirname(at)) {
    found.push(...settings.map((name) => join(at, name)));
    if (at === packageFolder || dirname(at) === at) return found;
  }
}

/** The files that a path in an import may mean, up to the one that it means. */
function triedFor(base: string): string[] {
  const tried: string[] = [];
  const isFound = (file: string) => {
    tried.push(file);
    return isFile(file);
  };
  if (isFound(base)) return tried;
  const [, stem = "", ending = ""] = /^(.*?)(\.[cm]?jsx?)?$/s.exec(base) ?? [];
  if ((sources[ending] ?? []).some((each) => isFound(stem + each))) return tried;
  if (endings.some((each) => isFound(base + each))) return tried;
  const manifest = join(base, "package.json");
  tried.push(manifest);
  const { module, main } = readManifest(manifest);
  for (const each of [module, main]) if (typeof each === "string") tried.push(...triedInside(join(base, each)));
  tried.push(...triedInside(join(base, "index")));
  return tried;
}

/** The same for the main file of a package, which is not a folder with a package of its own. */
function triedInside(base: string): string[] {
  const names = ["", ...endings].map((each) => base + each);
  return [...names, ...endings.map((each) => join(base, `index${each}`))];
}

/** The paths that a package's name may mean, from the folder that imports it. Adds the files that decide to `found`. */
function inPackages(specifier: string, from: string, found: Set<string>): string[] {
  if (specifier.startsWith("#")) {
    const manifest = settingsOf(from).find((file) => file.endsWith("package.json") && existsSync(file));
    return manifest === undefined ? [] : targetsOf(readManifest(manifest).imports, dirname(manifest));
  }
  const name = /^(?:@[^/]+\/)?[^/.:][^/:]*(?=\/|$)/.exec(specifier)?.[0];
  if (name === undefined) return [];
  for (let folder = from; ; folder = dirname(folder)) {
    const candidate = join(folder, "node_modules", name);
    found.add(candidate);
    if (existsSync(candidate)) {
      const manifest = join(candidate, "package.json");
      found.add(manifest);
      const { exports } = readManifest(manifest);
      return exports === undefined ? [join(candidate, specifier.slice(name.length))] : targetsOf(exports, candidate);
    }
    if (dirname(folder) === folder) return [];
  }
}

/** The files that the field `exports` or `imports` of a package names. Patterns name none. */
function targetsOf(field: unknown, folder: string): string[] {
  if (typeof field === "string") return field.includes("*") ? [] : [join(folder, field)];
  if (field === null || typeof field !== "object") return [];
  return Object.values(field).flatMap((each) => targetsOf(each, folder));
}

interface Manifest {
  readonly module?: unknown;
  readonly main?: unknown;
  readonly exports?: unknown;
  readonly imports?: unknown;
}

function readManifest(file: string): Manifest {
  const manifest = readJsonWithComments(file);
  return manifest !== null && typeof manifest === "object" ? manifest : {};
}

/** Returns a function for the paths that the `tsconfig.json` above a folder gives a name. Adds the files that it extends to `found`. */
function aliases(found: Set<string>): (from: string, specifier: string) => string[] {
  const known = new Map<string, Aliases>();
  const configured = (folder: string): Aliases => {
    let own = known.get(folder);
    if (own === undefined) {
      const file = ["tsconfig.json", "jsconfig.json"].map((name) => join(folder, name)).find(existsSync);
      if (file !== undefined) own = aliasesIn(file, found, new Set());
      else own = dirname(folder) === folder ? {} : configured(dirname(folder));
      known.set(folder, own);
    }
    return own;
  };
  return (from, specifier) => {
    const { baseUrl, paths = [] } = configured(from);
    const bases = baseUrl === undefined ? [] : [resolve(baseUrl, specifier)];
    for (const { pattern, targets } of paths) {
      const [before = "", after] = pattern.split("*");
      const isMatch =
        after === undefined ? specifier === before : specifier.startsWith(before) && specifier.endsWith(after);
      if (!isMatch) continue;
      const rest = after === undefined ? "" : specifier.slice(before.length, specifier.length - after.length);
      bases.push(...targets.map((target) => target.replace("*", () => rest)));
    }
    return bases;
  };
}

interface Aliases {
  readonly baseUrl?: string;
  readonly paths?: readonly { readonly pattern: string; readonly targets: readonly string[] }[];
}

/** Reads the aliases of a `tsconfig.json`, or of those that it extends, of which the last one counts. */
function aliasesIn(file: string, found: Set<string>, above: ReadonlySet<string>): Aliases {
  found.add(file);
  if (above.has(file)) return {};
  const config = Object(readJsonWithComments(file)) as {
    extends?: unknown;
    compilerOptions?: { baseUrl?: unknown; paths?: unknown };
  };
  const folder = dirname(file);
  const { baseUrl, paths } = Object(config.compilerOptions) as { baseUrl?: unknown; paths?: unknown };
  const extended = [config.extends ?? []].flat().filter((each): each is string => typeof each === "string");
  const inherited = extended.map((each) => {
    const files = configsFor(each, folder);
    for (const tried of files) found.add(tried);
    const one = files.find(isFile);
    return one === undefined ? {} : aliasesIn(one, found, new Set([...above, file]));
  });
  const base = typeof baseUrl === "string" ? { baseUrl: resolve(folder, baseUrl) } : {};
  const from = "baseUrl" in base ? base.baseUrl : folder;
  const own = Object.entries(Object(paths) as Record<string, unknown>).map(([pattern, targets]) => ({
    pattern,
    targets: [targets]
      .flat()
      .filter((each): each is string => typeof each === "string")
      .map((each) => resolve(from, each)),
  }));
  return Object.assign({}, ...inherited, base, paths === undefined ? {} : { paths: own });
}

/** The files that `extends` may mean. */
function configsFor(name: string, folder: string): string[] {
  const withEnding = (base: string) => [base, `${base}.json`, join(base, "tsconfig.json"), join(base, "package.json")];
  if (/^\.{0,2}\//.test(name) || name === "..") return withEnding(resolve(folder, name));
  const found: string[] = [];
  for (let at = folder; ; at = dirname(at)) {
    found.push(...withEnding(join(at, "node_modules", name)));
    if (dirname(at) === at) return found;
  }
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
