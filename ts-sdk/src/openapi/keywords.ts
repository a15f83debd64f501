import { type Components, reference, type SchemaObject } from "./components.ts";
import { fromDraft } from "./drafts.ts";
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

/** What libraries call the definitions that have no name of their user's: `__schema0`, and ArkType `intersection262`. */
const MADE_UP = /^__/;
const MADE_UP_BY: Readonly<Record<string, RegExp>> = { arktype: /^[a-z]+\d+$/i };

/**
 * Takes a schema that a library wrote for OpenAPI 3.0, or as JSON Schema, into a document: its definitions become
 * components, references follow them, and a keyword that 3.0 has no word for is an error, since a reader of the document
 * would pass over it.
 *
 * @param at what the schema describes, for names and errors: `createUser (POST /users), body`
 */
export function translate(
  root: SchemaObject,
  { direction, vendor }: { readonly direction: "input" | "output"; readonly vendor: string },
  components: Components,
  at: string,
): SchemaObject {
  const { definitions, $defs } = root as { definitions?: object; $defs?: object };
  const defined = new Map<string, SchemaObject>(Object.entries({ ...definitions, ...$defs }));
  const own = nameFor(at);
  const named = new Set([...defined.keys()].filter((name) => !(MADE_UP_BY[vendor] ?? MADE_UP).test(name)));
  const names = new Map(
    [...defined.keys()].map((name, i) => [name, named.has(name) ? componentName(name) : madeUp(name, i)]),
  );

  /** Told apart from those of other routes. ArkType's numbers depend on all that it was ever asked: they become ours. */
  function madeUp(name: string, i: number): string {
    return own + (MADE_UP.test(name) ? name.slice(2) : i + 1);
  }

  function visit(schema: SchemaObject | boolean, where: string): SchemaObject {
    if (typeof schema === "boolean") return schema ? {} : { not: {} };
    const meant = Object.entries(schema).filter(([key, value]) => !LEFT_OUT.has(key) && !promises(key, value));
    const translated = fromDraft(Object.fromEntries(meant));
    const ref = translated["$ref"];
    if (ref !== undefined) return refer(String(ref), where);
    return Object.fromEntries(Object.entries(translated).map(([key, value]) => [key, keyword(key, value, where)]));
  }

  /** What a library removes from its output, the server does not: answers are sent as the handler gives them. */
  function promises(key: string, value: unknown): boolean {
    return direction === "output" && key === "additionalProperties" && value === false;
  }

  function refer(ref: string, where: string): SchemaObject {
    if (ref === "#") return reference(own);
    const name = pointedAt(ref)
      .map((each) => names.get(each))
      .find((each) => each !== undefined);
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
      const current = names.get(name) ?? name;
      const known = named.has(name) && current === componentName(name) ? components.get(current) : undefined;
      return known !== undefined && JSON.stringify(known) !== JSON.stringify(visit(schema, at));
    };
    // Renaming one changes those that refer to it.
    for (let found = [...defined].find(differs); found; found = [...defined].find(differs))
      names.set(found[0], `${componentName(found[0])}Output`);
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
  if (key === "items" && Array.isArray(value)) {
    throw new OpenApiError(`${where}: OpenAPI 3.0 has no tuples: "items" is one schema for all`);
  }
  if (key === "type" && !TYPES.has(value as string)) {
    throw new OpenApiError(`${where}: OpenAPI 3.0 has no type ${JSON.stringify(value)}`);
  }
  if ((key === "exclusiveMinimum" || key === "exclusiveMaximum") && typeof value !== "boolean") {
    throw new OpenApiError(`${where}: in OpenAPI 3.0 "${key}" is true or false`);
  }
}

/** The definition that a reference names: by a JSON pointer (RFC 6901), which libraries put into the URI escaped or not. */
function pointedAt(ref: string): string[] {
  const [, pointer] = /^#\/(?:definitions|\$defs)\/([^/]+)$/.exec(ref) ?? [];
  if (pointer === undefined) return [];
  const unescaped = (token: string) => token.replaceAll("~1", "/").replaceAll("~0", "~");
  try {
    return [unescaped(pointer), unescaped(decodeURIComponent(pointer))];
  } catch {
    return [unescaped(pointer)];
  }
}

/**
 * A name that OpenAPI permits (version 3.0.0, "Components Object") for one that a library's user gave: letters lose their
 * accents, `Page<User>` is `Page_User_`, and a character of another script is written by its code, so that two such names
 * stay two.
 */
function componentName(name: string): string {
  const plain = name.normalize("NFKD").replace(/\p{M}/gu, "");
  return plain.replace(/[^\w.-]/gu, (one) => (one < "\u0080" ? "_" : `u${one.codePointAt(0)?.toString(16)}`));
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
