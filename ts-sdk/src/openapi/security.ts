import type { App } from "../app/app.ts";
import type { SecurityScheme } from "../middleware/security.ts";
import type { Middleware } from "../middleware/types.ts";
import type { Operation } from "../routing/operation.ts";

/** A Security Requirement Object: all listed schemes are needed. */
export type SecurityRequirement = Readonly<Record<string, readonly never[]>>;

/** A Security Scheme Object. */
export type SecuritySchemeObject = Readonly<Record<string, string>>;

/** The credentials that the middleware of an app and of its operations requires. */
export class Security {
  readonly #app: readonly SecurityScheme[];
  readonly #schemes = new Map<string, SecuritySchemeObject>();

  constructor(app: App) {
    this.#app = schemesOf(app.use);
  }

  /** The requirements of an operation; `undefined` when there are none. */
  of(operation: Operation): readonly SecurityRequirement[] | undefined {
    const schemes = [...this.#app, ...schemesOf(operation.use)];
    if (schemes.length === 0) return undefined;
    for (const scheme of schemes) {
      const name = nameOf(scheme);
      // Another middleware may write the same header in another case.
      if (!this.#schemes.has(name)) this.#schemes.set(name, objectOf(scheme));
    }
    return [Object.fromEntries(schemes.map((scheme) => [nameOf(scheme), []]))];
  }

  /** `components.securitySchemes`: the schemes that operations use, by name; `undefined` when there are none. */
  toJSON(): Record<string, SecuritySchemeObject> | undefined {
    if (this.#schemes.size === 0) return undefined;
    return Object.fromEntries([...this.#schemes].sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

function schemesOf(use: App["use"]): SecurityScheme[] {
  return (use as readonly Middleware[]).flatMap((each) => each.security ?? []);
}

/** The name of its component (OpenAPI, "Components Object"); keys in different headers are different schemes. */
function nameOf({ kind, header }: SecurityScheme): string {
  return header === undefined ? kind : `${kind}_${header.toLowerCase().replace(/[^a-z0-9._-]/g, "_")}`;
}

function objectOf({ kind, header }: SecurityScheme): SecuritySchemeObject {
  switch (kind) {
    case "apiKey":
      return { type: "apiKey", in: "header", name: header ?? "" };
    case "jwt":
      return { type: "http", scheme: "bearer", bearerFormat: "JWT" };
    default:
      return { type: "http", scheme: kind };
  }
}
