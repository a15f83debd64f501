import type { App } from "../app/app.ts";
import type { SecurityScheme, SecuritySchemeObject } from "../middleware/security.ts";
import type { Middleware } from "../middleware/types.ts";
import type { Operation } from "../routing/operation.ts";
import { OpenApiError } from "./errors.ts";

/** A Security Requirement Object: all listed schemes are needed. */
export type SecurityRequirement = Readonly<Record<string, readonly never[]>>;

/** The credentials that the middleware of an app and of its operations requires. */
export class Security {
  readonly #app: readonly NamedScheme[];
  readonly #schemes = new Map<string, SecuritySchemeObject>();

  constructor(app: App) {
    this.#app = schemesOf(app.use);
  }

  /** The requirements of an operation; `undefined` when there are none. */
  of(operation: Operation): readonly SecurityRequirement[] | undefined {
    const schemes = [...this.#app, ...schemesOf(operation.use)];
    if (schemes.length === 0) return undefined;
    for (const [name, scheme, isOwn] of schemes) {
      const known = this.#schemes.get(name);
      if (isOwn && known !== undefined && JSON.stringify(known) !== JSON.stringify(scheme)) {
        throw new OpenApiError(`two different security schemes are called "${name}"; a name must stand for one scheme`);
      }
      // Another middleware may write the same header in another case.
      if (known === undefined) this.#schemes.set(name, scheme);
    }
    const requirement = (all: readonly NamedScheme[]) => Object.fromEntries(all.map(([name]) => [name, []] as const));
    const needed = schemes.filter(([, , , isOptional]) => !isOptional);
    return needed.length < schemes.length ? [requirement(schemes), requirement(needed)] : [requirement(schemes)];
  }

  /** `components.securitySchemes`: the schemes that operations use, by name; `undefined` when there are none. */
  toJSON(): Record<string, SecuritySchemeObject> | undefined {
    if (this.#schemes.size === 0) return undefined;
    return Object.fromEntries([...this.#schemes].sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

/** A scheme with its name, and whether the program describes it itself. */
type NamedScheme = readonly [name: string, scheme: SecuritySchemeObject, isOwn: boolean, isOptional: boolean];

function schemesOf(use: App["use"]): NamedScheme[] {
  return (use as readonly Middleware[]).flatMap(({ security, openapi }): NamedScheme[] => {
    const own = Object.entries(openapi?.security ?? {}).map(
      ([name, scheme]): NamedScheme => [name, scheme, true, false],
    );
    return security === undefined
      ? own
      : [[nameOf(security), objectOf(security), false, security.optional === true], ...own];
  });
}

/** The name of its component (OpenAPI, "Components Object"); keys in different headers are different schemes. */
function nameOf({ kind, header }: SecurityScheme): string {
  return header === undefined ? kind : `${kind}_${header.toLowerCase().replace(/[^a-z0-9._-]/g, "_")}`;
}

function objectOf({ kind, header, scheme }: SecurityScheme): SecuritySchemeObject {
  switch (kind) {
    case "apiKey":
      return { type: "apiKey", in: "header", name: header ?? "" };
    case "jwt":
      if (scheme !== undefined) return { type: "http", scheme: scheme.toLowerCase() };
      return { type: "http", scheme: "bearer", bearerFormat: "JWT" };
    default:
      return { type: "http", scheme: kind };
  }
}
