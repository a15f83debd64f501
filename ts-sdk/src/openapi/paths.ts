/** The `paths` of a document: one operation for each route and path. */
import type { App } from "../app/app.ts";
import type { OctetStreamSchema } from "../http/octet-stream.ts";
import type { Method, Operation } from "../routing/operation.ts";
import { parsePattern } from "../routing/pattern.ts";
import type { FileSchema } from "../schema/file.ts";
import type { FormSchema } from "../schema/form.ts";
import type { ListSchema } from "../schema/list.ts";
import type { StandardSchema } from "../schema/standard.ts";
import type { Components, SchemaObject } from "./components.ts";
import { contentSchema, isRequired } from "./content.ts";
import type { DocComment, DocComments } from "./doc-comment.ts";
import { OpenApiError } from "./errors.ts";
import { identifierOf, tagOf } from "./names.ts";
import { type ParameterObject, parameters } from "./parameters.ts";
import { type ResponseObject, responses } from "./responses.ts";
import type { Security, SecurityRequirement } from "./security.ts";

/** A Media Type Object. */
interface MediaTypeObject {
  readonly schema: SchemaObject;
  /** The media types of the files of a form, by their fields. */
  readonly encoding?: Readonly<Record<string, { readonly contentType: string }>>;
}

/** An Operation Object. */
export interface OperationObject {
  readonly tags: readonly string[];
  readonly summary?: string;
  readonly description?: string;
  readonly operationId: string;
  readonly parameters?: readonly ParameterObject[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: Readonly<Record<string, MediaTypeObject>>;
  };
  readonly responses: Readonly<Record<string, ResponseObject>>;
  readonly deprecated?: boolean;
  readonly security?: readonly SecurityRequirement[];
}

type Verb = Lowercase<Method>;

/** A Path Item Object. */
export type PathItem = { readonly [V in Verb]?: OperationObject };

const VERBS: readonly Verb[] = ["get", "put", "post", "delete", "patch"];

/** An operation at one of its paths. */
interface OperationAtPath {
  readonly operation: Operation;
  readonly path: string;
  readonly placeholders: readonly string[];
  /** Its name in errors. */
  readonly at: string;
}

/** The paths of the document, sorted, each with its operations. */
export function paths(
  { operations, prefix, use }: App,
  packageName: string,
  comments: DocComments,
  components: Components,
  security: Security,
): Record<string, PathItem> {
  const ids = new OperationIds(identifierOf(packageName), operations);
  const places = operations.flatMap(placesOf);
  refuseClashes(places);
  // Requests first: their components get the plain names, because an output of another library may have another shape.
  const requests = places.map((place) => requestOf(place, components));
  const items = new Map<string, Map<Verb, OperationObject>>();
  for (const [i, { operation, path, at }] of places.entries()) {
    const item = items.get(path) ?? new Map<Verb, OperationObject>();
    const { method, name } = operation;
    const comment: Partial<DocComment> = comments.get(name) ?? {};
    const { summary, description, tags = operation.options.tags, deprecated = operation.deprecated } = comment;
    const required = security.of(operation);
    item.set(method.toLowerCase() as Verb, {
      tags: tags ?? [tagOf(path.slice(prefix.length), packageName)],
      ...(summary && { summary }),
      ...(description && { description }),
      operationId: ids.next(name),
      ...requests[i],
      responses: responses(operation, use, components, at),
      ...(deprecated ? { deprecated } : {}),
      ...(required && { security: required }),
    });
    items.set(path, item);
  }
  const sorted = [...items].sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(sorted.map(([path, item]) => [path, inOrder(item)]));
}

/** An operation once for each of its paths. An empty path becomes `/`, its only form in OpenAPI. */
function placesOf(operation: Operation): OperationAtPath[] {
  const distinct = [...new Set(operation.paths.map((path) => path || "/"))];
  return distinct.map((declared) => {
    const { placeholders } = parsePattern(declared);
    // OpenAPI has no placeholder of several segments.
    const path = declared.replace("*}", "}");
    return { operation, path, placeholders, at: `${operation.name} (${operation.method} ${path})` };
  });
}

/** Refuses paths that the router distinguishes, and OpenAPI does not. */
function refuseClashes(places: readonly OperationAtPath[]): void {
  const bySlots = new Map<string, OperationAtPath>();
  const byMethod = new Map<string, OperationAtPath>();
  for (const place of places) {
    const slots = place.path.replaceAll(/\{[^}]*\}/g, "{}");
    const namesake = bySlots.get(slots) ?? place;
    bySlots.set(slots, namesake);
    if (namesake.path !== place.path) {
      throw new OpenApiError(
        `${place.at} and ${namesake.at} are one path to OpenAPI: their placeholders must have the same names`,
      );
    }
    const key = `${place.operation.method} ${place.path}`;
    const other = byMethod.get(key);
    byMethod.set(key, place);
    if (other !== undefined) {
      const names = `${other.operation.name} and ${place.operation.name}`;
      throw new OpenApiError(`${names} both answer ${key} in OpenAPI, where "" and "/" are one path`);
    }
  }
}

/** The members that describe a request. */
function requestOf(
  { operation, placeholders, at }: OperationAtPath,
  components: Components,
): Pick<OperationObject, "parameters" | "requestBody"> {
  const given = parameters(operation, placeholders, components, at);
  const { body } = operation.options;
  // GET and DELETE may have a body: 3.0.0 permits it, and only "consumers" may ignore it (section 4.7.10).
  const octets = body && (body as Partial<OctetStreamSchema>).octets;
  if (octets) {
    const content = Object.fromEntries(octets.map((type) => [type, { schema: components.dialect.bytes }]));
    return { ...(given.length === 0 ? {} : { parameters: given }), requestBody: { required: true, content } };
  }
  if (body === undefined) return given.length === 0 ? {} : { parameters: given };
  const schema = contentSchema(body, "input", components, `${at}, body`);
  return {
    ...(given.length === 0 ? {} : { parameters: given }),
    requestBody: { required: isRequired(body), content: mediaTypes(body, schema) },
  };
}

/** The media types of a body: JSON, or those of a form. */
function mediaTypes(body: StandardSchema, schema: SchemaObject): Record<string, MediaTypeObject> {
  const { form, fields = {} } = body as Partial<FormSchema>;
  if (form === undefined) return { "application/json": { schema } };
  const encoding = Object.entries(fields).flatMap(([name, field]) => {
    const { types = [] } = ((field as Partial<ListSchema>).items ?? field) as Partial<FileSchema>;
    return types.length === 0 ? [] : [[name, { contentType: types.join(", ") }] as const];
  });
  const media = encoding.length === 0 ? { schema } : { schema, encoding: Object.fromEntries(encoding) };
  return Object.fromEntries(form.contentTypes.map((type) => [type, media]));
}

function inOrder(item: ReadonlyMap<Verb, OperationObject>): PathItem {
  return Object.fromEntries(VERBS.flatMap((verb) => (item.has(verb) ? [[verb, item.get(verb)]] : [])));
}

/** Unique operation ids: a handler's second path gets the suffix `_2`, its third `_3`. */
class OperationIds {
  readonly #package: string;
  readonly #taken: Set<string>;
  readonly #used = new Set<string>();

  constructor(packageIdentifier: string, operations: readonly Operation[]) {
    this.#package = packageIdentifier;
    this.#taken = new Set(operations.map(({ name }) => name));
  }

  next(handler: string): string {
    let name = handler;
    for (let n = 2; this.#used.has(name) || (name !== handler && this.#taken.has(name)); n++) name = `${handler}_${n}`;
    this.#used.add(name);
    return `${this.#package}.${name}`;
  }
}
