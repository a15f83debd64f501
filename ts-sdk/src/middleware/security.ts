/** A Security Scheme Object of OpenAPI 3.0, and the name of its component. */
export interface SecurityScheme {
  readonly name: string;
  readonly scheme: Readonly<Record<string, unknown>>;
}
