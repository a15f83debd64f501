import type { StandardSchema } from "../schema/standard.ts";

/** A way to authenticate: the OpenAPI document lists it as a Security Scheme Object of this name. */
export interface SecurityScheme {
  readonly kind: "bearer" | "basic" | "apiKey" | "jwt";
  /** The header of an API key, as the app writes it. */
  readonly header?: string;
  /** The issuer of accepted tokens. */
  readonly issuer?: string | undefined;
  /** The scheme of the header `Authorization`, if it is not the usual one. */
  readonly scheme?: string;
  /** True when requests without credentials pass. */
  readonly optional?: boolean;
}

/** A Security Scheme Object, such as `{ type: "apiKey", in: "cookie", name: "sid" }`. */
export type SecuritySchemeObject = Readonly<Record<string, unknown>> & { readonly type: string };

/** The part of an OpenAPI document that a middleware describes, for each operation that it is around. */
export interface MiddlewareOpenApi {
  /** The credentials that a client has to present: Security Scheme Objects by their names, which are all needed. */
  readonly security?: Readonly<Record<string, SecuritySchemeObject>>;
  /** Answers of its own, by status; a route's declaration of a status takes their place. */
  readonly responses?: Readonly<Record<number, StandardSchema | null>>;
}
