import { type Components, reference, type SchemaObject } from "./components.ts";
import type { OpenApiDialect } from "./dialect.ts";
import { OpenApiError } from "./errors.ts";

/** Keywords of a converted schema as a whole, which do not change its meaning or were read before. */
const LEFT_OUT = new Set(["$schema", "$id", "id", "$comment", "definitions", "$defs"]);

/** Keywords that restrict values, and that not every version of OpenAPI has. */
const RESTRICTING = new Set(
  (
    "const if then else contains minContains maxContains prefixItems additionalItems unevaluatedItems propertyNames " +
    "patternProperties unevaluatedProperties dependencies dependentRequired dependentSchemas nullable " +
    "contentEncoding contentMediaType contentSchema $dynamicRef $recursiveRef"
  ).split(" "),
);

/** The names that libraries make up for unnamed definitions: `__schema0`, ArkType's `intersection262`, Valibot's `0`. */
const MADE_UP = /^__/;
const MADE_UP_BY: Readonly<Record<string, RegExp>> = { arktype: /^[a-z]+\d+$/i, valibot: /^\d+$/ };

/**
 * Adds a schema that a library wrote to a document: its definitions become components, and references point there. A
 * restricting keyword that the document's version lacks is an error, because readers would ignore it. Other keys that it
 * lacks are left out: in JSON Schema, an unknown key is a note (draft 2020-12, section 4.3.1).
 *
 * @param at the schema's place, for names and errors: `createUser (POST /users), body`
 */
export function translate(
  root: SchemaObject,
  { direction, vendor }: { readonly direction: "input" | "output"; readonly vendor: string },
  components: Components,
  at: string,
): SchemaObject {
  const { dialect } = components;
  const { definitions, $defs } = root as { definitions?: object; $defs?: object };
  const defined = new Map<string, SchemaObject>(Object.entries({ ...definitions, ...$defs }));
  const own = nameFor(at);
  const named = new Set([...defined.keys()].filter((name) => !(MADE_UP_BY[vendor] ?? MADE_UP).test(name)));
  const names = new Map(
    [...defined.keys()].map((name, i) => [name, named.has(name) ? componentName(name) : madeUp(name, i)]),
  );

  /**
   * Names a definition without colliding with other routes. ArkType's numbers depend on all schemas of the process, and
   * Valibot's begin with each schema, so they are replaced.
   */
  function madeUp(name: string, i: number): string {
    return own + (MADE_UP.test(name) ? name.slice(2) : i + 1);
  }

  function visit(schema: SchemaObject | boolean, where: string): SchemaObject {
    if (typeof schema === "boolean") return schema ? {} : { not: {} };
    const meant = Object.entries(schema).filter(([key, value]) => !LEFT_OUT.has(key) && !promises(key, value));
    const { $ref, ...translated } = dialect.fromTarget(Object.fromEntries(meant));
    const known = Object.entries(translated).filter(([key]) => isKeyword(dialect, key) || RESTRICTING.has(key));
    const entries = Object.fromEntries(known.map(([key, value]) => [key, keyword(key, value, where)]));
    if ($ref === undefined) return entries;
    const target = refer(String($ref), where);
    // Only a reference may have keywords beside it that hold as well.
    return "$ref" in target || known.length === 0
      ? { ...target, ...entries }
      : { ...entries, allOf: [target, ...((entries["allOf"] ?? []) as SchemaObject[])] };
  }

  /**
   * Reports a keyword that does not hold for answers: a library removes unknown keys from its output, but the server
   * sends answers as the handler returns them.
   */
  function promises(key: string, value: unknown): boolean {
    return direction === "output" && key === "additionalProperties" && value === false;
  }

  function refer(ref: string, where: string): SchemaObject {
    if (ref === "#") return reference(own);
    const name = pointedAt(ref).find((each) => names.has(each));
    if (name === undefined) throw new OpenApiError(`${where}: the reference ${ref} leads nowhere`);
    return isInlined(name) ? visit(defined.get(name) ?? {}, where) : reference(names.get(name) ?? name);
  }

  /**
   * Reports whether a definition stands where it is used: one with a name that the library made up, unless it holds
   * itself. Else the shape of a type would depend on the definitions of the schema around it.
   */
  function isInlined(name: string): boolean {
    const seen = new Set<string>();
    const unnamedIn = (each: string) =>
      referredBy(defined.get(each)).filter((one) => names.has(one) && !named.has(one));
    const leadsBack = (each: string): boolean =>
      unnamedIn(each).some((next) => next === name || (!seen.has(next) && seen.add(next) && leadsBack(next)));
    return !named.has(name) && !leadsBack(name);
  }

  function keyword(key: string, value: unknown, where: string): unknown {
    check(dialect, key, value, where);
    switch (dialect.keywords[key]) {
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

  /** Renames types whose output differs from their input, as with defaults. */
  function renameOutputs(): void {
    const differs = ([name, schema]: [string, SchemaObject]) => {
      const current = names.get(name) ?? name;
      const known = named.has(name) && current === componentName(name) ? components.get(current) : undefined;
      return known !== undefined && JSON.stringify(known) !== JSON.stringify(visit(schema, at));
    };
    // Renaming one type changes those that refer to it.
    for (let found = [...defined].find(differs); found; found = [...defined].find(differs))
      names.set(found[0], `${componentName(found[0])}Output`);
  }

  if (direction === "output") renameOutputs();
  for (const [name, schema] of defined)
    if (!isInlined(name)) components.add(names.get(name) ?? name, visit(schema, `${at} (${name}) #`), at);
  const schema = visit(root, `${at} #`);
  return refersToRoot(root) ? components.add(own, schema, at) : schema;
}

function check(dialect: OpenApiDialect, key: string, value: unknown, where: string): void {
  const wrong = isKeyword(dialect, key) ? dialect.problem(key, value) : `has no "${key}"`;
  if (wrong !== undefined) throw new OpenApiError(`${where}: ${dialect.name} ${wrong}`);
}

function isKeyword({ keywords }: OpenApiDialect, key: string): boolean {
  return Object.hasOwn(keywords, key) || key.startsWith("x-");
}

/** The definitions that the references in a schema name. */
function referredBy(schema: SchemaObject | undefined): string[] {
  const found: string[] = [];
  JSON.stringify(schema, (key, value) => {
    if (key === "$ref" && typeof value === "string") found.push(...pointedAt(value));
    return value;
  });
  return found;
}

/** The path to the definition that a reference names: a JSON pointer (RFC 6901), which libraries escape or not. */
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
 * Converts a name to one that OpenAPI permits (version 3.0.0, "Components Object"): letters lose their accents,
 * `Page<User>` is `Page_User_`, and a character of another script becomes its code, so that such names stay distinct.
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
