/** Writes the declarations of a sandbox: its tools and its input, for a model or an editor. */
import { inComment, type JsonSchema, MAX_TYPE_DEPTH, schemaType } from "./schema-type.ts";
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

/** Returns the text of a `.d.ts` file. */
export function declarations(tools: Tools, input: AnySchema | undefined): string {
  const parts = Object.entries(tools).map(([name, value]) => {
    if (isOfTool(value)) return `${doc(value, "")}declare function ${signature(name, value)};\n`;
    const members = Object.entries(value).map(([member, each]) => `${doc(each, "  ")}  ${signature(member, each)};\n`);
    return `declare const ${name}: {\n${members.join("")}};\n`;
  });
  // A script gets the validated input, whose defaults are filled in.
  const given = `/** The argument of the default export. */\ndeclare const input: ${typeOf(input, false)};\n`;
  return `${parts.join("\n")}${parts.length === 0 ? "" : "\n"}${given}`;
}

function doc({ description }: AnyTool, indent: string): string {
  if (description === undefined) return "";
  return `${indent}/** ${inComment(description)} */\n`;
}

function signature(name: string, { input, output }: AnyTool): string {
  const argument = input === undefined ? "input?: unknown" : `input: ${typeOf(input, true)}`;
  return `${name}(${argument}): Promise<${typeOf(output, false)}>`;
}

/** The type of a schema; `isInput` makes a field with a default optional. */
function typeOf(schema: AnySchema | undefined, isInput: boolean): string {
  if (schema === undefined) return "unknown";
  const { vendor } = schema["~standard"];
  const json = vendor === "tenon" ? ofSdk(schema as unknown as SdkSchema, isInput, 0) : ofOther(schema, isInput);
  return schemaType(json, () => "unknown");
}

/** The JSON Schema of the SDK's schema, as far as types show it. */
function ofSdk(schema: SdkSchema, isInput: boolean, depth: number): JsonSchema {
  const plain = depth > MAX_TYPE_DEPTH ? {} : ofKind(schema, isInput, depth + 1);
  const { takesNull, attributes } = schema;
  return {
    ...(takesNull === true && schema.kind !== "json" ? { anyOf: [plain, { type: "null" }] } : plain),
    ...(attributes?.docs === undefined ? {} : { description: attributes.docs }),
  };
}

function ofKind({ kind, fields, items, values, variants }: SdkSchema, isInput: boolean, depth: number): JsonSchema {
  const next = (each: SdkSchema) => ofSdk(each, isInput, depth);
  switch (kind) {
    case "string":
      return { type: "string" };
    case "bool":
      return { type: "boolean" };
    case "u32":
    case "i32":
    case "i64":
    case "f64":
      return { type: "number" };
    case "enum":
      return { enum: values ?? [] };
    case "list":
      return { type: "array", ...(items === undefined ? {} : { items: next(items) }) };
    case "record":
      return { type: "object", ...(items === undefined ? {} : { additionalProperties: next(items) }) };
    case "object": {
      const members = Object.entries(fields ?? {});
      const isOptional = ({ presence }: SdkSchema) => presence === "optional" || (isInput && presence === "default");
      return {
        type: "object",
        properties: Object.fromEntries(members.map(([name, field]) => [name, next(field)])),
        required: members.filter(([, field]) => !isOptional(field)).map(([name]) => name),
        additionalProperties: false,
      };
    }
    case "union":
      return { anyOf: [...new Set(Object.values(variants ?? {}))].map(next) };
    default:
      return {};
  }
}

/** Options for libraries such as Zod, so that a part without a JSON Schema, such as a date, is unknown and the rest has its types. */
const LENIENT = { unrepresentable: "any", errorMode: "ignore" };

/** The JSON Schema of another library's schema, if it implements Standard JSON Schema. */
function ofOther(schema: AnySchema, isInput: boolean): JsonSchema {
  type Convert = (options: { readonly target: string; readonly libraryOptions: object }) => JsonSchema;
  const { jsonSchema } = schema["~standard"] as {
    readonly jsonSchema?: { readonly input?: Convert; readonly output?: Convert };
  };
  try {
    return jsonSchema?.[isInput ? "input" : "output"]?.({ target: "draft-2020-12", libraryOptions: LENIENT }) ?? {};
  } catch {
    // The library cannot express the schema.
    return {};
  }
}
