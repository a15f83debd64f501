/** Finds the names under which a module uses the SDK's exports. */
import { readFile } from "node:fs/promises";
import { resolve as absolute, dirname, join } from "node:path";
import { type EcmaScriptModule, parseSync } from "oxc-parser";
import { textOf } from "../text-file.ts";

/** The SDK's exports that take attributes: `field`, one of its kinds, `list` and `record`. */
export type Origin = "field" | "kind" | "list" | "record" | Namespace;

/** All that a module exports, as `import * as …` or `export * as …` names it. */
export interface Namespace {
  readonly specifier: string;
  readonly importer: string;
}

/** The file that an import resolves to; undefined when there is none. */
export type Resolve = (specifier: string, importer: string) => Promise<string | undefined>;

const SDK = "@tenon/sdk";
const KINDS = new Set(["string", "u32", "i32", "i64", "f64", "bool", "enum", "json"]);

/** Follows names to where they come from: the SDK, directly or through modules that pass it on, or something else. */
export class SdkNames {
  readonly #resolve: Resolve;
  readonly #modules = new Map<string, Promise<EcmaScriptModule | undefined>>();

  constructor(resolve: Resolve) {
    this.#resolve = resolve;
  }

  /** The origin of `import { name } from specifier` in the file `importer`. */
  async imported(specifier: string, name: string, importer: string): Promise<Origin | undefined> {
    return this.#follow(specifier, name, importer, new Set());
  }

  /** The origin of `origin.name`. */
  async member(origin: Origin | undefined, name: string): Promise<Origin | undefined> {
    if (origin === "field") return KINDS.has(name) ? "kind" : undefined;
    return typeof origin === "object" ? this.imported(origin.specifier, name, origin.importer) : undefined;
  }

  async #follow(specifier: string, name: string, importer: string, seen: Set<string>): Promise<Origin | undefined> {
    if (specifier === SDK) return name === "field" || name === "list" || name === "record" ? name : undefined;
    const file = await this.#resolve(specifier, importer);
    // Modules may pass each other on in a ring.
    if (file === undefined || seen.has(`${file} ${name}`)) return undefined;
    seen.add(`${file} ${name}`);
    const module = await this.#module(file);
    const exports = module?.staticExports.flatMap(({ entries }) => entries) ?? [];
    const named = exports.find(({ exportName }) => (exportName.name ?? exportName.kind.toLowerCase()) === name);
    if (module && named) {
      const { moduleRequest, importName, localName } = named;
      if (moduleRequest && importName.kind === "Name")
        return this.#follow(moduleRequest.value, importName.name ?? "", file, seen);
      if (moduleRequest) return { specifier: moduleRequest.value, importer: file };
      const imported = importOf(module, localName.name ?? "");
      if (imported === undefined) return undefined;
      return imported.name === undefined
        ? { specifier: imported.specifier, importer: file }
        : this.#follow(imported.specifier, imported.name, file, seen);
    }
    for (const { moduleRequest, exportName } of exports) {
      if (!moduleRequest || exportName.kind !== "None") continue;
      const origin = await this.#follow(moduleRequest.value, name, file, seen);
      if (origin !== undefined) return origin;
    }
    return undefined;
  }

  #module(file: string): Promise<EcmaScriptModule | undefined> {
    let module = this.#modules.get(file);
    if (module === undefined) {
      module = usesSdk(file).then(async (uses) =>
        uses ? parseSync(file, await readFile(file, "utf8")).module : undefined,
      );
      this.#modules.set(file, module);
    }
    return module;
  }
}

/** An import of a module: without a name, it is of everything. */
export interface Import {
  readonly specifier: string;
  readonly name: string | undefined;
}

/** The import behind a local name of a module. */
export function importOf(module: EcmaScriptModule, local: string): Import | undefined {
  for (const { moduleRequest, entries } of module.staticImports) {
    const entry = entries.find(({ localName }) => localName.value === local);
    if (entry === undefined) continue;
    const { kind, name } = entry.importName;
    if (kind === "NamespaceObject") return { specifier: moduleRequest.value, name: undefined };
    return { specifier: moduleRequest.value, name: kind === "Default" ? "default" : (name ?? undefined) };
  }
  return undefined;
}

/** Reports whether a file may use the SDK: any of the user's own, and of packages those of one that depends on it. */
export async function usesSdk(file: string): Promise<boolean> {
  if (!/\.[cm]?[jt]sx?$/.test(file)) return false;
  if (!/[\\/]node_modules[\\/]/.test(file)) return true;
  const { dependencies, peerDependencies } = await packageOf(file);
  return Object.hasOwn({ ...dependencies, ...peerDependencies }, SDK);
}

/** Reports whether a file is one of the SDK's own, installed or linked. */
export async function isOfSdk(file: string): Promise<boolean> {
  return (await packageOf(file)).name === SDK;
}

/** The members of a `package.json` that are read. */
interface Package {
  readonly name?: string;
  readonly dependencies?: object;
  readonly peerDependencies?: object;
}

/** The package that a file belongs to; nothing is known of one outside of any. */
async function packageOf(file: string): Promise<Package> {
  for (let folder = dirname(absolute(file)); dirname(folder) !== folder; folder = dirname(folder)) {
    try {
      return JSON.parse(textOf(await readFile(join(folder, "package.json")))) ?? {};
    } catch {
      // None here, or one that can't be read: esbuild says so where it matters.
    }
  }
  return {};
}
