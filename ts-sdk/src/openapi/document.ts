import type { App } from "../app/app.ts";
import type { SecuritySchemeObject } from "../middleware/security.ts";
import { Components, type SchemaObject } from "./components.ts";
import type { OpenApiDialect } from "./dialect.ts";
import type { DocComments } from "./doc-comment.ts";
import type { Manifest } from "./manifest.ts";
import { type PathItem, paths } from "./paths.ts";
import { Security } from "./security.ts";

/** An OpenAPI document, limited to the members that Tenon writes. */
export interface Document {
  readonly openapi: OpenApiDialect["openapi"];
  readonly info: { readonly title: string; readonly version: string; readonly description?: string };
  readonly servers: readonly { readonly url: string; readonly description: string }[];
  readonly security: readonly never[];
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, SchemaObject>>;
    readonly securitySchemes?: Readonly<Record<string, SecuritySchemeObject>>;
  };
}

/**
 * Makes the document of an app. Paths, methods and components are sorted, and the order of declaration has no effect: a
 * document under version control changes only when the API does.
 */
export function createDocument(app: App, manifest: Manifest, comments: DocComments, dialect: OpenApiDialect): Document {
  const { name, version = "0.0.0", description } = manifest;
  const components = new Components(dialect);
  const security = new Security(app);
  const items = paths(app, name, comments, components, security);
  const securitySchemes = security.toJSON();
  return {
    openapi: dialect.openapi,
    info: { title: name, version, ...(description === undefined ? {} : { description }) },
    servers: [{ url: "/", description: "The component runs on any WASI Preview 2 compliant runtime" }],
    // An operation with authenticating middleware lists its own requirement; all others need none.
    security: [],
    paths: items,
    components: { schemas: components.toJSON(), ...(securitySchemes && { securitySchemes }) },
  };
}
