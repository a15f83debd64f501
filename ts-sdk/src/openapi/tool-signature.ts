/** Signatures of routes in TypeScript, which `search` of code mode answers with. */
import { PARTS } from "../mcp/code/program-input.ts";
import type { ArgumentOf } from "../mcp/types.ts";
import type { SchemaObject } from "./components.ts";
import { inComment, isPlainName, type JsonSchema, memberType, schemaType } from "./schema-type.ts";

/** A route, and the schemas of its tool. */
export interface Signed {
  readonly route: string;
  readonly method: string;
  readonly path: string;
  readonly text: string;
  readonly args: readonly ArgumentOf[];
  readonly input: SchemaObject;
  readonly output: SchemaObject | undefined;
}

/** The length from which a signature has no comments of fields: those of hundreds of fields would fill a model's context. */
const LONG = 8_000;

/** Writes the comment, the signature of a route, and the types that it names. */
export function signatureOf({ route, method, path, text, args, input, output }: Signed): string {
  const { properties = {}, required = [], $defs = {} } = input as JsonSchema;
  const parts = new Map<string, string[]>();
  const needed = new Set<string>();
  let whole: string | undefined;
  for (const [argument, place, name] of args) {
    const part = PARTS[place];
    const isRequired = required.includes(argument);
    if (isRequired) needed.add(part);
    const schema = properties[argument] ?? {};
    if (place === "body") whole = `body${isRequired ? "" : "?"}: ${typeOf(schema)}`;
    else parts.set(part, [...(parts.get(part) ?? []), memberType(name, schema, isRequired, referenced)]);
  }
  const members = [...parts].map(([part, each]) => `${part}${needed.has(part) ? "" : "?"}: { ${each.join("; ")} }`);
  if (whole !== undefined) members.push(whole);
  const argument = members.length === 0 ? "" : `input${needed.size > 0 ? "" : "?"}: { ${members.join("; ")} }`;
  const types = { ...$defs, ...(output as JsonSchema | undefined)?.$defs };
  const declared = Object.entries(types).map(([name, schema]) => `type ${identifier(name)} = ${typeOf(schema)};`);
  const result = output === undefined ? "unknown" : typeOf(output as JsonSchema);
  const place = `${method} ${path || "/"}`;
  const comment = `/** ${inComment(text === place ? place : `${text} (${place})`)} */`;
  const signature = [`${accessTo(route)}(${argument}): Answer<${result}>;`, ...declared].join("\n");
  return `${comment}\n${signature.length > LONG ? signature.replace(/\/\*\* .*? \*\/ /g, "") : signature}`;
}

/** The member of the client for a route: `api.users.list`, `api["list-users"]`. */
function accessTo(route: string): string {
  const steps = route.split(".").map((step) => (isPlainName(step) ? `.${step}` : `[${JSON.stringify(step)}]`));
  return `api${steps.join("")}`;
}

const identifier = (name: string) => name.replace(/\W/g, "_");

/** The last part of a reference is the name of a type in `$defs`. */
const referenced = (ref: string) => identifier(ref.replace(/^.*\//, ""));

const typeOf = (schema: JsonSchema) => schemaType(schema, referenced);
