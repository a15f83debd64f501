import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { appKey } from "../abi.ts";
import type { App } from "../app/app.ts";
import type { Operation } from "../routing/operation.ts";
import { dialectOf, type OpenApiVersion } from "./dialects.ts";
import type { DocComments } from "./doc-comment.ts";
import { createDocument } from "./document.ts";
import { OpenApiError } from "./errors.ts";
import { type Bundled, bundle, evaluate, type Loaded } from "./load.ts";
import { checkManifest, type Manifest } from "./manifest.ts";
import { findPackage, type HandlerPackage, isHandlerPackage, openPackage } from "./project.ts";
import { workspaceFolders } from "./workspace.ts";

/** Options of {@link json}. */
export interface JsonOptions {
  /**
   * The handler module, a path or a `file:` URL, for its doc comments. By default it is the package of the manifest's
   * name, if the working directory is in it, or in a workspace that has it; else operations have no summary.
   */
  readonly source?: string | URL;
  /** The version of OpenAPI; `3.0` by default. */
  readonly openapi?: OpenApiVersion;
}

/**
 * The OpenAPI document of an app, as JSON text that ends with a line break: the content of `openapi.json`.
 *
 * @param app the default export of a handler module
 * @param manifest `package.json`, or its relevant members
 * @throws OpenApiError naming the route and field that OpenAPI can't express, or the manifest's key that is not a
 *   text
 * @throws TypeError when the first argument is not an app
 */
export function json(app: App, manifest: Manifest, options: JsonOptions = {}): string {
  if (app?.[appKey] !== true) throw new TypeError("json: the app must be the result of routes()");
  checkManifest(manifest, "json: the manifest");
  return serialize(app, manifest, commentsFor(app, manifest, options), options.openapi);
}

/** The document's text. */
export function serialize(app: App, manifest: Manifest, docs: DocComments, version?: OpenApiVersion): string {
  return `${JSON.stringify(createDocument(app, manifest, docs, dialectOf(version)), null, 2)}\n`;
}

/** The doc comments of an app's routes, from the source that the options name, or else from its package's. */
export function commentsFor(app: App, manifest: Manifest, { source }: JsonOptions): DocComments {
  const file = source === undefined ? sourceNamed(manifest.name) : pathOf(source);
  if (file === undefined) return new Map();
  const bundled = bundle(file);
  const own = appOf(file, bundled);
  return own === undefined
    ? bundled.marked.commentsByKey(app)
    : ofSameRoutes(own.marked.commentsOf(own.app), app, own.app);
}

function pathOf(source: string | URL): string {
  return source instanceof URL || source.startsWith("file:") ? fileURLToPath(source) : resolve(source);
}

function sourceNamed(packageName: string): string | undefined {
  return packagesHere().find(({ manifest: { name } }) => name === packageName)?.source;
}

/** The app that a module exports; undefined when it exports none or does not run by itself. */
function appOf(source: string, bundled: Bundled): Loaded<App> | undefined {
  try {
    return evaluate(source, bundled);
  } catch (error) {
    if (error instanceof OpenApiError) return undefined;
    throw error;
  }
}

/**
 * Keeps the comments of routes whose method and paths are the same, because another app than the module's own may have
 * a route of the same name.
 */
function ofSameRoutes(comments: DocComments, app: App, own: App): DocComments {
  const routeOf = ({ name, method, paths }: Operation) => JSON.stringify([name, method, paths]);
  const known = new Set(own.operations.map(routeOf));
  const same = new Set(app.operations.filter((each) => known.has(routeOf(each))).map(({ name }) => name));
  return new Map([...comments].filter(([name]) => same.has(name)));
}

function packagesHere(): HandlerPackage[] {
  const here = findPackage(process.cwd());
  const others = workspaceFolders(process.cwd()).filter(isHandlerPackage).map(openPackage);
  return here === undefined ? others : [here, ...others];
}
