/** The installed packages of files: names, folders, forms. */
import { existsSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { readJsonFile } from "../text-file.ts";

const installed = /[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)/g;

/** The name of the package that a file is installed with; nothing for a file of the user's own. */
export function packageNameOf(file: string): string | undefined {
  return [...file.matchAll(installed)].at(-1)?.[1]?.replaceAll("\\", "/");
}

/** The folder of the package that a file is installed with; nothing for a file of the user's own. */
export function packageFolderOf(file: string): string | undefined {
  const last = [...file.matchAll(installed)].at(-1);
  return last === undefined ? undefined : file.slice(0, last.index + last[0].length);
}

/** Reports whether a package has a form without Node: a field or a condition named `browser`. */
export function hasBrowserForm(folder: string): boolean {
  const known = forms.get(folder) ?? readForm(folder);
  forms.set(folder, known);
  return known;
}

/** Installed packages change rarely; a development server that gets no notice of a change uses the cached form. */
const forms = new Map<string, boolean>();

function readForm(folder: string): boolean {
  const manifest = join(folder, "package.json");
  if (!existsSync(manifest)) return false;
  const { browser, exports } = readJsonFile(manifest) as { browser?: unknown; exports?: unknown };
  return browser !== undefined || JSON.stringify(exports ?? {}).includes('"browser"');
}

/** The folder of the package that is imported by its bare name, as seen from a folder. */
export function importedFolder(specifier: string, from: string): string | undefined {
  const name = /^(?:@[^/]+\/)?[^/.][^/]*/.exec(specifier)?.[0];
  if (name === undefined) return undefined;
  for (let folder = from; ; folder = dirname(folder)) {
    const candidate = join(folder, "node_modules", name);
    // Links, as pnpm makes them, are followed: esbuild names files by where they really are.
    if (existsSync(join(candidate, "package.json"))) return realpathSync(candidate);
    if (dirname(folder) === folder) return undefined;
  }
}
