/** Signatures of routes in TypeScript, which `search` of code mode answers with. */
import { PARTS } from "../mcp/code/program-input.ts";
import type { ArgumentOf } from "../mcp/types.ts";
import type { SchemaObject } from "./components.ts";

interface JsonSchema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, JsonSchema>>;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly description?: string;
  readonly contentEncoding?: string;
}

/** Depth of types in each other; deeper ones are `unknown`. */
const MAX_DEPTH = 12;

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
    if (place === "body") whole = `body${isRequired ? "" : "?"}: ${typeOf(schema, 0)}`;
    else parts.set(part, [...(parts.get(part) ?? []), member(name, schema, isRequired, 0)]);
  }
  const members = [...parts].map(([part, each]) => `${part}${needed.has(part) ? "" : "?"}: { ${each.join("; ")} }`);
  if (whole !== undefined) members.push(whole);
  const argument = members.length === 0 ? "" : `input${needed.size > 0 ? "" : "?"}: { ${members.join("; ")} }`;
  const types = { ...$defs, ...(output as JsonSchema | undefined)?.$defs };
  const declared = Object.entries(types).map(([name, schema]) => `type ${identifier(name)} = ${typeOf(schema, 0)};`);
  const result = output === undefined ? "unknown" : typeOf(output as JsonSchema, 0);
  const comment = `/** ${inComment(text)} (${method} ${path || "/"}) */`;
  return [comment, `api.${route}(${argument}): Answer<${result}>;`, ...declared].join("\n");
}

/** A text in a comment, which it cannot end. */
const inComment = (text: string) => text.replaceAll("*/", "*\\/").replace(/\s+/g, " ").trim();

const identifier = (name: string) => name.replace(/\W/g, "_");

function member(name: string, schema: JsonSchema, isRequired: boolean, depth: number): string {
  const docs = schema.description === undefined ? "" : `/** ${inComment(schema.description)} */ `;
  const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
  return `${docs}${key}${isRequired ? "" : "?"}: ${typeOf(schema, depth + 1)}`;
}

function typeOf(schema: JsonSchema, depth: number): string {
  if (depth > MAX_DEPTH || typeof schema !== "object" || schema === null) return "unknown";
  const next = (each: JsonSchema) => typeOf(each, depth + 1);
  if (schema.$ref !== undefined) return identifier(schema.$ref.replace(/^.*\//, ""));
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(" | ") || "never";
  const variants = schema.anyOf ?? schema.oneOf;
  if (variants !== undefined) return variants.map(next).join(" | ") || "never";
  if (schema.allOf !== undefined) return schema.allOf.map(next).join(" & ") || "unknown";
  const { type } = schema;
  if (Array.isArray(type)) return type.map((each) => next({ ...schema, type: each as string })).join(" | ");
  switch (type) {
    case "string":
    case "boolean":
    case "null":
      return type;
    case "number":
    case "integer":
      return "number";
    case "array":
      return schema.items === undefined ? "unknown[]" : `Array<${next(schema.items)}>`;
    case "object": {
      const { properties = {}, required = [], additionalProperties } = schema;
      const members = Object.entries(properties).map(([name, each]) =>
        member(name, each, required.includes(name), depth),
      );
      if (members.length > 0) return `{ ${members.join("; ")} }`;
      return typeof additionalProperties === "object"
        ? `Record<string, ${next(additionalProperties)}>`
        : "Record<string, unknown>";
    }
    default:
      return "unknown";
  }
}
