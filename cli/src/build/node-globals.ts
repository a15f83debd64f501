/** Node's globals, which are bundled where code names one without declaring it. */
import type { Plugin } from "esbuild";
import { type HostName, hosts } from "./entry.ts";

/** The export of a module for each. `global` is not among them, because esbuild replaces it (`bundle.ts`). */
const globals: Readonly<Record<string, string>> = {
  Buffer: 'export { Buffer } from "node:buffer";',
  process: 'export { default as process } from "node:process";',
  setImmediate: 'export { setImmediate } from "node:timers";',
  clearImmediate: 'export { clearImmediate } from "node:timers";',
};

export const nodeGlobalNames: ReadonlySet<string> = new Set(Object.keys(globals));

/** The file to inject: esbuild replaces the names that it exports, where they are free, and leaves the others out. */
export const nodeGlobals = "tenon-node-globals";

/**
 * Loads {@link nodeGlobals}.
 *
 * @param platformImports imports that run before it, because an injected module runs before the entry's own imports
 * @param folder the folder from which imports are resolved
 */
export function nodeGlobalsModule(
  names: ReadonlySet<string>,
  host: HostName,
  platformImports: string,
  folder: string,
): Plugin {
  const exported = [...names].map((name) => globals[name]);
  const contents = [`import "${hosts[host]}";`, platformImports, ...exported].join("\n");
  return {
    name: nodeGlobals,
    setup({ onResolve, onLoad }) {
      const filter = new RegExp(`^${nodeGlobals}$`);
      onResolve({ filter }, ({ path }) => ({ path, namespace: nodeGlobals, sideEffects: false }));
      onLoad({ filter, namespace: nodeGlobals }, () => ({ contents, resolveDir: folder }));
    },
  };
}
