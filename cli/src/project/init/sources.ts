/** The sources of a project that exists, followed from one file. Nothing is installed yet that could parse them, so texts are matched. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** A source and its imports. */
export interface Source {
  /** Absolute. */
  readonly file: string;
  readonly text: string;
  readonly imports: readonly { readonly specifier: string; readonly line: number; readonly file: string | undefined }[];
}

const EXTENSIONS = [".ts", ".tsx", ".mts", ".js", ".jsx", ".mjs", ".cts", ".cjs"];

const IMPORT =
  /^[ \t]*(?:import|export)\b(?!\s+type\b)[^"'`;()]*?(?:from\s*)?(["'])([^"'\n]+)\1|\b(?:require|import)\(\s*(["'])([^"'\n]+)\3\s*\)/gm;

/** Returns the file of a project that a path without an extension, or with that of JavaScript, means; undefined when there is none. */
export function sourceFile(path: string): string | undefined {
  const bare = path.replace(/\.[cm]?jsx?$/, "");
  const found = [path, ...EXTENSIONS.map((each) => path + each), ...EXTENSIONS.map((each) => bare + each)].find(isFile);
  return found ?? EXTENSIONS.map((each) => join(path, `index${each}`)).find(isFile);
}

const isFile = (path: string) => /\.[cm]?[jt]sx?$/.test(path) && existsSync(path) && statSync(path).isFile();

/**
 * Reads a file and all sources of the project that it imports, the file first.
 *
 * @param aliases prefixes of `paths` in `tsconfig.json`, with the folders that they stand for
 */
export function sourcesFrom(entry: string, aliases: Readonly<Record<string, string>>): Source[] {
  const found = new Map<string, Source>();
  const waiting = [entry];
  for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
    if (found.has(file)) continue;
    const source = read(file, aliases);
    found.set(file, source);
    waiting.push(...source.imports.flatMap((each) => each.file ?? []));
  }
  return [...found.values()];
}

function read(file: string, aliases: Readonly<Record<string, string>>): Source {
  const text = readFileSync(file, "utf8");
  // Comments have no imports; their line breaks stay.
  const code = text.replace(/\/\*[\s\S]*?\*\/|^[ \t]*\/\/.*$/gm, (comment) => comment.replace(/[^\n]/g, " "));
  const imports = [...code.matchAll(IMPORT)].map((match) => {
    const specifier = match[2] ?? match[4] ?? "";
    const start = match.index + match[0].search(/\S/);
    const alias = Object.keys(aliases).find((prefix) => specifier.startsWith(prefix));
    const path = specifier.startsWith(".")
      ? resolve(dirname(file), specifier)
      : alias && join(aliases[alias] as string, specifier.slice(alias.length));
    return { specifier, line: code.slice(0, start).split("\n").length, file: path ? sourceFile(path) : undefined };
  });
  return { file, text, imports };
}
