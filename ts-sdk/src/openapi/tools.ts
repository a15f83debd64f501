/** The tools of an app with the option `mcp`, from its OpenAPI document. */
import type { App } from "../app/app.ts";
import { isArgumentHeader } from "../mcp/build-request.ts";
import type { ArgumentOf, ArgumentPlace, BodyEncoding, ToolEntry, ToolRoute, ToolTable } from "../mcp/types.ts";
import type { Method, Operation } from "../routing/operation.ts";
import type { SchemaObject } from "./components.ts";
import { openapi31 } from "./dialect-3.1.ts";
import type { DocComments } from "./doc-comment.ts";
import { createDocument, type Document } from "./document.ts";
import { OpenApiError } from "./errors.ts";
import { commentsFor } from "./json.ts";
import { bundle, evaluateAny } from "./load.ts";
import type { Manifest } from "./manifest.ts";
import type { OperationObject, PathItem } from "./paths.ts";
import { findPackage } from "./project.ts";
import { definedSchema } from "./tool-schema.ts";
import { signatureOf } from "./tool-signature.ts";

/**
 * Makes the tools of a handler module, which is bundled and run. `undefined` for an app without the option `mcp`.
 *
 * @throws OpenApiError when the module can't be loaded, or its schemas can't be expressed
 */
export function moduleTools(source: string, manifest: Manifest): ToolTable | undefined {
  const { app, marked } = evaluateAny(source, bundle(source));
  if ("getOpenAPIDocument" in app || app.mcp === undefined) return undefined;
  return appTools(app, manifest, marked.commentsOf(app));
}

/** Makes the tools of an app. */
function appTools(app: App, manifest: Manifest, comments: DocComments): ToolTable {
  const { name = manifest.name, include, code = false } = app.mcp ?? {};
  const document = createDocument(app, manifest, comments, openapi31);
  const routes = app.operations.map((operation) => describe(operation, document));
  const isIncluded = filterOf(include, routes);
  const names = new Set<string>();
  const tools = routes.filter(isIncluded).map((route) => toolOf(route, document, names, code));
  const { description, version = "0.0.0" } = manifest;
  return {
    name,
    version,
    ...(description === undefined ? {} : { instructions: description }),
    ...(code ? { code } : {}),
    tools,
  };
}

/** A route with its operation in the document. */
interface Described extends ToolRoute {
  readonly operation: Operation;
  readonly object: OperationObject;
}

function describe(operation: Operation, { paths }: Document): Described {
  const { method, name } = operation;
  const [declared] = operation.paths;
  const item = paths[(declared || "/").replace("*}", "}")] as PathItem;
  const object = item[method.toLowerCase() as Lowercase<Method>] as OperationObject;
  return { name, method, path: declared as string, tags: object.tags, operation, object };
}

/** @throws OpenApiError for an entry that fits no route, and for a function's answer that is no boolean */
function filterOf(
  include: NonNullable<App["mcp"]>["include"],
  routes: readonly Described[],
): (route: Described) => boolean {
  if (include === undefined) return () => true;
  if (typeof include === "function") {
    return ({ name, method, path, tags }) => {
      const answer: unknown = include({ name, method, path, tags });
      if (typeof answer === "boolean") return answer;
      // A promise of false would include the route.
      throw new OpenApiError(`mcp: "include" must return true or false for ${name}`);
    };
  }
  const fits = (entry: string) => (route: Described) =>
    route.name === entry || route.name.startsWith(`${entry}.`) || route.tags.includes(entry);
  const unknown = include.find((entry) => !routes.some(fits(entry)));
  if (unknown !== undefined) {
    throw new OpenApiError(`mcp: "include" has ${JSON.stringify(unknown)}, which is no route, group or tag of the app`);
  }
  return (route) => include.some((entry) => fits(entry)(route));
}

/** The longest name that the common clients and models accept. */
const MAX_NAME = 64;

function toolOf(
  { operation, object, method, path }: Described,
  document: Document,
  names: Set<string>,
  isInCode: boolean,
): ToolEntry {
  const name = uniqueName(operation.name, names);
  const { summary, description, deprecated } = object;
  const input = inputOf(operation, object, document);
  const output = outputOf(object, document);
  const text = [summary, description].filter((part) => part !== undefined).join("\n\n") || `${method} ${path || "/"}`;
  const definition = {
    name,
    title: titleOf(operation.name),
    description: deprecated ? `Deprecated. ${text}` : text,
    inputSchema: input.schema,
    annotations: annotationsOf(method),
  };
  const { args } = input;
  const route = operation.name;
  const { schema } = input;
  return {
    name,
    route,
    // Code mode lists its own two tools.
    ...(isInCode
      ? { definition: "", signature: signatureOf({ route, method, path, text, args, input: schema, output }) }
      : { definition: JSON.stringify(definition) }),
    ...(output === undefined || isInCode
      ? {}
      : { output: JSON.stringify(output), isObject: output["type"] === "object" }),
    args,
    ...(input.body === undefined ? {} : { body: input.body }),
    ...(input.contentType === undefined ? {} : { contentType: input.contentType }),
  };
}

/** Names in groups have a dot, which models' interfaces do not accept. */
function uniqueName(route: string, names: Set<string>): string {
  const base = route.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, MAX_NAME);
  let name = base;
  for (let n = 2; names.has(name); n++) name = `${base.slice(0, MAX_NAME - 4)}_${n}`;
  names.add(name);
  return name;
}

/** A route's name as words: `users.list` is "Users: list", `listUsers` "List users". */
function titleOf(route: string): string {
  const words = (part: string) =>
    part
      .replace(/([a-z0-9])([A-Z])/g, (_, before, after) => `${before} ${after.toLowerCase()}`)
      .replaceAll("_", " ")
      .trim();
  const title = route.split(".").map(words).join(": ");
  return title.replace(/^./u, (first) => first.toUpperCase());
}

/** The hints by the method's meaning (RFC 9110, section 9.2): POST adds, and the others change what is there. */
function annotationsOf(method: Method): Readonly<Record<string, boolean>> {
  if (method === "GET") return { readOnlyHint: true };
  return {
    readOnlyHint: false,
    destructiveHint: method !== "POST",
    idempotentHint: method === "PUT" || method === "DELETE",
  };
}

interface Input {
  readonly schema: SchemaObject;
  readonly args: readonly ArgumentOf[];
  readonly body?: BodyEncoding | undefined;
  readonly contentType?: string | undefined;
}

/** One argument before it has its name. */
interface Given {
  readonly place: ArgumentPlace;
  readonly name: string;
  readonly schema: SchemaObject;
  readonly isRequired: boolean;
}

/**
 * All inputs in one object: placeholders, parameters, headers and the members of a JSON body, each by its name. A name that
 * several of them have gets its kind in front: `path_id`, `body_id`. A body that is no object with fixed members, or may be
 * absent, is the argument `body`.
 */
function inputOf(operation: Operation, object: OperationObject, document: Document): Input {
  const rest = /\{(\w+)\*\}$/.exec(operation.paths[0] as string)?.[1];
  const schemes = Object.values(document.components?.securitySchemes ?? {});
  const keys = schemes.flatMap((scheme) => (scheme["in"] === "header" ? String(scheme["name"]).toLowerCase() : []));
  const given: Given[] = (object.parameters ?? [])
    .filter((each) => each.in !== "header" || (isArgumentHeader(each.name) && !keys.includes(each.name)))
    .map(({ name, in: kind, required, schema }) => {
      const place = kind === "path" && name === rest ? "rest" : kind;
      return { place, name, schema, isRequired: required };
    });
  const body = bodyOf(object, document);
  given.push(...(body?.given ?? []));
  const counts = new Map<string, number>();
  for (const { name } of given) counts.set(name, (counts.get(name) ?? 0) + 1);
  const taken = new Set([...counts].flatMap(([name, count]) => (count === 1 ? [name] : [])));
  const named = given.map((each) => {
    const isClash = counts.get(each.name) !== 1;
    const argument = isClash ? prefixed(each, taken) : each.name;
    taken.add(argument);
    return { ...each, argument };
  });
  const required = named.filter(({ isRequired }) => isRequired).map(({ argument }) => argument);
  const schema = {
    type: "object",
    ...(named.length === 0
      ? {}
      : { properties: Object.fromEntries(named.map((each) => [each.argument, each.schema])) }),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  };
  return {
    schema: definedSchema(schema, document),
    args: named.map(({ argument, place, name }) => [argument, place, name]),
    body: body?.encoding,
    contentType: body?.contentType,
  };
}

const KINDS: Readonly<Record<ArgumentPlace, string>> = {
  path: "path",
  rest: "path",
  query: "query",
  header: "header",
  member: "body",
  body: "body",
};

function prefixed({ place, name }: Given, taken: ReadonlySet<string>): string {
  let argument = `${KINDS[place]}_${name}`;
  while (taken.has(argument)) argument = `_${argument}`;
  return argument;
}

interface BodyInput {
  readonly given: readonly Given[];
  readonly encoding: BodyEncoding;
  readonly contentType?: string;
}

function bodyOf({ requestBody }: OperationObject, document: Document): BodyInput | undefined {
  if (requestBody === undefined) return undefined;
  const { required, content } = requestBody;
  const [type = "", media] = Object.entries(content)[0] ?? [];
  const schema = media?.schema ?? {};
  const whole = (encoding: BodyEncoding): BodyInput => ({
    encoding,
    given: [{ place: "body", name: "body", schema, isRequired: required }],
  });
  const isJson = "application/json" in content;
  const isForm = "application/x-www-form-urlencoded" in content;
  if (!isJson && !isForm && !("multipart/form-data" in content)) {
    const bytes = { type: "string", contentEncoding: "base64" };
    const contentType = type.includes("*") ? "application/octet-stream" : type;
    return {
      encoding: "bytes",
      contentType,
      given: [{ place: "body", name: "body", schema: bytes, isRequired: required }],
    };
  }
  const encoding = isJson ? "json" : isForm ? "form" : "multipart";
  const object = resolved(schema, document);
  const { properties, required: names = [], additionalProperties = false } = object as ObjectSchema;
  const others = Object.keys(object).filter((key) => !FLAT.has(key));
  const isFlat =
    object["type"] === "object" && properties !== undefined && additionalProperties === false && others.length === 0;
  if (!required || !isFlat) return whole(encoding);
  const given = Object.entries(properties).map(([name, member]): Given => {
    const isRequired = names.includes(name);
    return { place: "member", name, schema: encoding === "multipart" ? fileOf(member) : member, isRequired };
  });
  return given.length === 0 ? whole(encoding) : { encoding, given };
}

/** The keywords of an object whose members can be arguments of their own. */
const FLAT = new Set(["type", "properties", "required", "additionalProperties", "title", "description", "$schema"]);

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, SchemaObject>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: unknown;
}

/** A file of a form: JSON has no bytes. */
function fileOf(member: SchemaObject): SchemaObject {
  const { type, items, contentMediaType, ...others } = member as {
    type?: string;
    items?: SchemaObject;
    contentMediaType?: string;
  };
  if (type === "array" && items !== undefined) return { ...member, items: fileOf(items) };
  if (contentMediaType !== openapi31.bytes["contentMediaType"]) return member;
  const text = { type: "string" };
  const properties = { name: text, type: text, data: { type: "string", contentEncoding: "base64" } };
  return { ...others, type: "object", properties, required: ["data"], additionalProperties: false };
}

function resolved(schema: SchemaObject, document: Document): SchemaObject {
  const { $ref } = schema as { $ref?: string };
  return $ref === undefined ? schema : (document.components.schemas[$ref.replace(/^.*\//, "")] ?? {});
}

/** The schema of a success; undefined when one has no JSON body. */
function outputOf({ responses }: OperationObject, document: Document): SchemaObject | undefined {
  const successes = Object.entries(responses).filter(([status]) => /^[123]\d\d$/.test(status));
  const schemas = successes.map(([, { content }]) => content?.["application/json"]?.schema);
  if (schemas.length === 0 || schemas.includes(undefined)) return undefined;
  const distinct = new Map((schemas as SchemaObject[]).map((schema) => [JSON.stringify(schema), schema]));
  const [first, ...others] = [...distinct.values()] as [SchemaObject, ...SchemaObject[]];
  if (others.length === 0) return definedSchema(first, document);
  const all = [...distinct.values()];
  const areObjects = all.every((schema) => resolved(schema, document)["type"] === "object");
  return definedSchema({ ...(areObjects ? { type: "object" } : {}), anyOf: all }, document);
}

/** Makes the tools of an app under test, with the doc comments and the manifest of the package around it. */
export function testTools(app: App): ToolTable {
  try {
    const here = findPackage(process.cwd());
    if (here !== undefined)
      return appTools(app, here.manifest, commentsFor(app, here.manifest, { source: here.source }));
  } catch (error) {
    // The package may be another one, whose sources or manifest are of no use here.
    if (!(error instanceof OpenApiError)) throw error;
  }
  return appTools(app, { name: "app" }, new Map());
}
