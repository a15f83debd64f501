/** The state of the project's files, and the modules that `tenon run` serves from it. */
import { existsSync, statSync } from "node:fs";
import { relative, resolve } from "node:path";
import { refuseCoreFile } from "../core-module.ts";
import type { RuntimeOptions } from "../embed/runtime-options.ts";
import { TenonError } from "../errors.ts";
import { nearest } from "../nearest.ts";
import { isReference, nameOf, parseReference } from "../oci/reference.ts";
import { type Config, defaultConfig } from "../project/config.ts";
import {
  hasOnlySources,
  type NamedModules,
  namedModules,
  type Pull,
  type SetSource,
  verifyKeyOf,
} from "../project/modules.ts";
import { dependencies, findProject, moduleName, type Project } from "../project/project.ts";
import { servingOptions } from "../project/serving.ts";
import { refuseMissingSidecars } from "../project/tasks.ts";
import { requireTls } from "../project/tls.ts";
import { Terminal } from "../terminal.ts";

/** The served modules, and the configuration that lists them. */
export interface Configuration {
  readonly project: Project | undefined;
  readonly config: Config;
  readonly modules: NamedModules;
  readonly serving: Omit<RuntimeOptions, "modules">;
  /** Interval in milliseconds for resolving tags of registries again; undefined for never. */
  readonly refreshMs: number | undefined;
}

/** Reads the configuration, and pulls its references from registries. */
export async function readConfiguration(
  named: readonly string[],
  pull: Pull,
  set: ReadonlyMap<string, SetSource> = new Map(),
): Promise<Configuration> {
  const project = await findProject(process.cwd());
  const config = project?.config ?? defaultConfig(process.env);
  if (config.server.logFormat === "json") Terminal.useJson();
  const components = await pulled(named, project, pull);
  const { files, named: chosen } = await filesToServe(components, project);
  const valid = [...set].filter(([name, { configured }]) => config.modules[name]?.source === configured);
  const modules = await namedModules(files, chosen, project, process.env, pull, new Map(valid));
  const folder = project?.folder ?? process.cwd();
  await requireTls(config, folder, process.env);
  const serving = servingOptions(config, folder);
  refuseMissingSidecars(config, serving.sidecars);
  const refreshMs = refreshOf(config, named, new Map(valid));
  return { project, config, modules, serving, refreshMs };
}

/** Returns the shortest interval for resolving a tag again. Digests never need that. */
function refreshOf(
  { server, modules }: Config,
  named: readonly string[],
  set: ReadonlyMap<string, SetSource>,
): number | undefined {
  const times = named.filter(isTag).map(() => server.refreshMs);
  for (const name of new Set([...Object.keys(modules), ...set.keys()])) {
    const { source, file } = set.get(name) ?? { source: modules[name]?.source, file: undefined };
    if (source !== undefined && file === undefined && isTag(source))
      times.push(modules[name]?.refreshMs ?? server.refreshMs);
  }
  const positive = times.filter((time) => time > 0);
  return positive.length === 0 ? undefined : Math.min(...positive);
}

function isTag(source: string): boolean {
  return isReference(source) && parseReference(source).digest === undefined;
}

/** Replaces each reference to a registry with the pulled file. */
async function pulled(components: readonly string[], project: Project | undefined, pull: Pull): Promise<string[]> {
  const files: string[] = [];
  for (const component of components) {
    const isFile = !isReference(component);
    files.push(isFile ? component : await pull(component, verifyKeyOf(nameOf(parseReference(component)), project)));
  }
  return files;
}

/** The components besides those that have a `source`, and those of them that the command names. */
export async function filesToServe(
  components: readonly string[],
  project: Project | undefined,
): Promise<{ readonly files: readonly string[]; readonly named: readonly string[] }> {
  const more = project === undefined ? [] : await dependencies(project);
  for (const file of more) refuseCoreFile(file, relative(process.cwd(), file));
  if (components.length > 0) {
    const hasSource = (component: string) => project?.config.modules[component]?.source !== undefined;
    const named = components
      .filter((component) => !hasSource(component))
      .map((component) => fileOf(component, project, more));
    return { files: [...new Set([...named, ...more])], named };
  }
  if (project === undefined) {
    throw new TenonError(
      "NO_PROJECT",
      "there is no component to serve",
      "name one: tenon run <file>.wasm, or go to a project's folder",
    );
  }
  // The composed component contains the bare one, which this runtime can call without a bridge.
  const own = [project.component, project.composed].find((file) => existsSync(file));
  if (own === undefined) {
    if (hasOnlySources(project)) return { files: more, named: [] };
    throw new TenonError(
      "NOT_BUILT",
      `${relative(process.cwd(), project.component)} is not built yet`,
      "run `tenon build` first",
    );
  }
  return { files: [own, ...more], named: [] };
}

/** Returns the file with this path, or the project's module of this name. */
function fileOf(component: string, project: Project | undefined, others: readonly string[]): string {
  const status = statSync(component, { throwIfNoEntry: false });
  if (status?.isFile()) {
    refuseCoreFile(component);
    return resolve(component);
  }
  if (/\.c?wasm$/.test(component)) {
    const problem = status === undefined ? "there is no such file" : "it is not a regular file";
    throw new TenonError(
      "MODULE_READ",
      `cannot read ${component}: ${problem}`,
      "run `tenon build` in the project that makes it, or name another file",
    );
  }
  const own = project === undefined ? [] : [project.component, project.composed].filter((file) => existsSync(file));
  const known = [...own, ...others];
  const found = known.find((file) => moduleName(file) === component);
  if (found !== undefined) return found;
  const names = [...new Set(known.map(moduleName))];
  const near = nearest(component, names);
  throw new TenonError(
    "MODULE_READ",
    `there is no component ${component}: neither a file nor a module of the project`,
    near !== undefined
      ? `did you mean ${near}?`
      : names.length > 0
        ? `modules: ${names.join(", ")}`
        : "name a file that ends in .wasm, or run `tenon build` first",
  );
}
