import { readFile } from "node:fs/promises";
import { dirname, extname, relative } from "node:path";
import type { Loader, Plugin } from "esbuild";
import { systemReason } from "../errors.ts";
import type { Needs } from "./needs.ts";
import { withoutPropertyEscapes } from "./property-escapes.ts";
import { SdkNames, usesSdk } from "./sdk-names.ts";
import { withoutDocs } from "./strip-docs.ts";

/**
 * Loads sources: without what only the OpenAPI document needs, and with what the engine lacks written out when that is needed.
 * (esbuild keeps comments inside expressions, and so those above the routes.) Everything else keeps its place, for error
 * messages and the source map.
 */
export function sources(needs: Needs): Plugin {
  return {
    name: "sources",
    setup({ onLoad, resolve }) {
      const names = new SdkNames(async (specifier, importer) => {
        const options = { importer, resolveDir: dirname(importer), kind: "import-statement" as const };
        const { path, external, namespace } = await resolve(specifier, options);
        return path !== "" && !external && namespace === "file" ? path : undefined;
      });
      onLoad({ filter: /\.[cm]?[jt]sx?$/ }, async ({ path }) => {
        const ofSdk = await usesSdk(path);
        if (!ofSdk && !needs.propertyEscapes) return undefined;
        let text: string;
        try {
          text = await readFile(path, "utf8");
        } catch (error) {
          return { errors: [{ text: `cannot read ${relative(process.cwd(), path)}: ${systemReason(error)}` }] };
        }
        let contents = ofSdk ? await withoutDocs(path, text, names) : text;
        if (needs.propertyEscapes) {
          const rewritten = withoutPropertyEscapes(path, contents);
          contents = rewritten.text;
          for (const each of rewritten.warnings) needs.warn(each);
        }
        // What is as it was is loaded by esbuild itself, which knows what a package says of its files.
        if (!ofSdk && contents === text) return undefined;
        return { contents, loader: extname(path).replace(/^\.[cm]?/, "") as Loader };
      });
    },
  };
}
