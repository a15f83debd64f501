/** `[modules.<name>]` of a project: which components are served under which names, and with which policies. */
import { existsSync } from "node:fs";
import { relative, resolve } from "node:path";
import type { ModuleFile } from "../embed/module-source.ts";
import type { ModuleOptions, RuntimeOptions } from "../embed/runtime-options.ts";
import { TenonError } from "../errors.ts";
import { isReference } from "../oci/reference.ts";
import type { Environment } from "./config/parse.ts";
import type { Config } from "./config.ts";
import { moduleName, type Project } from "./project.ts";
import { resolveSecrets } from "./secrets.ts";
import { resolveSidecars } from "./sidecars.ts";

/** A module's source that was set at run time. */
export interface SetSource {
  readonly source: string;
  /** The file of that source, which is not resolved again. */
  readonly file?: string;
  /** The source in `tenon.toml` at that time. A different one there is newer and takes precedence. */
  readonly configured: string | undefined;
}

/** Pulls the component of a reference, and returns its file. `verifyKey` is the file of the key that must have signed it. */
export type Pull = (reference: string, verifyKey: string | undefined) => Promise<string>;

/** A {@link Pull} that shows nothing. */
export const pulledFile: Pull = async (reference, verifyKey) => {
  const { pullModule } = await import("../oci/pull.ts");
  return (await pullModule(reference, { verifyKey })).path;
};

/** Modules by name, as `Runtime.create` takes them. */
export type NamedModules = Readonly<Record<string, string | FileOptions>>;

/** Options of a module that is a file. */
interface FileOptions extends ModuleOptions {
  readonly source: ModuleFile;
}

/**
 * Components by the names under which they are served, each with the policy that the project has for it.
 *
 * @throws TenonError as {@link moduleFiles}, and `CONFIG` for a secret that is not to be had
 */
export async function namedModules(
  files: readonly string[],
  named: readonly string[],
  project: Project | undefined,
  environment: Environment,
  pull: Pull,
  set: ReadonlyMap<string, SetSource> = new Map(),
): Promise<NamedModules> {
  const folder = project?.folder ?? process.cwd();
  const modules = [...(await moduleFiles(files, named, project, pull, set))].map(
    ([name, file]): [string, string | FileOptions] => {
      const policy = project?.config.modules[name];
      return [name, policy === undefined ? file : moduleOptions(name, policy, file, folder, environment)];
    },
  );
  return Object.fromEntries(modules);
}

/**
 * The files of components by the names under which they are served. A component that the command names (`named`) wins over a
 * `source`, and a `source` wins over a file in `modules/`. One that was set while the server runs (`set`) wins over all of them.
 *
 * @param files the components without a `source`
 * @param named those of them that the command names
 * @throws TenonError `CONFIG` for a name that two files have, and for a policy without a component
 */
export async function moduleFiles(
  files: readonly string[],
  named: readonly string[],
  project: Project | undefined,
  pull: Pull,
  set: ReadonlyMap<string, SetSource> = new Map(),
): Promise<ReadonlyMap<string, string>> {
  const byName = new Map<string, string>();
  for (const file of files) {
    const name = moduleName(file);
    const other = byName.get(name);
    if (other !== undefined) {
      const [one, two] = [other, file].map((each) => relative(process.cwd(), each));
      throw new TenonError("CONFIG", `two modules are called ${name}; rename one of the files ${one} and ${two}`);
    }
    byName.set(name, file);
  }
  const fixed = new Set(named.map(moduleName));
  for (const [name, { source, file }] of set)
    byName.set(name, file ?? (await fileOfSource(name, source, project, pull)));
  const modules = new Map(byName);
  for (const [name, { source }] of Object.entries(project?.config.modules ?? {})) {
    const own =
      set.has(name) || source === undefined || fixed.has(name)
        ? byName.get(name)
        : await fileOfSource(name, source, project, pull);
    if (own !== undefined) modules.set(name, own);
    else if (name !== project?.config.project.name) throw withoutSource(name);
  }
  return modules;
}

/** The component's file of a module's `source`: a reference to a registry, or a path relative to the project's folder. */
export function fileOfSource(name: string, source: string, project: Project | undefined, pull: Pull): Promise<string> {
  if (isReference(source)) return pull(source, verifyKeyOf(name, project));
  return Promise.resolve(resolve(project?.folder ?? process.cwd(), source));
}

/** The file of the key that must have signed a module's component in a registry; `undefined` when any component is served. */
export function verifyKeyOf(name: string, project: Project | undefined): string | undefined {
  if (project === undefined) return undefined;
  const { modules, server } = project.config;
  const file = modules[name]?.verifyKey ?? server.verifyKey;
  return file === undefined ? undefined : resolve(project.folder, file);
}

/** Reports whether a project serves components by [modules] alone, because it has no handler of its own. */
export function hasOnlySources({ config, source }: Project): boolean {
  return !existsSync(source) && Object.values(config.modules).some((module) => module.source !== undefined);
}

/**
 * A component with the policy of `[modules.<name>]`.
 *
 * @param folder the base of secrets' relative files
 * @throws TenonError `CONFIG` when a secret is unavailable
 */
export function moduleOptions(
  name: string,
  {
    source: _source,
    refreshMs: _refreshMs,
    verifyKey: _verifyKey,
    mount,
    host,
    isolation,
    env,
    secrets,
    sidecars,
    outbound,
    budget,
    ...limits
  }: Config["modules"][string],
  file: string,
  folder: string,
  environment: Environment,
): FileOptions {
  return {
    source: file,
    limits,
    ...(mount === undefined ? {} : { mount }),
    ...(host === undefined ? {} : { host }),
    ...(isolation === undefined ? {} : { isolation }),
    ...(env === undefined ? {} : { env }),
    ...(secrets === undefined
      ? {}
      : { secrets: resolveSecrets(secrets, folder, environment, `modules.${name}.secrets`) }),
    ...(sidecars === undefined
      ? {}
      : { sidecars: resolveSidecars(sidecars, folder, environment, `modules.${name}.sidecars`) }),
    ...(outbound === undefined ? {} : { outbound }),
    ...(budget === undefined ? {} : { budget }),
  };
}

/** Places of modules besides `/run/<module>`, for people: `shop at shop.example/`. */
export function mountsOf(modules: RuntimeOptions["modules"]): string[] {
  return Object.entries(modules).flatMap(([name, module]) => {
    if (typeof module !== "object" || module instanceof URL) return [];
    const { host, mount } = module as ModuleOptions;
    return host === undefined && mount === undefined ? [] : [`${name} at ${host ?? ""}${mount ?? "/"}`];
  });
}

function withoutSource(name: string): TenonError {
  return new TenonError(
    "CONFIG",
    `[modules.${name}] has no \`source\`, and neither the project nor a file in modules/ is called ${name}`,
    `write source = "path/to/${name}.wasm" or source = "oci://registry.example/team/${name}:1.0" into it`,
  );
}
