/**
 * The reason why there is no document: OpenAPI can't express a schema, or a project can't be read. The message
 * names route and field.
 */
export class OpenApiError extends Error {
  override readonly name = "OpenApiError";
}
