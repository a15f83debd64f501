import { type Components, reference, type SchemaObject } from "./components.ts";
import { OpenApiError } from "./errors.ts";

/** The keywords of a Schema Object (OpenAPI 3.0.0, section 4.7.24), and where schemas stand in them. */
const KEYWORDS: Readonly<Record<string, "schema" | "schemas" | "named" | "schema or boolean" | "value">> = {
  ...all("value", "title", "multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum", "maxLength"),
  ...all("value", "minLength", "pattern", "maxItems", "minItems", "uniqueItems", "maxProperties", "minProperties"),
  ...all("value", "required", "enum", "type", "description", "format", "default", "nullable", "discriminator"),
  ...all("value", "readOnly", "writeOnly", "xml", "externalDocs", "example", "deprecated"),
  ...all("schemas", "allOf", "oneOf", "anyOf"),
  ...all("schema", "not", "items"),
  properties: "named",
  additionalProperties: "schema or boolean",
};

/** Of a converted schema as a whole: not part of its meaning, or read already. */
const LEFT_OUT = new Set(["$schema", "$id", "id", "$comment", "definitions", "$defs"]);

const TYPES = new Set(["string", "number", "integer", "boolean", "array", "object"]);

function all<Kind extends string>(kind: Kind, ...names: string[]): Record<string, Kind> {
  return Object.fromEntries(names.map((name) => [name, kind]));
}

/**
 * Takes a schema that a library wrote for OpenAPI 3.0 into a document: its definitions become components, references
 * follow them, and a keyword that 3.0 does not have is an error, since a reader of the document would pass over it.
 *
 * @param at what the schema describes, for names and errors: `createUser (POST /users), body`
 */
export function translate(
  root: SchemaObject,
  direction: "input" | "output",
  components: Components,
  at: string,
): SchemaObject {
  const { definitions, $defs } = root as { definitions?: object; $defs?: object };
  const defined = new Map<string, SchemaObject>(Object.entries({ ...definitions, ...$defs }));
  const own = nameFor(at);
  // A name that the library made up is told apart from those of other routes.
  const names = new Map([...defined.keys()].map((name) => [name, name.startsWith("__") ? own + name.slice(2) : name]));

  function visit(schema: SchemaObject, where: string): SchemaObject {
    const ref = schema["$ref"];
    if (ref !== undefined) return refer(String(ref), where);
    const entries = Object.entries(schema).filter(([key, value]) => !LEFT_OUT.has(key) && !promises(key, value));
    return Object.fromEntries(entries.map(([key, value]) => [key, keyword(key, value, where)]));
  }

  /** What a library removes from its output, the server does not: answers are sent as the handler gives them. */
  function promises(key: string, value: unknown): boolean {
    return direction === "output" && key === "additionalProperties" && value === false;
  }

  function refer(ref: string, where: string): SchemaObject {
    if (ref === "#") return reference(own);
    const name = names.get(decodeURIComponent(ref.replace(/^#\/(?:definitions|\$defs)\//, "")));
    if (name === undefined) throw new OpenApiError(`${where}: the reference ${ref} leads nowhere`);
    return reference(name);
  }

  function keyword(key: string, value: unknown, where: string): unknown {
    check(key, value, where);
    switch (KEYWORDS[key]) {
      case "schema":
        return visit(value as SchemaObject, where);
      case "schema or boolean":
        return typeof value === "boolean" ? value : visit(value as SchemaObject, where);
      case "schemas":
        return (value as SchemaObject[]).map((each) => visit(each, where));
      case "named": {
        const properties = Object.entries(value as Record<string, SchemaObject>);
        return Object.fromEntries(properties.map(([name, each]) => [name, visit(each, `${where}/${name}`)]));
      }
      default:
        return value;
    }
  }

  /** Where a type comes out in another shape than it goes in, as one with defaults does, it has a name of its own. */
  function renameOutputs(): void {
    const differs = ([name, schema]: [string, SchemaObject]) => {
      const known = names.get(name) === name ? components.get(name) : undefined;
      return known !== undefined && JSON.stringify(known) !== JSON.stringify(visit(schema, at));
    };
    // Renaming one changes those that refer to it.
    for (let found = [...defined].find(differs); found; found = [...defined].find(differs))
      names.set(found[0], `${found[0]}Output`);
  }

  if (direction === "output") renameOutputs();
  for (const [name, schema] of defined) components.add(names.get(name) ?? name, visit(schema, `${at} (${name}) #`), at);
  const schema = visit(root, `${at} #`);
  return refersToRoot(root) ? components.add(own, schema, at) : schema;
}

function check(key: string, value: unknown, where: string): void {
  if (!Object.hasOwn(KEYWORDS, key) && !key.startsWith("x-")) {
    throw new OpenApiError(`${where}: OpenAPI 3.0 has no "${key}"`);
  }
  if (key === "type" && !TYPES.has(value as string)) {
    throw new OpenApiError(`${where}: OpenAPI 3.0 has no type ${JSON.stringify(value)}`);
  }
  if ((key === "exclusiveMinimum" || key === "exclusiveMaximum") && typeof value !== "boolean") {
    throw new OpenApiError(`${where}: in OpenAPI 3.0 "${key}" is true or false`);
  }
}

function refersToRoot(root: SchemaObject): boolean {
  return JSON.stringify(root).includes('"$ref":"#"');
}

/** `createUser (POST /users), body` → `CreateUserBody`. */
function nameFor(at: string): string {
  const [handler = "", kind = ""] = at.replace(/ \(.*\)/, "").split(", ");
  return [handler, kind]
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("")
    .replace(/[^\w.-]/g, "_");
}
