import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { type App, appKey } from "../app/app.ts";
import type { DocComments } from "./doc-comment.ts";
import { createDocument } from "./document.ts";
import { bundle } from "./load.ts";
import { checkManifest, type Manifest } from "./manifest.ts";
import { findPackage, type HandlerPackage, isHandlerPackage, openPackage } from "./project.ts";
import { routeComments } from "./route-comments.ts";
import { workspaceFolders } from "./workspace.ts";

/** How {@link json} goes about it. */
export interface JsonOptions {
  /**
   * The handler module, a path or a `file:` URL, for its doc comments. When it is left out, the package of the manifest's
   * name is taken if the working directory is in it, or in an npm workspace that has it; else operations have no summary.
   */
  readonly source?: string | URL;
}

/**
 * The OpenAPI 3.0.0 document of an app, as JSON text that ends with a line break: what `openapi.json` holds.
 *
 * @param app the default export of a handler module
 * @param manifest `package.json`, or what of it counts
 * @throws OpenApiError naming route and field of what OpenAPI 3.0 can't express, or the manifest's key that is no text
 * @throws TypeError when the first argument is no app
 */
export function json(app: App, manifest: Manifest, options: JsonOptions = {}): string {
  if (app?.[appKey] !== true) throw new TypeError("json: takes the app that routes() gives");
  checkManifest(manifest, "json: the manifest");
  return serialize(app, manifest, comments(manifest, options));
}

/** The document's text. */
export function serialize(app: App, manifest: Manifest, docs: DocComments): string {
  return `${JSON.stringify(createDocument(app, manifest, docs), null, 2)}\n`;
}

function comments(manifest: Manifest, { source }: JsonOptions): DocComments {
  if (source !== undefined) {
    const file = source instanceof URL || source.startsWith("file:") ? fileURLToPath(source) : resolve(source);
    return routeComments(bundle(file).graph);
  }
  const found = packagesHere().find(({ manifest: { name } }) => name === manifest.name);
  return found === undefined ? new Map() : routeComments(bundle(found.source).graph);
}

function packagesHere(): HandlerPackage[] {
  const here = findPackage(process.cwd());
  const others = workspaceFolders(process.cwd()).filter(isHandlerPackage).map(openPackage);
  return here === undefined ? others : [here, ...others];
}
