/**
 * `@tenon/sdk/openapi`: writes the OpenAPI document of an app. It contains everything that only the document
 * needs: the mapping of routes and schemas, and the reader of doc comments in TypeScript. It runs in Node, in tests and
 * for `tenon schema`, and is never part of a component.
 */

export type { ToolEntry, ToolTable } from "../mcp/types.ts";
export { DEFAULT_VERSION, type OpenApiVersion, openApiVersions } from "./dialects.ts";
export type { Document } from "./document.ts";
export { OpenApiError } from "./errors.ts";
export { type JsonOptions, json } from "./json.ts";
export type { Manifest } from "./manifest.ts";
export { findPackage, type HandlerPackage, isHandlerPackage, sourceOf } from "./project.ts";
export { moduleTools } from "./tools.ts";
export { workspaceFolders } from "./workspace.ts";
export { moduleJson, packageJson, type WrittenSchema, writeSchema, writeTo } from "./write.ts";
