import type { OpenApiDialect } from "./dialect.ts";
import { OpenApiError } from "./errors.ts";

/** A Schema Object or a Reference Object. */
export type SchemaObject = Readonly<Record<string, unknown>>;

/** The error body that the specification prescribes; extension members are allowed. */
const PROBLEM_DETAILS: SchemaObject = {
  type: "object",
  description: "RFC 7807 problem details",
  properties: {
    type: { type: "string", default: "about:blank" },
    title: { type: "string" },
    status: { type: "integer", minimum: 100, maximum: 599 },
    detail: { type: "string" },
    instance: { type: "string" },
  },
  required: ["type", "title", "status"],
};

/** `components.schemas`: every named type that the routes use, once. */
export class Components {
  readonly dialect: OpenApiDialect;
  readonly #schemas = new Map<string, { readonly shape: string; readonly schema: SchemaObject; readonly at: string }>();

  /** @param dialect the version of OpenAPI that the document is written for */
  constructor(dialect: OpenApiDialect) {
    this.dialect = dialect;
    this.add("ProblemDetails", PROBLEM_DETAILS, "error answers");
  }

  /**
   * Adds a type and returns a reference to it.
   *
   * @param at its place, for the error when another type has that name
   */
  add(name: string, schema: SchemaObject, at: string): SchemaObject {
    const shape = JSON.stringify(schema);
    const other = this.#schemas.get(name);
    if (other === undefined) this.#schemas.set(name, { shape, schema, at });
    else if (other.shape !== shape) {
      throw new OpenApiError(
        `two different types are called "${name}": one in ${other.at}, another in ${at}; each name must belong to one type`,
      );
    }
    return reference(name);
  }

  get(name: string): SchemaObject | undefined {
    return this.#schemas.get(name)?.schema;
  }

  /** Sorted by name, so that the order of routes has no effect. */
  toJSON(): Record<string, SchemaObject> {
    const sorted = [...this.#schemas].sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(sorted.map(([name, { schema }]) => [name, schema]));
  }
}

/** The Reference Object of a component. */
export function reference(name: string): SchemaObject {
  return { $ref: `#/components/schemas/${name}` };
}
