/** The module "tenon:engine", by which JavaScript of ours reaches the native functions of the engine. */

import { basename } from "node:path";
import type { Plugin } from "esbuild";
import { parseSync } from "oxc-parser";
import type { HostName } from "./entry.ts";
import { isOfGuest } from "./guest-folders.ts";

/** Its name in imports. */
const name = "tenon:engine";

/** Leaves imports of the module to the engine. Refuses those outside of Tenon's files, and all of them for another engine. */
export function engineModule(host: HostName): Plugin {
  return {
    name: "engine-module",
    setup({ onResolve }) {
      onResolve({ filter: new RegExp(`^${name}$`) }, ({ path, importer }) => {
        if (!isOfGuest(importer))
          return { errors: [{ text: `"${name}" must not be imported: its functions change with each version` }] };
        if (host === "engine") return { path, external: true, sideEffects: false };
        const part = basename(importer).replace(/(-native)?\.[jt]s$/, "");
        return {
          errors: [{ text: `componentize-js lacks functions of Tenon's engine (${part}): build without --reference` }],
        };
      });
    },
  };
}

/** Returns the names that a bundle imports from the module. */
export function engineFunctionsIn(file: string, code: string): readonly string[] {
  const { module } = parseSync(file, code);
  const entries = module.staticImports
    .filter(({ moduleRequest }) => moduleRequest.value === name)
    .flatMap((found) => found.entries);
  return [...new Set(entries.flatMap(({ importName }) => importName.name ?? []))].sort();
}
