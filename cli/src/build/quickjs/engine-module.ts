/** The module "tenon:engine", by which JavaScript of ours reaches the native functions of the QuickJS engine. */

import type { Plugin } from "esbuild";
import { parseSync } from "oxc-parser";
import { entryName } from "../entry.ts";
import { isOfNode } from "../stand-ins.ts";

/** Its name in imports. */
export const engineModule = "tenon:engine";

const filter = new RegExp(`^${engineModule}$`);

/** Leaves imports of the module to the engine, and refuses those outside of Tenon's files. */
export const engineModulePlugin: Plugin = {
  name: "engine-module",
  setup({ onResolve }) {
    onResolve({ filter }, ({ path, importer, namespace }) => {
      const isOwn = namespace === entryName || importer.endsWith(entryName) || isOfNode(importer);
      if (isOwn) return { path, external: true, sideEffects: false };
      return { errors: [{ text: `"${engineModule}" must not be imported: its functions change with each version` }] };
    });
  },
};

/** Returns the names that a bundle imports from the module. */
export function engineFunctionsIn(file: string, code: string): readonly string[] {
  const { module } = parseSync(file, code);
  const entries = module.staticImports
    .filter(({ moduleRequest }) => moduleRequest.value === engineModule)
    .flatMap((found) => found.entries);
  return [...new Set(entries.flatMap(({ importName }) => importName.name ?? []))].sort();
}
