/** A plugin for the packages of formatjs, which choose a locale with their data. */
import type { Plugin } from "esbuild";
import type { Injections } from "../injections.ts";
import { withNeeded } from "./classes.ts";
import { joinsModule } from "./locales.ts";

const matcher = "@formatjs/intl-localematcher";

/** Stands between the classes of formatjs and their package that chooses a locale. */
const lookup = `
import { ResolveLocale as resolve } from "${matcher}";
import { lookedUp } from "tenon-polyfills:intl-lookup.js";
export { LookupSupportedLocales } from "${matcher}";
export const ResolveLocale = (available, requested, options, ...rest) =>
  resolve(available, lookedUp(available, requested), { ...options, localeMatcher: "lookup" }, ...rest);
`;

/** Loads the module that adds the classes of `Intl` that the bundle needs, from the packages that the project has. */
export function intl(injections: Injections, folder: string): Plugin {
  return {
    name: "intl",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^tenon-intl:/ }, ({ path }) => ({ path, namespace: "tenon-intl" }));
      onResolve({ filter: new RegExp(`^${matcher}$`) }, ({ importer, resolveDir }) =>
        /[\\/]polyfill-force\.js$/.test(importer) ? { path: resolveDir, namespace: "tenon-intl-lookup" } : undefined,
      );
      onLoad({ filter: /./, namespace: "tenon-intl-lookup" }, ({ path }) => ({ contents: lookup, resolveDir: path }));
      onLoad({ filter: /./, namespace: "tenon-intl" }, ({ path }) => {
        const { locales, intl: names } = injections;
        if (locales === undefined) return undefined;
        const missing = locales.missing(names);
        if (missing !== undefined) {
          const text = `the bundle uses ${withNeeded(names)
            .map((name) => `Intl.${name}`)
            .join(", ")}, whose packages are not installed`;
          return { errors: [{ text, notes: [{ text: missing }] }] };
        }
        try {
          if (path === joinsModule) return { contents: locales.joinsModule(), resolveDir: folder };
          return { contents: locales.module(names, injections.intlCode), resolveDir: folder, loader: "js" };
        } catch (error) {
          const notes = [{ text: "take it out of `locales` in tenon.toml" }];
          return { errors: [{ text: (error as Error).message, notes }] };
        }
      });
    },
  };
}
