/** Loads a handler module in Node, with its sources. */
import { builtinModules, createRequire } from "node:module";
import { basename, dirname, join, relative, resolve } from "node:path";
import { compileFunction } from "node:vm";
import type { BuildFailure, Message, Metafile } from "esbuild";
import { appKey, buildingKey } from "../abi.ts";
import type { App } from "../app/app.ts";
import { circleOf, type Imports, importsOf } from "../import-circle.ts";
import { kindOf } from "../kind-of.ts";
import { platform } from "../platform.ts";
import { runAwaiting } from "./awaiting.ts";
import { BundleSources, type SourcePlace } from "./bundle-sources.ts";
import { OpenApiError } from "./errors.ts";
import { MARK, MarkedBundle } from "./marks.ts";
import { ofBuild } from "./of-build.ts";
import { runTopLevel } from "./run.ts";
import { isOfSdk, placeOfThrown } from "./thrown.ts";

/** A handler module bundled into one file, and its sources. */
export interface Bundled {
  readonly marked: MarkedBundle;
  readonly sources: BundleSources;
  /** The imports of the modules outside of packages, by absolute paths. */
  readonly imports: Imports;
  /** The place of the first `await` at a top level; the code is an ES module then, and else CommonJS. */
  readonly awaits?: string;
}

/**
 * Bundles a handler module as `tenon build` does, but for Node: it resolves imports by the same rules, from TypeScript.
 *
 * @throws OpenApiError with file, line and column when it can't be bundled
 */
export function bundle(source: string): Bundled {
  try {
    return bundleAs("cjs", source);
  } catch (error) {
    const awaits = placeOf(source, firstOf(error));
    try {
      // CommonJS has no top-level await; retry as ESM.
      return { ...bundleAs("esm", source), awaits };
    } catch (error) {
      const message = firstOf(error);
      throw new OpenApiError(`${placeOf(source, message)}: ${message.text}`);
    }
  }
}

/** The form of packages: for Node, or for browsers where that imports modules of Node that a handler lacks. */
type Form = "node" | "browser";

function bundleAs(format: "cjs" | "esm", source: string, form: Form = "node"): Bundled {
  const isForBrowsers = form === "browser";
  const { outputFiles, metafile } = ofBuild("esbuild").buildSync({
    // Relative, because esbuild takes a name with a star for a pattern.
    entryPoints: [`./${basename(source)}`],
    absWorkingDir: dirname(source),
    bundle: true,
    write: false,
    // Sets only the base of the map's paths. A source map in the code would make Node change stacks by itself.
    outfile: join(dirname(source), BUNDLE),
    sourcemap: "external",
    sourcesContent: false,
    metafile: true,
    format,
    // For other platforms esbuild leaves the field `browser` alone.
    platform: form,
    mainFields: [...(isForBrowsers ? ["browser"] : []), "module", "main"],
    conditions: ["tenon", "worker", "import", "default", ...(isForBrowsers ? ["browser"] : [])],
    target: "node20",
    external: ["wasi:*", ...(isForBrowsers ? ["node:*", ...builtinModules] : [])],
    // A module's functions are not called at top level.
    loader: { ".wasm": "empty" },
    // Empty as in CommonJS, because the bundle does not run as a module.
    ...(format === "esm" ? { define: { "import.meta": "{}" } } : {}),
    logLevel: "silent",
  });
  const output = (name: string) => outputFiles.find(({ path }) => path.endsWith(name))?.text ?? "";
  const sources = new BundleSources(output(`${BUNDLE}.map`), dirname(source));
  const marked = new MarkedBundle(output(BUNDLE), sources, modulesWithRoutes(source, metafile));
  return { marked, sources, imports: importsIn(source, metafile) };
}

/** The modules that may declare routes: the project's own, and those of packages that import the SDK. */
function modulesWithRoutes(source: string, { inputs }: Metafile): ReadonlySet<string> {
  const folders = new Map<string, boolean>();
  const isSdk = (path: string) => {
    const folder = dirname(path);
    const known = folders.get(folder) ?? isOfSdk(resolve(dirname(source), path));
    folders.set(folder, known);
    return known;
  };
  const packageOf = (path: string) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0];
  const packages = new Set<string | undefined>([undefined]);
  for (const [path, { imports }] of Object.entries(inputs)) {
    if (imports.some((each) => !each.external && isSdk(each.path))) packages.add(packageOf(path));
  }
  const mayDeclare = (path: string) => SCRIPT.test(path) && packages.has(packageOf(path)) && !isSdk(path);
  return new Set(Object.keys(inputs).filter(mayDeclare));
}

/** Files of code. A bundle has others too, such as JSON and text. */
const SCRIPT = /\.[cm]?[jt]sx?$/;

function importsIn(source: string, { inputs }: Metafile): Imports {
  const absolute = (path: string) => resolve(dirname(source), path);
  return new Map([...importsOf({ inputs })].map(([file, imported]) => [absolute(file), imported.map(absolute)]));
}

/** The name of the bundle, which is never written. */
const BUNDLE = "tenon-schema.js";

/** esbuild's first message; rethrows any other error. */
function firstOf(error: unknown): Message {
  const [first] = (error as BuildFailure).errors ?? [];
  if (first === undefined) throw error;
  return first;
}

/** `src/users.ts:3:11`, and without a location the handler module. */
function placeOf(source: string, { location }: Message): string {
  if (location === null) return shown(source);
  return shownAt({ ...location, file: join(dirname(source), location.file), column: location.column + 1 });
}

/**
 * Runs a bundled handler module and returns the app that it exports. It is compiled as a function and not imported, so
 * that it can be garbage-collected: `tenon dev` loads a module after every change.
 *
 * @throws OpenApiError when its top level throws, never ends, or exports no app
 */
export function evaluate(source: string, bundled: Bundled): Loaded<App> {
  const { app, marked } = evaluateAny(source, bundled);
  if (!("getOpenAPIDocument" in app)) return { app, marked };
  throw new OpenApiError(
    `${shown(source)}: the default export is not the result of routes(), but an app with a document of its own`,
  );
}

/** An app, and the bundle that ran, which has the comments of its routes. */
export interface Loaded<A = App | DocumentedApp> {
  readonly app: A;
  readonly marked: MarkedBundle;
}

/** An app of another library that writes its document itself, such as `OpenAPIHono` of `@hono/zod-openapi`. */
export interface DocumentedApp {
  getOpenAPIDocument(config: DocumentConfig): unknown;
  /** Writes the document of OpenAPI 3.1. */
  getOpenAPI31Document?(config: DocumentConfig): unknown;
}

interface DocumentConfig {
  readonly openapi: string;
  readonly info: Readonly<Record<string, string>>;
}

/** Does what {@link evaluate} does, and also returns an app that writes its document itself. */
export function evaluateAny(source: string, bundled: Bundled): Loaded {
  const { app, marked } = topLevel(source, bundled);
  if (app?.[appKey] === true) return { app, marked };
  const { fetch, getOpenAPIDocument } = Object(app) as Partial<DocumentedApp> & { fetch?: unknown };
  if (typeof fetch === "function") {
    if (typeof getOpenAPIDocument === "function") return { app: app as unknown as DocumentedApp, marked };
    throw new OpenApiError(
      `${shown(source)}: the default export speaks fetch, and its routes are its own; an app of @hono/zod-openapi has a document`,
    );
  }
  const found =
    app === undefined
      ? "there is no default export"
      : `the default export is not the result of routes(), but ${kindOf(app)}`;
  throw new OpenApiError(`${shown(source)}: ${found}: export default routes({ … })`);
}

/** Takes an app's listener of `fetch`, which has no routes to describe. */
function addEventListener(): void {}

/**
 * Returns the default export. Where a package imports a module of Node that a handler lacks, its form for browsers runs, as in a
 * build.
 */
function topLevel(source: string, bundled: Bundled): Loaded<App | undefined> {
  try {
    return topLevelOf(source, bundled);
  } catch (error) {
    if (!(error instanceof OpenApiError && error.cause instanceof AbsentModule)) throw error;
    try {
      return topLevelOf(source, {
        ...bundled,
        ...bundleAs(bundled.awaits === undefined ? "cjs" : "esm", source, "browser"),
      });
    } catch {
      // Without such a form, the first error is the one to mend.
      throw error;
    }
  }
}

function topLevelOf(source: string, { marked, sources, imports, awaits }: Bundled): Loaded<App | undefined> {
  const module: { exports: { default?: unknown } } = { exports: {} };
  const declared = new Map<object, Error>();
  let done = true;
  try {
    platform[buildingKey] = declared;
    done = runTopLevel(() => {
      if (awaits !== undefined) return runAwaiting(marked, module, absent, source);
      // Kept after this run, for later promise callbacks of the module.
      const contextExtensions = [{ console, setTimeout, setInterval, setImmediate, addEventListener }];
      const run = compileFunction(marked.code, ["module", "exports", "require", MARK], {
        filename: source,
        contextExtensions,
      });
      run(module, module.exports, absent, marked.mark);
      return true;
    });
  } catch (error) {
    if (error instanceof OpenApiError) throw new OpenApiError(`${shown(source)}: ${error.message}`);
    const place = placeOfThrown(error, source, marked, sources);
    const where = place === undefined ? shown(source) : shownAt(place);
    const reason = reasonOf(error);
    const circle = place === undefined ? "" : circleOf(reason, shown(place.file), shownImports(imports));
    throw new OpenApiError(`${where}: the module's top level failed: ${reason}${circle}`, { cause: error });
  } finally {
    delete platform[buildingKey];
  }
  const [lost] = declared.values();
  if (done && lost !== undefined) {
    const place = placeOfThrown(lost, source, marked, sources);
    throw new OpenApiError(
      `${place === undefined ? shown(source) : shownAt(place)}: no routes() has ${lost.message}: a later definition of the same ` +
        "name replaces an earlier one where modules are spread into one object; give each module a group(…)",
    );
  }
  if (done) return { app: module.exports.default as App | undefined, marked };
  throw new OpenApiError(
    `${awaits}: the module's top level awaits what does not come by itself: timers, answers and the work of other ` +
      "threads, such as crypto.subtle, belong into handlers",
  );
}

function shownImports(imports: Imports): Imports {
  return new Map([...imports].map(([file, imported]) => [shown(file), imported.map(shown)]));
}

/** The message of an error, which may be of another realm. */
function reasonOf(error: unknown): string {
  const { name, message } = Object(error) as { name?: unknown; message?: unknown };
  return message === undefined ? String(error) : `${name}: ${message}`;
}

/** Node's modules that a build replaces (`cli/src/build/node-modules.ts`); here they are Node's own. */
const served =
  /^(node:)?(assert|async_hooks|buffer|crypto|diagnostics_channel|events|path|perf_hooks|process|punycode|querystring|stream|string_decoder|sys|timers|url|util)(\/(strict|posix|promises|types|web))?$/;

function absent(name: string): unknown {
  if (served.test(name)) return createRequire(import.meta.url)(name);
  throw new AbsentModule(`"${name}" is not part of a handler: there is no Node in a component`);
}

/** Thrown for an import of a module of Node that a handler lacks. */
class AbsentModule extends TypeError {
  override readonly name = "TypeError";
}

function shownAt({ file, line, column }: SourcePlace): string {
  return `${shown(file)}:${line}:${column}`;
}

function shown(source: string): string {
  return relative(process.cwd(), source);
}
