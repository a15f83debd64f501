/** A way to authenticate: the OpenAPI document lists it as a Security Scheme Object of this name. */
export interface SecurityScheme {
  readonly kind: "bearer" | "basic" | "apiKey" | "jwt";
  /** The header of an API key, as the app writes it. */
  readonly header?: string;
}
