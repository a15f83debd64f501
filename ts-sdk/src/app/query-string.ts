/** Parses query strings into the values of a schema. */
import { type InputError, type InputKind, malformed } from "../http/problem.ts";
import type { Fields, ObjectSchema } from "../schema/object.ts";
import { isSchema } from "../schema/schema.ts";
import type { StandardIssue, StandardSchema } from "../schema/standard.ts";
import { pathOf } from "./foreign.ts";

/** A parsed query string: one text for a key, or a list of them where the schema has a list. */
export type QueryValues = Record<string, string | string[]>;

/** The keys of a schema, and whether each takes a list. */
type KnownKeys = (key: string) => Takes | undefined;
type Takes = "list" | "scalar" | "either" | "undeclared";

/** Reads an operation's query. */
export interface QueryReader {
  /** Parses a query string. */
  read(query: string, errors: InputError[]): QueryValues;
  /**
   * A second attempt for refused values, where the schema does not reveal which keys take lists: a list becomes its
   * last text, and a text becomes a list.
   */
  readonly otherForm?: OtherForm;
}

/** Returns other values to try instead of refused ones. */
export type OtherForm = (values: QueryValues, issues: readonly StandardIssue[]) => QueryValues;

/** Composes an operation's query reader, once. */
export function queryReader(schema: StandardSchema): QueryReader {
  if (isSchema(schema)) {
    return { read: fieldReader((schema as unknown as ObjectSchema).fields, "query") };
  }
  const properties = propertiesOf(schema);
  if (properties === undefined) return { read: readerOf(() => "either"), otherForm };
  return { read: readerOf(foreignKeys(properties)) };
}

/** Composes the reader of text with fields of our own: a query string, or a URL-encoded form. */
export function fieldReader(fields: Fields, where: InputKind): QueryReader["read"] {
  const own = ownKeys(fields);
  return readerOf(among(own), own, where);
}

/** @param own the keys of a schema of our own, which are compared without a lookup */
function readerOf(known: KnownKeys, own: readonly OwnKey[] = [], where: InputKind = "query"): QueryReader["read"] {
  // A key that needs encoding does not appear in the text as it is.
  const plain = own.length > 0 && own.every(({ key }) => /^[^%+&=]+$/.test(key));
  return (query, errors) => {
    // No prototype, so that a key such as "constructor" finds nothing.
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
 * Parses a query string that contains no escapes. A sent key is compared with the known ones and never looked up,
 * because the engine would intern it. Nothing is cut with `slice`, because the engine implements it in JavaScript.
 */
function readPlain(query: string, own: readonly OwnKey[], values: QueryValues): void {
  const pairs = query.split("&");
  const count = own.length;
  for (let i = 0; i < pairs.length; i++) {
    const parts = (pairs[i] as string).split("=");
    const name = parts[0];
    // Keys in the schema's order match at the first comparison.
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
  // Ignores an undeclared key before it is decoded.
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

/** The part of a JSON Schema that is read here. */
interface JsonSchema {
  readonly type?: unknown;
  readonly items?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
}

/** The part of Standard JSON Schema (https://standardschema.dev/json-schema) that is read here. */
interface WithJsonSchema {
  readonly jsonSchema?: { input(options: { target: string; libraryOptions: object }): JsonSchema };
}

// Makes Zod and Valibot skip types that JSON Schema can't express, such as a date.
const LENIENT = { unrepresentable: "any", errorMode: "ignore" };

function propertiesOf(schema: StandardSchema): JsonSchema["properties"] {
  try {
    const { jsonSchema } = schema["~standard"] as WithJsonSchema;
    return jsonSchema?.input({ target: "draft-2020-12", libraryOptions: LENIENT }).properties;
  } catch {
    // A schema that JSON Schema can't express is still valid.
    return undefined;
  }
}

/**
 * Finds the list keys of another library's schema in its JSON Schema. Any other key gets a list when it is repeated,
 * else a text.
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
