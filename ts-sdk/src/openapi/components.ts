import { OpenApiError } from "./errors.ts";

/** A Schema Object or a Reference Object of OpenAPI 3.0. */
export type SchemaObject = Readonly<Record<string, unknown>>;

/** The error body, as the specification has it; extension members are allowed beside its own. */
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
  readonly #schemas = new Map<string, { readonly shape: string; readonly schema: SchemaObject; readonly at: string }>();

  constructor() {
    this.add("ProblemDetails", PROBLEM_DETAILS, "error answers");
  }

  /**
   * Adds a type and gives the reference to it.
   *
   * @param at where it is used, for the error when another type of that name is there
   */
  add(name: string, schema: SchemaObject, at: string): SchemaObject {
    const shape = JSON.stringify(schema);
    const other = this.#schemas.get(name);
    if (other === undefined) this.#schemas.set(name, { shape, schema, at });
    else if (other.shape !== shape) {
      throw new OpenApiError(
        `two different types are called "${name}": one in ${other.at}, another in ${at}; a name stands for one shape`,
      );
    }
    return reference(name);
  }

  get(name: string): SchemaObject | undefined {
    return this.#schemas.get(name)?.schema;
  }

  /** By name, so that the order of routes does not show. */
  toJSON(): Record<string, SchemaObject> {
    const sorted = [...this.#schemas].sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(sorted.map(([name, { schema }]) => [name, schema]));
  }
}

/** The Reference Object of a component. */
export function reference(name: string): SchemaObject {
  return { $ref: `#/components/schemas/${name}` };
}
