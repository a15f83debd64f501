import { readFile } from "node:fs/promises";
import { dirname, extname, relative } from "node:path";
import type { Loader, Plugin } from "esbuild";
import { parseSync } from "oxc-parser";
import { systemReason } from "../errors.ts";
import { docsProperties } from "./docs-properties.ts";
import { SdkNames, usesSdk } from "./sdk-names.ts";

/**
 * Leaves out of a bundle what only the OpenAPI document needs: doc comments, and the attribute `docs` of fields. (esbuild
 * keeps comments inside expressions, and so those above the routes.) Everything else keeps its place, for error messages
 * and the source map.
 */
export const stripDocs: Plugin = {
  name: "strip-docs",
  setup({ onLoad, resolve }) {
    const names = new SdkNames(async (specifier, importer) => {
      const options = { importer, resolveDir: dirname(importer), kind: "import-statement" as const };
      const { path, external, namespace } = await resolve(specifier, options);
      return path !== "" && !external && namespace === "file" ? path : undefined;
    });
    onLoad({ filter: /\.[cm]?[jt]sx?$/ }, async ({ path }) => {
      if (!(await usesSdk(path))) return undefined;
      let text: string;
      try {
        text = await readFile(path, "utf8");
      } catch (error) {
        return { errors: [{ text: `cannot read ${relative(process.cwd(), path)}: ${systemReason(error)}` }] };
      }
      const contents = await withoutDocs(path, text, names);
      return { contents, loader: extname(path).replace(/^\.[cm]?/, "") as Loader };
    });
  },
};

/** A module's text with its documentation blanked; as it is when it does not parse, which esbuild tells better. */
export async function withoutDocs(file: string, text: string, names: SdkNames): Promise<string> {
  if (!text.includes("/**") && !text.includes("docs")) return text;
  const parsed = parseSync(file, text);
  if (parsed.errors.length > 0) return text;
  const edits: Edit[] = parsed.comments
    .filter(({ type, value }) => type === "Block" && value.startsWith("*"))
    .map(({ start, end }) => ({ start, end, put: "" }));
  // A spread of nothing stands where any property may, whatever commas are around it.
  const properties = text.includes("docs") ? await docsProperties(file, parsed, names) : [];
  for (const { start, end } of properties) edits.push({ start, end, put: "...0" });
  return apply(text, edits);
}

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly put: string;
}

function apply(text: string, edits: readonly Edit[]): string {
  let result = "";
  let at = 0;
  for (const { start, end, put } of [...edits].sort((a, b) => a.start - b.start)) {
    // A comment inside of a property is gone with it.
    if (start < at) continue;
    result += text.slice(at, start) + put + text.slice(start + put.length, end).replace(/[^\r\n]/g, " ");
    at = end;
  }
  return result + text.slice(at);
}
