import { type InputError, type InputKind, malformed } from "../http/problem.ts";
import type { Fields, ObjectSchema } from "../schema/object.ts";
import { isSchema } from "../schema/schema.ts";
import type { StandardIssue, StandardSchema } from "../schema/standard.ts";
import { pathOf } from "./foreign.ts";

/** A query string taken apart: one text for a key, or a list of them where the schema has a list. */
export type QueryValues = Record<string, string | string[]>;

/** Which keys a schema knows, and whether each takes a list. */
type KnownKeys = (key: string) => Takes | undefined;
type Takes = "list" | "scalar" | "either" | "undeclared";

/** How an operation reads its query. */
export interface QueryReader {
  /** Takes a query string apart. */
  read(query: string, errors: InputError[]): QueryValues;
  /**
   * Where nothing says which keys take lists, a second attempt for values that are refused: of what is wrong, a list
   * becomes its last text, and a text a list.
   */
  readonly otherForm?: OtherForm;
}

/** Gives other values to try, of those that are refused. */
export type OtherForm = (values: QueryValues, issues: readonly StandardIssue[]) => QueryValues;

/** Composes, once per operation, what takes its query string apart. */
export function queryReader(schema: StandardSchema): QueryReader {
  if (isSchema(schema)) {
    return { read: fieldReader((schema as unknown as ObjectSchema).fields, "query") };
  }
  const properties = propertiesOf(schema);
  if (properties === undefined) return { read: readerOf(() => "either"), otherForm };
  return { read: readerOf(foreignKeys(properties)) };
}

/** Composes what takes the text apart in which fields of our own stand: a query string, or a form that is encoded as one. */
export function fieldReader(fields: Fields, where: InputKind): QueryReader["read"] {
  const own = ownKeys(fields);
  return readerOf(among(own), own, where);
}

/** @param own the keys of a schema of our own, which can be read without looking them up */
function readerOf(known: KnownKeys, own: readonly OwnKey[] = [], where: InputKind = "query"): QueryReader["read"] {
  // A key that would have to be encoded is not found as it is.
  const plain = own.length > 0 && own.every(({ key }) => /^[^%+&=]+$/.test(key));
  return (query, errors) => {
    // No prototype: a key such as "constructor" finds nothing there.
    const values: QueryValues = Object.create(null);
    if (query === "") return values;
    if (plain && !query.includes("%") && !query.includes("+")) {
      readPlain(query, own, values);
      return values;
    }
    const pairs = query.split("&");
    for (let i = 0; i < pairs.length; i++) readPair(pairs[i] as string, known, values, where, errors);
    return values;
  };
}

/** A key that a schema of our own declares. */
interface OwnKey {
  readonly key: string;
  readonly takes: Takes;
}

/**
 * Takes a query string apart in which nothing is encoded. A key that was sent is compared with the known ones and never
 * looked up, for the engine would intern it; and nothing is cut out by `slice`, which the engine has written in JavaScript.
 */
function readPlain(query: string, own: readonly OwnKey[], values: QueryValues): void {
  const pairs = query.split("&");
  const count = own.length;
  for (let i = 0; i < pairs.length; i++) {
    const parts = (pairs[i] as string).split("=");
    const name = parts[0];
    // Keys that come in the schema's order are found at once.
    for (let j = 0; j < count; j++) {
      const known = own[(i + j) % count] as OwnKey;
      const { key } = known;
      if (key !== name) continue;
      const value = parts.length === 2 ? (parts[1] as string) : parts.slice(1).join("=");
      if (known.takes === "scalar") values[key] = value;
      else put(values, key, value, known.takes);
      break;
    }
  }
}

function put(values: QueryValues, key: string, value: string, takes: Takes): void {
  const given = values[key];
  if (given === undefined || takes === "scalar") values[key] = takes === "list" ? [value] : value;
  else if (typeof given === "string") values[key] = [given, value];
  else given.push(value);
}

function readPair(pair: string, known: KnownKeys, values: QueryValues, where: InputKind, errors: InputError[]): void {
  if (pair === "") return;
  const equals = pair.indexOf("=");
  const key = decode(equals < 0 ? pair : pair.slice(0, equals));
  const value = decode(equals < 0 ? "" : pair.slice(equals + 1));
  const takes = key === undefined ? undefined : known(key);
  // What no one declared is ignored, however it is written.
  if (key === undefined || !takes) return;
  if (value !== undefined) put(values, key, value, takes);
  else if (takes !== "undeclared") errors.push(malformed(where, [key]));
}

/** Decodes `+` and `%XX` (the WHATWG URL standard's form encoding); `undefined` when an escape is malformed. */
function decode(text: string): string | undefined {
  const spaced = text.includes("+") ? text.replaceAll("+", " ") : text;
  if (!spaced.includes("%")) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    return undefined;
  }
}

function ownKeys(fields: Fields): OwnKey[] {
  return Object.entries(fields).map(([key, { kind }]) => ({ key, takes: kind === "list" ? "list" : "scalar" }));
}

function among(own: readonly OwnKey[]): KnownKeys {
  const takes = new Map(own.map((each) => [each.key, each.takes]));
  return (key) => takes.get(key);
}

/** A JSON Schema, as far as it is read here. */
interface JsonSchema {
  readonly type?: unknown;
  readonly items?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
}

/** What Standard JSON Schema (https://standardschema.dev/json-schema) adds to a schema, as far as it is read here. */
interface WithJsonSchema {
  readonly jsonSchema?: { input(options: { target: string; libraryOptions: object }): JsonSchema };
}

// What tells Zod and Valibot to pass over what JSON Schema can't express, such as a date.
const LENIENT = { unrepresentable: "any", errorMode: "ignore" };

function propertiesOf(schema: StandardSchema): JsonSchema["properties"] {
  try {
    const { jsonSchema } = schema["~standard"] as WithJsonSchema;
    return jsonSchema?.input({ target: "draft-2020-12", libraryOptions: LENIENT }).properties;
  } catch {
    // A schema that JSON Schema can't express is still a schema.
    return undefined;
  }
}

/**
 * For another library's schema: its JSON Schema says which keys take lists. Any other key gets a list when it is repeated,
 * and a text when it is not.
 */
function foreignKeys(properties: NonNullable<JsonSchema["properties"]>): KnownKeys {
  const takes = new Map(Object.entries(properties).map(([key, property]) => [key, takesOf(property)]));
  return (key) => takes.get(key) ?? "undeclared";
}

function takesOf({ type, items, anyOf }: JsonSchema): Takes {
  const [first = "scalar", ...others] = new Set(anyOf?.filter((each) => each.type !== "null").map(takesOf));
  if (anyOf) return others.length > 0 ? "either" : first;
  return type === "array" || items !== undefined ? "list" : "scalar";
}

function otherForm(values: QueryValues, issues: readonly StandardIssue[]): QueryValues {
  const other: QueryValues = Object.assign(Object.create(null), values);
  for (const issue of issues) {
    const [key] = pathOf(issue);
    const value = typeof key === "string" ? values[key] : undefined;
    if (value !== undefined) other[key as string] = typeof value === "string" ? [value] : (value.at(-1) as string);
  }
  return other;
}
