import type { Attributes } from "./attributes.ts";
import { type Failures, fail, INVALID, type Parse, within } from "./failures.ts";
import { isSchema, notSchema } from "./is-schema.ts";
import { type Arrival, memberAt, type WriteQuick, writePart } from "./quick.ts";
import type { Kind, Optional, Presence, Schema, SchemaParts } from "./schema.ts";

/** The place of an object schema: a JSON body, a form, the path, the query, or the headers. */
export type Role = "type" | "form" | "path" | "query" | "headers";

/** The fields of an object schema, by name. */
export type Fields = Readonly<Record<string, Schema>>;

/** The fields of a JSON object, by name: all but files, which only a form has. */
export type JsonFields = Fields & Readonly<Record<string, { readonly "~place"?: undefined }>>;

/** A schema of an object with named fields. Other keys are ignored. */
export interface ObjectSchema<out Output = unknown, out P extends Presence = Presence> extends Schema<Output, P> {
  readonly kind: "object";
  readonly role: Role;
  /** Its name; for a `Type`, also the name of its component in the OpenAPI document. */
  readonly name: string;
  readonly fields: Fields;
}

/**
 * A JSON object, from `Type(…)`. The third type argument names the fields that have a default: a typed client may leave them
 * out.
 */
export interface TypeSchema<out Output = unknown, out P extends Presence = Presence, out Defaults = unknown>
  extends ObjectSchema<Output, P> {
  readonly role: "type";
  optional(): TypeSchema<Output, Optional<P>, Defaults>;
}

/** The placeholders of a path, from `Path(…)`. */
export interface PathSchema<out Output = unknown> extends ObjectSchema<Output, "required"> {
  readonly role: "path";
}

/**
 * The keys of a query, from `Query(…)`. The second type argument names the fields that have a default: a typed client may
 * leave them out.
 */
export interface QuerySchema<out Output = unknown, out Defaults = unknown> extends ObjectSchema<Output, "required"> {
  readonly role: "query";
  /** Never set: it carries the types. */
  readonly "~defaults"?: Defaults;
}

/** The names of the fields with a default. A first check finds quickly that an object has none, which is usual. */
export type DefaultKey<F extends Fields> =
  F extends Readonly<Record<string, Schema<unknown, "required" | "optional">>>
    ? never
    : { [K in keyof F]: F[K]["presence"] extends "default" ? K : never }[keyof F];

/** The object type of fields: an optional field may be absent. */
export type OutputOf<F extends Fields> = Split<F, OptionalKey<F>>;

// In two steps, because two mapped types that each check every field's presence cost the type checker a third more.
type OptionalKey<F extends Fields> = { [K in keyof F]: F[K]["presence"] extends "optional" ? K : never }[keyof F];
type Split<F extends Fields, Optional extends keyof F> = Flat<
  { [K in Exclude<keyof F, Optional>]: ValueOf<F[K]> } & { -readonly [K in Optional]?: ValueOf<F[K]> | undefined }
>;

type ValueOf<S> = S extends Schema<infer Output> ? Output : never;
/** The same object type, through `infer`, so that an editor shows its members and not its derivation. */
export type Flat<T> = T extends infer O ? { [K in keyof O]: O[K] } : never;

/** The name of a Type from inline fields, which is no component of the OpenAPI document. */
export const INLINE = "~";

// A component's name in OpenAPI 3.0: "Components Object", fixed fields.
const NAME = /^[A-Za-z0-9._-]+$/;

/**
 * The parts of an object's schema.
 *
 * @throws TypeError for an invalid name or field.
 */
export function objectParts(label: string, role: Role, name: string, fields: Fields): SchemaParts {
  if (typeof name !== "string" || !(NAME.test(name) || name === INLINE)) {
    throw new TypeError(
      `${label}: a name must have only letters, digits, ".", "_" and "-", unlike ${JSON.stringify(name)}`,
    );
  }
  const what = `${label} ${name}`;
  checkFields(what, fields);
  for (const [key, field] of Object.entries(fields)) {
    if (role !== "form" && isFile(field)) throw new TypeError(`${what}: "${key}" is a file, which must be in a Form`);
    if (role !== "type") checkText(what, role, key, field);
  }
  const frozen = Object.freeze({ ...fields });
  return {
    kind: "object",
    attributes: {},
    json: parseObject(frozen, "json"),
    text: parseObject(frozen, "text"),
    writeQuick: writeObject(frozen),
    extra: { role, name, fields: frozen },
    textual: role !== "type",
  };
}

/** Refuses any value but an object of schemas. */
export function checkFields(what: string, fields: Fields): void {
  if (typeof fields !== "object" || fields === null) throw new TypeError(`${what}: the fields must be an object`);
  // { __proto__: … } in a literal sets the prototype, and would silently lose the field.
  if (Object.getPrototypeOf(fields) !== Object.prototype || Object.hasOwn(fields, "__proto__")) {
    throw new TypeError(`${what}: a field can't be named "__proto__"`);
  }
  for (const [key, schema] of Object.entries(fields)) {
    if (!isSchema(schema)) throw new TypeError(`${what}: the field "${key}" ${notSchema(schema, "is not a schema")}`);
  }
}

/** The kinds that a single text can't represent. */
const COMPOUND: readonly Kind[] = ["list", "object", "record", "union", "json"];

/** A list's schema (`list.ts`). */
type ListOf = Schema & { readonly items: Schema };

function isFile(field: Schema): boolean {
  return field.kind === "file" || (field as Partial<ListOf>).items?.kind === "file";
}

/** Refuses a field that has no text in a path, a query or a form. */
function checkText(what: string, role: Role, key: string, field: Schema): void {
  const value = role !== "path" && field.kind === "list" ? (field as ListOf).items : field;
  if (COMPOUND.includes(value.kind)) {
    throw new TypeError(
      `${what}: "${key}" must be a single value${role === "path" ? "" : " or a list of single values"}`,
    );
  }
  if (field.takesNull || value.takesNull) throw new TypeError(`${what}: "${key}" is a text and must not be null`);
  if (role === "path" && field.presence !== "required") {
    throw new TypeError(`${what}: "${key}" is always there, it can't be ${field.presence}`);
  }
}

function parseObject(fields: Fields, arrival: Arrival): Parse {
  const keys = Object.keys(fields);
  const schemas = Object.values(fields);
  const parsers = schemas.map((schema) => schema.parsers[arrival]);
  const inherits = keys.some(isInherited);
  return (value, failures) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      return fail(failures, "type", "must be an object");
    }
    const prototype = Object.getPrototypeOf(value);
    const ownOnly = !inherits && (prototype === Object.prototype || prototype === null);
    const source = value as Record<string, unknown>;
    const result: Record<string, unknown> = {};
    let valid = true;
    let from = failures.list.length;
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i] as string;
      const given = ownOnly || Object.hasOwn(source, key) ? source[key] : undefined;
      const parsed =
        given === undefined || (given === null && failures.outgoing && isLeftOut(schemas[i] as Schema))
          ? absent(schemas[i] as Schema, failures)
          : (parsers[i] as Parse)(given, failures);
      if (parsed === INVALID) {
        valid = false;
        within(failures, from, key);
        from = failures.list.length;
      } else if (valid && parsed !== undefined) result[key] = parsed;
    }
    return valid ? result : INVALID;
  };
}

/** Reports whether every object inherits a name, such as "constructor"; only an own property is input. */
function isInherited(key: string): boolean {
  return key in Object.prototype;
}

function writeObject(fields: Fields): WriteQuick {
  return (value, code, arrival) => {
    if (arrival === "text") code.require(value);
    else {
      const prototype = `${code.constant(Object.getPrototypeOf)}(${value})`;
      code.require(`typeof ${value}=="object"&&${value}!==null&&${prototype}===${code.constant(Object.prototype)}`);
    }
    const result = code.variable("{}");
    for (const [key, schema] of Object.entries(fields)) {
      if (isInherited(key)) code.require("false");
      const { presence, attributes, parsers } = schema;
      const at = memberAt(key);
      const given = code.variable(value + at);
      if (presence !== "required") code.write(`if(${given}!==undefined){`);
      code.write(`${result}${at}=${writePart(parsers, given, code, arrival)};`);
      if (presence !== "required") code.write("}");
      if (presence === "default") code.write(`else ${result}${at}=${code.constant(() => fallback(attributes))}();`);
    }
    return result;
  };
}

/**
 * Reports whether `null` in an answer is not sent: a database has it for an optional field, which itself does not accept it.
 */
export function isLeftOut({ presence, takesNull }: Pick<Schema, "presence" | "takesNull">): boolean {
  return presence === "optional" && !takesNull;
}

/** The value of an absent field: its default, nothing when it is optional, else a failure. */
function absent({ presence, attributes }: Schema, failures: Failures): unknown {
  if (presence === "optional") return undefined;
  if (presence === "required" || failures.outgoing) return fail(failures, "required", "is required");
  return fallback(attributes);
}

/** A field's default; a list or an object is copied, because handlers may change their input. */
function fallback({ default: value }: Attributes): unknown {
  return typeof value === "object" ? JSON.parse(JSON.stringify(value)) : value;
}
