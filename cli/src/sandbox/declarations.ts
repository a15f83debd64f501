/** Writes the declarations of a sandbox: its tools and its input, for a model or an editor. */
import { type AnySchema, type AnyTool, isOfTool, type Tools } from "./tool.ts";

/** The parts of the SDK's schemas that are read. Those of other libraries have none of them. */
interface SdkSchema {
  readonly kind: string;
  readonly presence?: string;
  readonly takesNull?: boolean;
  readonly attributes?: { readonly docs?: string };
  readonly name?: string;
  readonly fields?: Readonly<Record<string, SdkSchema>>;
  readonly items?: SdkSchema;
  readonly values?: readonly string[];
  readonly variants?: Readonly<Record<string, SdkSchema>>;
}

/** Depth of types in each other; deeper ones are `unknown`. */
const MAX_DEPTH = 20;

/** Returns the text of a `.d.ts` file. */
export function declarations(tools: Tools, input: AnySchema | undefined): string {
  const parts = Object.entries(tools).map(([name, value]) => {
    if (isOfTool(value)) return `${doc(value, "")}declare function ${signature(name, value)};\n`;
    const members = Object.entries(value).map(([member, each]) => `${doc(each, "  ")}  ${signature(member, each)};\n`);
    return `declare const ${name}: {\n${members.join("")}};\n`;
  });
  const given = `/** The argument of the default export. */\ndeclare const input: ${typeOf(input, true)};\n`;
  return `${parts.join("\n")}${parts.length === 0 ? "" : "\n"}${given}`;
}

function doc({ description }: AnyTool, indent: string): string {
  if (description === undefined) return "";
  return `${indent}/** ${comment(description)} */\n`;
}

/** A text in a comment, which it cannot end. */
const comment = (text: string) => text.replaceAll("*/", "*\\/").replace(/\s+/g, " ").trim();

function signature(name: string, { input, output }: AnyTool): string {
  const argument = input === undefined ? "input?: unknown" : `input: ${typeOf(input, true)}`;
  return `${name}(${argument}): Promise<${typeOf(output, false)}>`;
}

/** The type of a schema; `isInput` makes a field with a default optional. */
function typeOf(schema: AnySchema | undefined, isInput: boolean): string {
  if (schema === undefined) return "unknown";
  const { vendor } = schema["~standard"];
  return vendor === "tenon" ? write(schema as unknown as SdkSchema, isInput, 0) : jsonSchemaOf(schema, isInput);
}

function write(schema: SdkSchema, isInput: boolean, depth: number): string {
  const type = plain(schema, isInput, depth);
  return schema.takesNull === true && schema.kind !== "json" ? `${type} | null` : type;
}

function plain({ kind, fields, items, values, variants }: SdkSchema, isInput: boolean, depth: number): string {
  if (depth > MAX_DEPTH) return "unknown";
  switch (kind) {
    case "string":
      return "string";
    case "bool":
      return "boolean";
    case "u32":
    case "i32":
    case "i64":
    case "f64":
      return "number";
    case "enum":
      return (values ?? []).map((value) => JSON.stringify(value)).join(" | ") || "never";
    case "list":
      return items === undefined ? "unknown[]" : `Array<${write(items, isInput, depth + 1)}>`;
    case "record":
      return items === undefined ? "Record<string, unknown>" : `Record<string, ${write(items, isInput, depth + 1)}>`;
    case "object": {
      const members = Object.entries(fields ?? {}).map(([name, field]) => {
        const { presence, attributes } = field;
        const isOptional = presence === "optional" || (isInput && presence === "default");
        const docs = attributes?.docs === undefined ? "" : `/** ${comment(attributes.docs)} */ `;
        const key = /^[A-Za-z$_][\w$]*$/.test(name) ? name : JSON.stringify(name);
        return `${docs}${key}${isOptional ? "?" : ""}: ${write(field, isInput, depth + 1)}`;
      });
      return members.length === 0 ? "Record<string, never>" : `{ ${members.join("; ")} }`;
    }
    case "union":
      return (
        [...new Set(Object.values(variants ?? {}))].map((each) => write(each, isInput, depth + 1)).join(" | ") ||
        "never"
      );
    default:
      return "unknown";
  }
}

interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
}

/** The type of another library's schema, if it implements Standard JSON Schema. */
function jsonSchemaOf(schema: AnySchema, isInput: boolean): string {
  type Convert = (options: { readonly target: string }) => JsonSchema;
  const { jsonSchema } = schema["~standard"] as {
    readonly jsonSchema?: { readonly input?: Convert; readonly output?: Convert };
  };
  try {
    const json = jsonSchema?.[isInput ? "input" : "output"]?.({ target: "draft-2020-12" });
    return json === undefined ? "unknown" : fromJson(json, 0);
  } catch {
    // The library cannot express the schema.
    return "unknown";
  }
}

function fromJson(schema: JsonSchema, depth: number): string {
  if (depth > MAX_DEPTH || typeof schema !== "object" || schema === null) return "unknown";
  const next = (each: JsonSchema) => fromJson(each, depth + 1);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(" | ") || "never";
  const variants = schema.anyOf ?? schema.oneOf;
  if (variants !== undefined) return variants.map(next).join(" | ") || "never";
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
      return `Array<${schema.items === undefined ? "unknown" : next(schema.items)}>`;
    case "object": {
      const { properties = {}, required = [], additionalProperties } = schema;
      const members = Object.entries(properties).map(
        ([name, each]) => `${JSON.stringify(name)}${required.includes(name) ? "" : "?"}: ${next(each)}`,
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
