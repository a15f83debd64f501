/** A plugin that checks sources, and loads them without documentation. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, extname, join, relative } from "node:path";
import type { Loader, PartialMessage, Plugin } from "esbuild";
import { systemReason } from "../errors.ts";
import { type Absent, absentUses } from "./absent.ts";
import type { Probes } from "./bundle.ts";
import type { Injections } from "./injections.ts";
import { packageNameOf } from "./packages.ts";
import { SdkNames, usesSdk } from "./sdk-names.ts";
import { withoutDocs } from "./strip-docs.ts";

/**
 * Loads sources without the documentation that only the OpenAPI document needs. (esbuild keeps comments inside expressions, and so those above the routes.) Everything else keeps
 * its place, for error messages and the source map. Using a feature that the engine lacks is an error in a module of
 * the project. In a package it is a warning, because packages contain code that a handler never reaches.
 */
export function sources(injections: Injections, project: string, probes?: Probes): Plugin {
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
        const inProject = !relative(project, path).startsWith("..");
        const packageName = packageNameOf(path);
        if (!ofSdk && !inProject && packageName === undefined) return undefined;
        let text: string;
        try {
          text = await readFile(path, "utf8");
        } catch (error) {
          return { errors: [{ text: `cannot read ${relative(process.cwd(), path)}: ${systemReason(error)}` }] };
        }
        // formatjs is what adds Intl.
        const isChecked = inProject && !packageName?.startsWith("@formatjs/intl-");
        const absent = isChecked ? absentUses(path, text, injections.locales) : [];
        const fatal = packageName === undefined ? absent.filter(({ isWarning }) => !isWarning) : [];
        if (fatal.length > 0) return { errors: fatal.map((use) => messageOf(use, project, path)) };
        for (const { text, remedy, line, column, isWarning } of absent) {
          const place = packageName ?? `${relative(process.cwd(), path)}:${line}:${column + 1}`;
          // Packages sort names of their own in any order.
          if (packageName === undefined || !isWarning) injections.warn(`${place}: ${text}; ${remedy}`);
        }
        // esbuild itself loads unchanged files, because it applies a package's settings for them.
        const isProbed = path === probes?.file;
        if (!ofSdk && !isProbed) return packageName === undefined ? undefined : withoutLostMap(path, text);
        const contents = isProbed ? probes.text() : await withoutDocs(path, text, names);
        return { contents, loader: extname(path).replace(/^\.[cm]?/, "") as Loader };
      });
    },
  };
}

/**
 * The text of a package's file without the reference to a source map whose sources were not published. esbuild would cite them in
 * stacks, such as `node_modules/src/session.ts`. Undefined for a file that stays as it is.
 */
async function withoutLostMap(path: string, text: string): Promise<{ contents: string; loader: Loader } | undefined> {
  const [comment, , url = ""] = /(\n\/\/|\n\/\*)[#@] sourceMappingURL=([^\s*]+)(?: *\*\/)?\s*$/.exec(text) ?? [];
  if (comment === undefined || url.startsWith("data:") || (await hasSources(join(dirname(path), url))))
    return undefined;
  return { contents: text.slice(0, -comment.length), loader: extname(path).replace(/^\.[cm]?/, "") as Loader };
}

async function hasSources(map: string): Promise<boolean> {
  try {
    const { sources = [], sourceRoot = "" } = JSON.parse(await readFile(map, "utf8")) as {
      sources?: string[];
      sourceRoot?: string;
    };
    return sources.every((source) => existsSync(join(dirname(map), sourceRoot, source)));
  } catch {
    return false;
  }
}

function messageOf({ text, remedy, ...place }: Absent, project: string, path: string): PartialMessage {
  return { text, notes: [{ text: remedy }], location: { ...place, file: relative(project, path) } };
}
