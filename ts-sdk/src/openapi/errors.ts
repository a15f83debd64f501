/** Why there is no document: what OpenAPI 3.0 can't express, or a project that can't be read. It names route and field. */
export class OpenApiError extends Error {
  override readonly name = "OpenApiError";
}
