/**
 * `@tenon/sdk/openapi`: writes the OpenAPI 3.0.0 document of an app. It owns everything that only the document needs:
 * the mapping of routes and schemas, and the reading of doc comments from the TypeScript source. It runs in Node, when a
 * project is tested or asked for its schema, and is never part of what is built.
 */
export type { Document } from "./document.ts";
export { OpenApiError } from "./errors.ts";
export { type JsonOptions, json } from "./json.ts";
export type { Manifest } from "./manifest.ts";
export { findPackage, type HandlerPackage, isHandlerPackage } from "./project.ts";
export { workspaceFolders } from "./workspace.ts";
export { moduleJson, packageJson, type WrittenSchema, writeSchema, writeTo } from "./write.ts";
