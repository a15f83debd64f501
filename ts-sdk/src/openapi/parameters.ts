import type { Operation } from "../routing/operation.ts";
import type { ObjectSchema } from "../schema/object.ts";
import { isSchema, type Schema } from "../schema/schema.ts";
import type { StandardSchema } from "../schema/standard.ts";
import type { Components, SchemaObject } from "./components.ts";
import { OpenApiError } from "./errors.ts";
import { foreignProperties } from "./foreign.ts";
import { parameterSchema } from "./schema.ts";

type Where = "path" | "query" | "header";

/** A Parameter Object. */
export interface ParameterObject {
  readonly name: string;
  readonly in: Where;
  readonly required: boolean;
  readonly description?: string;
  readonly deprecated?: boolean;
  readonly schema: SchemaObject;
}

/** The parameters of an operation at one of its paths: the placeholders from left to right, the query's fields, the headers. */
export function parameters(
  { options }: Operation,
  placeholders: readonly string[],
  components: Components,
  at: string,
): ParameterObject[] {
  const path = options.path ? read("path", options.path, components, `${at}, path`) : undefined;
  const query = options.query ? read("query", options.query, components, `${at}, query`) : [];
  const headers = options.headers ? read("header", options.headers, components, `${at}, headers`) : [];
  const named = placeholders.map((name): ParameterObject => {
    // An undeclared placeholder, which the route reads from the raw path, is any text.
    if (path === undefined) return parameter(name, "path", true, { type: "string" });
    const declared = path.find((each) => each.name === name);
    if (declared === undefined) throw new OpenApiError(`${at}: the path's schema has no field for {${name}}`);
    return declared;
  });
  return [...named, ...query, ...headers.filter(({ name }) => !IGNORED.has(name))];
}

/** The headers that a document describes elsewhere (OpenAPI 3.0.0, "Parameter Object"). */
const IGNORED = new Set(["accept", "content-type", "authorization"]);

function read(where: Where, schema: StandardSchema, components: Components, at: string): ParameterObject[] {
  if (isSchema(schema)) {
    const { fields } = schema as unknown as ObjectSchema;
    return Object.entries(fields).map(([name, field]) => own(name, where, field, components, `${at} #/${name}`));
  }
  return foreignProperties(schema, components, at).map(({ name, required, schema: property }) =>
    parameter(name, where, where === "path" || required, property),
  );
}

function own(name: string, where: Where, field: Schema, components: Components, at: string): ParameterObject {
  return parameter(name, where, field.presence === "required", parameterSchema(field, components, at));
}

/** Description and deprecation are in both: tools read them from the parameter, and the field's are in the schema. */
function parameter(name: string, where: Where, required: boolean, schema: SchemaObject): ParameterObject {
  const { description, deprecated } = schema as { description?: string; deprecated?: boolean };
  return {
    name,
    in: where,
    required,
    ...(description === undefined ? {} : { description }),
    ...(deprecated ? { deprecated } : {}),
    schema,
  };
}
