/** Components of a registry among the modules of a runtime. */
import { isReference } from "../oci/reference.ts";
import { pathOf } from "./module-source.ts";
import type { ModuleOptions, RuntimeOptions } from "./runtime-options.ts";

/**
 * Modules whose references are replaced by the files that were pulled. It is imported when there is one: most runtimes serve files.
 *
 * @param options the runtime's, with the options of each module
 */
export async function pullAll<T extends readonly { readonly name?: string; readonly path?: string }[]>(
  given: T,
  { cacheFolder, verifyKey, modules }: RuntimeOptions,
): Promise<T> {
  if (!given.some(isToPull)) return given;
  const { pullModule } = await import("../oci/pull.ts");
  const folder = typeof cacheFolder === "string" ? { cacheFolder } : {};
  const pulled = given.map(async (module) => {
    if (!isToPull(module)) return module;
    const own = (modules as Readonly<Record<string, Partial<ModuleOptions>>>)[module.name ?? ""];
    const key = own?.verifyKey ?? verifyKey;
    const options = { ...folder, verifyKey: key === undefined ? undefined : pathOf(key) };
    return { ...module, path: (await pullModule(module.path, options)).path };
  });
  return (await Promise.all(pulled)) as unknown as T;
}

function isToPull<M extends { readonly path?: string }>(module: M): module is M & { readonly path: string } {
  return module.path !== undefined && isReference(module.path);
}
