/** Plugins that take the form of a package for browsers, where the other form imports modules that only Node has. */
import { existsSync } from "node:fs";
import { build, type OnResolveArgs, type Plugin, type ResolveOptions, type ResolveResult } from "esbuild";
import type { Injections } from "./injections.ts";
import { importedFolder, packageFolderOf } from "./packages.ts";

/**
 * Resolves imports of some packages, and those inside of them, as bundlers for browsers do: by the condition and the field
 * `browser`, which esbuild knows for whole bundles only. Hence a second resolver, which bundles nothing.
 */
export function browserForms(injections: Injections, conditions: readonly string[]): Plugin {
  return {
    name: "browser-forms",
    setup({ onResolve, onDispose }) {
      const resolver = startResolver(conditions);
      onDispose(() => void resolver.then(({ stop }) => stop()));
      onResolve({ filter: /./ }, async (args) => {
        if (!concerns(args, injections)) return undefined;
        const { importer, resolveDir, kind } = args;
        const { resolve } = await resolver;
        const found = await resolve(args.path, { importer, resolveDir, kind });
        if (found.errors.length > 0 || found.external) return undefined;
        const { path, namespace, suffix, sideEffects } = found;
        // esbuild does not say that a module is to be nothing, but no file has such a path.
        return existsSync(path) ? { path, namespace, suffix, sideEffects } : { path: args.path, namespace: EMPTY };
      });
    },
  };
}

/** Modules that a package says are nothing in browsers. */
const EMPTY = "tenon-empty";

/** Loads the modules that a package says are nothing in browsers. */
export const emptyModules: Plugin = {
  name: "empty-modules",
  setup({ onLoad }) {
    onLoad({ filter: /./, namespace: EMPTY }, () => ({ contents: "module.exports = {};" }));
  },
};

function concerns({ path, importer, resolveDir, namespace }: OnResolveArgs, injections: Injections): boolean {
  if (namespace !== "file" && importer !== "") return false;
  const from = packageFolderOf(importer);
  if (from !== undefined && injections.isInBrowserForm(from)) return true;
  const imported = importedFolder(path, resolveDir);
  return imported !== undefined && injections.isInBrowserForm(imported);
}

interface Resolver {
  resolve(path: string, options: ResolveOptions): Promise<ResolveResult>;
  stop(): void;
}

/** A build that waits in its first step, and resolves meanwhile. */
function startResolver(conditions: readonly string[]): Promise<Resolver> {
  return new Promise((ready) => {
    let stop = () => {};
    const stopped = new Promise<void>((resolve) => {
      stop = resolve;
    });
    const wait: Plugin = {
      name: "wait",
      setup({ onResolve, onLoad, resolve }) {
        onResolve({ filter: /^tenon-wait$/ }, ({ path }) => ({ path, namespace: "tenon-wait" }));
        onLoad({ filter: /./, namespace: "tenon-wait" }, async () => {
          ready({ resolve, stop });
          await stopped;
          return { contents: "" };
        });
      },
    };
    void build({
      entryPoints: ["tenon-wait"],
      bundle: true,
      write: false,
      // For other platforms esbuild leaves the field alone.
      platform: "browser",
      mainFields: ["browser", "module", "main"],
      conditions: [...conditions, "browser"],
      plugins: [wait],
      logLevel: "silent",
    });
  });
}
