/**
 * Declared answers: checks the option `responses`, and writes bodies with their declared members alone. An app whose
 * sources declare no response does not contain this code.
 */
import { writeJson } from "../http/json.ts";
import type { WriteBody } from "../http/response.ts";
import { isBodiless } from "../http/status.ts";
import { answersOf } from "../routing/answers.ts";
import type { Operation, RouteOptions } from "../routing/operation.ts";
import type { ObjectSchema } from "../schema/object.ts";
import type { UnionSchema } from "../schema/one-of.ts";
import { isSchema, type Kind } from "../schema/schema.ts";
import type { StandardSchema } from "../schema/standard.ts";

/** The options of a route while they are checked. */
type Writable = { -readonly [K in keyof RouteOptions]: RouteOptions[K] };

/**
 * Checks `responses`, and sets `status` to the first status that is no error.
 *
 * @param checked checks a schema, and makes one of inline fields
 * @throws TypeError or RangeError naming the invalid status
 */
export function checkAnswers(
  label: string,
  options: Writable,
  checked: (key: string, given: unknown) => StandardSchema,
): void {
  const given = options.responses as Readonly<Record<string, unknown>>;
  if (typeof given !== "object" || given === null) {
    throw new TypeError(`${label}: "responses" must be an object of schemas, by status`);
  }
  for (const other of ["response", "status"] as const) {
    if (options[other] !== undefined) throw new TypeError(`${label}: "responses" takes the place of "${other}"`);
  }
  const answers = Object.entries(given).map(([key, schema]): [number, StandardSchema | undefined] => {
    const status = Number(key);
    const name = `responses.${key}`;
    if (!(Number.isInteger(status) && status >= 200 && status <= 599)) {
      throw new RangeError(`${label}: "${name}": a status must be from 200 to 599`);
    }
    if (schema === undefined || schema === null) return [status, undefined];
    if (isBodiless(status)) throw new TypeError(`${label}: "${name}": an answer with status ${status} has no body`);
    return [status, checked(name, schema)];
  });
  const success = answers.find(([status]) => status < 400);
  if (success === undefined) throw new TypeError(`${label}: "responses" must have a status below 400`);
  options.responses = Object.freeze(Object.fromEntries(answers));
  options.status = success[0];
}

/** Writes a value as JSON; undefined where JSON has none. */
type Write = (value: unknown) => string | undefined;

/** The parts of a schema that decide which members are sent. */
interface Shape {
  readonly kind: Kind;
  readonly items?: Shape;
  readonly fields?: Readonly<Record<string, Shape>>;
  readonly open?: boolean;
  readonly tag?: string;
  readonly variants?: UnionSchema["variants"];
}

type ShapeFields = Readonly<Record<string, Shape>>;

/**
 * Composes the function that writes an operation's bodies, once: each with the members that its status declares. A body
 * without a declaration is written as it is.
 */
export function bodyWriter(operation: Operation): WriteBody {
  const writers = Object.entries(answersOf(operation)).flatMap(([status, schema]): [number, Write][] =>
    schema === undefined
      ? []
      : [[Number(status), writerOf(isSchema(schema) ? (schema as unknown as Shape) : foreignShape(schema))]],
  );
  const [only] = writers;
  if (only === undefined) return () => undefined;
  if (writers.length === 1) return (status, body) => (status === only[0] ? only[1](body) : undefined);
  const byStatus = new Map(writers);
  return (status, body) => byStatus.get(status)?.(body);
}

/** The part of a JSON Schema that is read here. */
interface JsonSchema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, JsonSchema>>;
  readonly type?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: unknown;
}

const ANYTHING: Shape = { kind: "json" };

/**
 * The shape of another library's schema, by its Standard JSON Schema: objects that it says to be closed, as Zod does, nested and
 * in lists. All else is sent as it is.
 */
function foreignShape(schema: StandardSchema): Shape {
  const { jsonSchema } = schema["~standard"] as { jsonSchema?: { output(options: object): JsonSchema } };
  try {
    const libraryOptions = { unrepresentable: "any", errorMode: "ignore" };
    const root = jsonSchema?.output({ target: "draft-2020-12", libraryOptions });
    return root === undefined ? ANYTHING : shapeOf(root, root.$defs ?? {}, []);
  } catch {
    // A schema that JSON Schema can't express is still valid.
    return ANYTHING;
  }
}

function shapeOf(given: JsonSchema, defs: NonNullable<JsonSchema["$defs"]>, outer: readonly string[]): Shape {
  const { $ref, type, anyOf, items, properties, additionalProperties } = given;
  const name = $ref?.startsWith("#/$defs/") ? $ref.slice(8) : undefined;
  // A type that holds itself has no end.
  if ($ref !== undefined) {
    const target = name === undefined || outer.includes(name) ? undefined : defs[name];
    return target === undefined ? ANYTHING : shapeOf(target, defs, [...outer, name as string]);
  }
  const [only, ...others] = anyOf?.filter((each) => each.type !== "null") ?? [];
  if (only !== undefined) return others.length === 0 ? shapeOf(only, defs, outer) : ANYTHING;
  if (type === "array" && items !== undefined) return { kind: "list", items: shapeOf(items, defs, outer) };
  if (type !== "object") return typeof type === "string" && type !== "array" ? { kind: "string" } : ANYTHING;
  if (properties === undefined || additionalProperties !== false) return ANYTHING;
  const fields = Object.entries(properties).map(([key, each]) => [key, shapeOf(each, defs, outer)] as const);
  return { kind: "object", fields: Object.fromEntries(fields) };
}

function writerOf(shape: Shape): Write {
  switch (shape.kind) {
    case "object":
      return shape.open ? anything : objectWriter(shape.fields ?? {});
    case "list":
      return listWriter(shape.items as Shape);
    case "record":
      return recordWriter(writerOf(shape.items as Shape));
    case "union":
      return unionWriter(shape as unknown as UnionSchema);
    case "json":
      return anything;
    default:
      return scalar;
  }
}

const anything: Write = (value) => (value === undefined ? undefined : writeJson(value));

// A value that is no scalar, against its type, must not bring members along.
const NO_NAMES: string[] = [];
const scalar: Write = (value) => JSON.stringify(value, NO_NAMES);

/** Reports whether no object is declared inside: a list of names then selects the members. */
function isFlat(shape: Shape): boolean {
  return shape.kind === "list" ? isFlat(shape.items as Shape) : !COMPOUND.includes(shape.kind);
}

const COMPOUND: readonly Kind[] = ["object", "record", "union", "json"];

/** The fields as a list, if `JSON.stringify` selects them rightly by their names. */
function flatNames(fields: ShapeFields): string[] | undefined {
  return Object.values(fields).every((field) => isFlat(field)) ? Object.keys(fields) : undefined;
}

function objectWriter(fields: ShapeFields): Write {
  const names = flatNames(fields);
  // One call of the engine's own function takes less time than one for each member.
  return names === undefined ? memberWriter(fields) : (value) => JSON.stringify(value, names);
}

/** Writes an object member by member. */
function memberWriter(fields: ShapeFields): Write {
  const members = Object.entries(fields).map(([key, field]) => ({
    key,
    before: `${JSON.stringify(key)}:`,
    write: writerOf(field),
  }));
  const writeMembers: Write = (given) => {
    const value = plainOf(given);
    if (typeof value !== "object" || value === null) return scalar(value);
    if (Array.isArray(value)) return writeItems(value, writeMembers);
    let text = "";
    for (let i = 0; i < members.length; i++) {
      const { key, before, write } = members[i] as (typeof members)[number];
      const member = (value as Record<string, unknown>)[key];
      const written = member === undefined ? undefined : write(member);
      if (written !== undefined) text += (text === "" ? "" : ",") + before + written;
    }
    return `{${text}}`;
  };
  return writeMembers;
}

function listWriter(items: Shape): Write {
  const write = writerOf(items);
  const { kind, open, fields } = items;
  const names = kind === "object" && !open ? flatNames(fields as ShapeFields) : isFlat(items) ? NO_NAMES : undefined;
  if (names !== undefined) return (value) => JSON.stringify(value, names);
  return (given) => {
    const value = plainOf(given);
    return Array.isArray(value) ? writeItems(value, write) : write(value);
  };
}

function writeItems(items: readonly unknown[], write: Write): string {
  let text = "";
  for (let i = 0; i < items.length; i++) text += `${i > 0 ? "," : ""}${write(items[i]) ?? "null"}`;
  return `[${text}]`;
}

function recordWriter(write: Write): Write {
  return (given) => {
    const value = plainOf(given);
    if (typeof value !== "object" || value === null) return scalar(value);
    const members = Object.entries(value).flatMap(([key, member]) => {
      const written = write(member);
      return written === undefined ? [] : [`${JSON.stringify(key)}:${written}`];
    });
    return `{${members.join(",")}}`;
  };
}

function unionWriter({ tag, variants }: UnionSchema): Write {
  const writers = new Map(
    Object.entries(variants).map(([key, type]) => [key, objectWriter((type as ObjectSchema).fields as ShapeFields)]),
  );
  return (given) => {
    const value = plainOf(given);
    const variant = writers.get((value as Record<string, string> | null | undefined)?.[tag] as string);
    return variant === undefined ? JSON.stringify(value, [tag]) : variant(value);
  };
}

/** The value that `JSON.stringify` would write: the result of `toJSON`, if there is one. */
function plainOf(value: unknown): unknown {
  const { toJSON } = Object(value) as { toJSON?: unknown };
  return typeof toJSON === "function" ? toJSON.call(value, "") : value;
}
