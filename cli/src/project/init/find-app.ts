/** Finds the app of a project: the module that `package.json` starts, or one that it imports, with an export that answers requests. */
import { existsSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { type Source, sourceFile, sourcesFrom } from "./sources.ts";

/** The part of `package.json` that is read. */
export interface Manifest {
  readonly name?: string;
  readonly version?: string;
  readonly main?: string;
  readonly module?: string;
  readonly source?: string;
  readonly type?: string;
  readonly exports?: unknown;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

/** An app and its place. */
export interface FoundApp {
  /** Absolute. */
  readonly file: string;
  /** The name of the export. */
  readonly name: string;
}

const usual = ["src/index", "src/app", "src/worker", "src/server", "src/main", "index", "app", "worker", "server"];

/** Names of apps that are exported by name. */
const names = /^(?:app|api|server|worker|handler|router|default)$/;

/** An expression that makes an app that speaks `fetch`. */
const MAKES_APP =
  /\bnew\s+(?:Hono|OpenAPIHono|Elysia|H3)\b|\b(?:AutoRouter|IttyRouter|Router|createApp|createHono|routes)\s*(?:<[^>]*>)?\s*\(/;

const SERVES = /@hono\/node-server|\bBun\.serve\(|\bDeno\.serve\(|\bcreateServer\(|\.listen\(/;

/** The modules that the project's own tools start, in the order of what they say. */
export function startedModules(folder: string, manifest: Manifest, workerMain: string | undefined): string[] {
  const scripts = Object.entries(manifest.scripts ?? {}).sort(([a], [b]) => rank(a) - rank(b));
  const named = scripts.flatMap(([, script]) => script.match(/(?<=^|[\s=])[\w@./-]+\.[cm]?[jt]sx?(?=$|\s)/g) ?? []);
  const fields = [manifest.source, manifest.main, manifest.module, ...exported(manifest.exports)];
  const paths = [workerMain, ...named, ...fields, ...usual].flatMap((path) => (path ? [path, ...unbuilt(path)] : []));
  const files = paths.map((path) => sourceFile(resolve(folder, path)));
  return [...new Set(files.filter((file): file is string => file !== undefined && !/node_modules/.test(file)))].filter(
    (file) =>
      !/(?:^|[\\/])(?:dist|build|out)[\\/]/.test(relative(folder, file)) && !/\.(?:test|spec|config)\.\w+$/.test(file),
  );
}

const rank = (script: string) => (/^(?:dev|start)/.test(script) ? 0 : /^(?:deploy|serve)/.test(script) ? 1 : 2);

/** The sources of a built file: `dist/index.js` is made from `src/index.ts`. */
function unbuilt(path: string): string[] {
  const [, rest] = /^(?:\.\/)?(?:dist|build|out|lib)\/(.+)$/.exec(path) ?? [];
  return rest === undefined ? [] : [`src/${rest}`, rest];
}

function exported(exports: unknown): string[] {
  if (typeof exports === "string") return [exports];
  return Object.values(Object(exports) as object).flatMap(exported);
}

/** Finds the app among modules that are started, and in what they import. */
export function findApp(started: readonly string[], aliases: Readonly<Record<string, string>>): FoundApp | undefined {
  const trees = started.map((file) => sourcesFrom(file, aliases));
  // The started modules first; then the modules that they import.
  for (const [own] of trees) {
    const app = own && appOf(own);
    if (app !== undefined) return app;
  }
  for (const [, ...imported] of trees) {
    const apps = imported
      .flatMap((source) => appOf(source) ?? [])
      .filter(({ file }) => MAKES_APP.test(textOf(file, imported)));
    // Sub-apps are imported by the one that mounts them.
    const [outermost] = apps;
    if (outermost !== undefined) return outermost;
  }
  return undefined;
}

const textOf = (file: string, sources: readonly Source[]) => sources.find((source) => source.file === file)?.text ?? "";

/** The export of a module that answers requests. */
export function appOf({ file, text }: Source): FoundApp | undefined {
  const code = text.replace(/\/\*[\s\S]*?\*\/|^[ \t]*\/\/.*$/gm, "");
  const found = (name: string) => ({ file, name });
  if (/^[ \t]*export\s+default\b/m.test(code) || /^[ \t]*export\s*\{[^}]*\bas\s+default\b/m.test(code)) {
    // Classes of Workers, such as `WorkerEntrypoint`, and pages of frameworks are no apps.
    if (/^[ \t]*export\s+default\s+(?:abstract\s+)?class\b/m.test(code)) return undefined;
    return MAKES_APP.test(code) || /\bfetch\b/.test(code) || /^[ \t]*export\s+default\s+\w+;?\s*$/m.test(code)
      ? found("default")
      : undefined;
  }
  for (const [, name = ""] of code.matchAll(/^[ \t]*export\s+const\s+(\w+)\s*(?::[^=]+)?=/gm)) {
    if (names.test(name) && MAKES_APP.test(code)) return found(name);
  }
  for (const [, list = ""] of code.matchAll(/^[ \t]*export\s*\{([^}]*)\}/gm)) {
    const name = list
      .split(",")
      .map(
        (each) =>
          each
            .trim()
            .split(/\s+as\s+/)
            .at(-1) ?? "",
      )
      .find((each) => names.test(each));
    if (name !== undefined && MAKES_APP.test(code)) return found(name);
  }
  return undefined;
}

/** Returns the first module that makes an app and keeps it to itself, and whether it also starts a server. */
export function hiddenApp(
  started: readonly string[],
  aliases: Readonly<Record<string, string>>,
): { readonly file: string; readonly isServer: boolean } | undefined {
  for (const file of started) {
    const [source] = existsSync(file) ? sourcesFrom(file, aliases) : [];
    if (source !== undefined && MAKES_APP.test(source.text)) return { file, isServer: SERVES.test(source.text) };
  }
  return undefined;
}

/** Returns the specifier with which a module in `folder` imports a file. */
export function specifierOf(folder: string, file: string, style: "bare" | "js" | "ts"): string {
  const path = relative(folder, file).replaceAll("\\", "/");
  const shown = path.startsWith(".") ? path : `./${path}`;
  if (style === "ts") return shown;
  const bare = shown.replace(/\.([cm]?)[jt]sx?$/, style === "js" ? ".$1js" : "");
  return bare === "" ? join(shown) : bare;
}
