/** Reads the configuration files of a project that exists. */
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { getStaticTOMLValue, parseTOML } from "toml-eslint-parser";
import { TenonError } from "../../errors.ts";
import type { Manifest } from "./find-app.ts";
import type { Wrangler } from "./limits-of-app.ts";

/** Reads JSON with comments and commas at the end; undefined when the file is missing or is something else. */
function readJson(file: string): unknown {
  if (!existsSync(file)) return undefined;
  const text = readFileSync(file, "utf8").replace(/^\uFEFF/, "");
  const plain = text.replace(/("(?:[^"\\]|\\.)*")|\/\/.*|\/\*[\s\S]*?\*\//g, (_, string) => string ?? "");
  try {
    return JSON.parse(plain.replace(/("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])/g, (_, string) => string ?? ""));
  } catch {
    return undefined;
  }
}

/**
 * Reads the `package.json` of a folder.
 *
 * @throws TenonError `NO_PROJECT` when there is none, `CONFIG` when it is no object of JSON
 */
export function readPackage(folder: string): Manifest {
  const file = join(folder, "package.json");
  if (!existsSync(file))
    throw new TenonError(
      "NO_PROJECT",
      `there is no package.json in ${folder}`,
      "`tenon new <name>` makes a new project",
    );
  const content = readJson(file);
  if (typeof content !== "object" || content === null || Array.isArray(content))
    throw new TenonError("CONFIG", "package.json must be a JSON object");
  for (const [name, value] of Object.entries(content)) {
    if (texts.has(name) && typeof value !== "string")
      throw new TenonError("CONFIG", `"${name}" of package.json must be a string`);
    if (records.has(name) && !isRecord(value))
      throw new TenonError("CONFIG", `"${name}" of package.json must be an object of strings`);
  }
  return content;
}

/** Members of `package.json` that are read, by their kinds. */
const texts = new Set(["name", "version", "main", "module", "source", "type"]);
const records = new Set(["scripts", "dependencies", "devDependencies"]);

function isRecord(value: unknown): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return Object.values(value).every((each) => typeof each === "string");
}

/** Reads the configuration of Wrangler. */
export function readWrangler(folder: string): Wrangler | undefined {
  for (const file of ["wrangler.toml", "wrangler.jsonc", "wrangler.json"]) {
    const path = join(folder, file);
    if (!existsSync(path)) continue;
    const content = file.endsWith(".toml") ? readToml(path) : readJson(path);
    const { main, vars = {}, ...rest } = Object(content) as { main?: unknown; vars?: object };
    const texts = Object.entries(Object(vars)).flatMap(([name, value]): [string, string][] =>
      value === null ? [] : [[name, typeof value === "object" ? JSON.stringify(value) : String(value)]],
    );
    return {
      file,
      ...(typeof main === "string" ? { main } : {}),
      vars: Object.fromEntries(texts),
      sections: Object.entries(rest).flatMap(([name, value]) => (Object.keys(Object(value)).length > 0 ? [name] : [])),
    };
  }
  return undefined;
}

function readToml(file: string): unknown {
  try {
    return getStaticTOMLValue(parseTOML(readFileSync(file, "utf8")));
  } catch {
    return undefined;
  }
}

/** The members of `tsconfig.json` that are read. */
export interface TsConfig {
  readonly include: readonly string[] | undefined;
  readonly hasFiles: boolean;
  /** The form of relative imports. */
  readonly style: "bare" | "js" | "ts";
  /** Prefixes of `paths`, with their folders. */
  readonly aliases: Readonly<Record<string, string>>;
}

/** Reads `tsconfig.json`; undefined when there is none. */
export function readTsConfig(folder: string): TsConfig | undefined {
  const content = readJson(join(folder, "tsconfig.json")) as
    | { include?: string[]; files?: string[]; compilerOptions?: Record<string, unknown> }
    | undefined;
  if (content === undefined) return undefined;
  const options = content.compilerOptions ?? {};
  const resolution = String(options["moduleResolution"] ?? options["module"] ?? "").toLowerCase();
  const isTs = options["allowImportingTsExtensions"] === true || options["rewriteRelativeImportExtensions"] === true;
  const paths = Object.entries(Object(options["paths"]) as Record<string, readonly string[]>).flatMap(
    ([from, list]) => {
      const [to = ""] = list;
      if (!from.endsWith("/*") || !to.endsWith("/*")) return [];
      return [[from.slice(0, -1), resolve(folder, String(options["baseUrl"] ?? "."), to.slice(0, -1))] as const];
    },
  );
  return {
    include: content.include,
    hasFiles: content.files !== undefined && content.include === undefined,
    style: isTs ? "ts" : /^node(?:16|18|20|next)/.test(resolution) ? "js" : "bare",
    aliases: Object.fromEntries(paths),
  };
}
