import { buildingKey } from "../abi.ts";
import { platform } from "../platform.ts";
import type { Attributes } from "./attributes.ts";
import { Failures, fail, INVALID, type Parse } from "./failures.ts";
import { type Fields, objectParts, type Role } from "./object.ts";
import { type Arrival, compileQuick, type Quick, type WriteQuick, writePart } from "./quick.ts";
import type { StandardProps, StandardResult } from "./standard.ts";

export { isSchema } from "./is-schema.ts";

/** The kind of value that a schema describes. */
export type Kind =
  | ("string" | "u32" | "i32" | "i64" | "f64" | "bool" | "enum")
  | ("list" | "object" | "record" | "union" | "json" | "file");

/** The presence of a field: `required`, filled by its `default`, or left out if `optional`. */
export type Presence = "required" | "optional" | "default";

/**
 * The description of a value. A schema is plain data (its kind and attributes, from which the OpenAPI document is
 * written) and a parsing closure, made once.
 */
export interface Schema<out Output = unknown, out P extends Presence = Presence> {
  readonly kind: Kind;
  readonly presence: P;
  /** True when `null` is a value of its own: after `.nullable()`, and for `field.json()`. */
  readonly takesNull: boolean;
  /** The attributes as given. */
  readonly attributes: Attributes;
  /** The same schema for a value that may be absent. `null` is a value of its own, which only `.nullable()` accepts. */
  optional(): Schema<Output, Optional<P>>;
  /** The same schema for a value that may be `null`. */
  nullable(): Schema<Output | null, P>;
  /** The same schema for a value that may be absent or `null`. */
  nullish(): Schema<Output | null, Optional<P>>;
  /** Standard Schema v1. Path and query schemas also accept text from a URL. */
  readonly "~standard": StandardProps<unknown, P extends "optional" ? Output | undefined : Output>;
  /** @internal */
  readonly parsers: Parsers;
}

/** The presence after {@link Schema.optional}: a default still replaces an absent value. */
export type Optional<P extends Presence> = P extends "default" ? "default" : "optional";

/** The parsers of a value, one for each arrival. */
export interface Parsers {
  /** Parses a value from JSON, without conversions. */
  readonly json: Parse;
  /** Parses a value from a path or a query, and converts text to the schema's kind. */
  readonly text: Parse;
  /** Writes the code that accepts a valid value in one step. */
  readonly writeQuick: WriteQuick;
  /** True when {@link quick} is a function of its own in every containing schema; else its code is inlined there. */
  readonly shared: boolean;
  /** The compiled fast path, made on demand. */
  quick(arrival: Arrival): Quick;
  /** {@link createObject}. Fields hold it so that an app without any does not contain it. */
  readonly createObject: typeof createObject;
  /** Makes a valid value, if the kind needs code of its own for it; `example` makes one of another schema. */
  readonly sample?: Sample | undefined;
}

/** Makes a value that a schema accepts. */
export type Sample = (example: (schema: Schema) => unknown) => unknown;

/** A schema whose default the type checker knows. */
export type WithDefault<Output, Default> = Schema<Output, Default extends undefined ? "required" : "default">;

/** The parts for {@link createSchema}. */
export interface SchemaParts {
  readonly kind: Kind;
  readonly attributes: Attributes;
  readonly json: Parse;
  /** Writes the code that accepts a valid value in one step. */
  readonly writeQuick: WriteQuick;
  /** The parser of text; `json` by default. */
  readonly text?: Parse;
  /** Members of a particular kind: items, values, fields. */
  readonly extra?: Readonly<Record<string, unknown>>;
  /** Makes Standard Schema's `validate` accept text, for path and query schemas. */
  readonly textual?: boolean;
  /** True when `json` and `writeQuick` accept null as a value. */
  readonly takesNull?: boolean;
  /** See {@link Parsers.sample}. */
  readonly sample?: Sample | undefined;
}

/** Makes a schema from its parts. `label` is its name in the error about an invalid default. */
export function createSchema(label: string, given: SchemaParts): Schema {
  const { attributes } = given;
  const parts = attributes.check ? withCheck(given, attributes.check as Check) : given;
  if (attributes.default !== undefined) {
    const failures = new Failures();
    if (parts.json(attributes.default, failures) === INVALID) {
      throw new RangeError(`${label}: "default" ${failures.list[0]?.detail}`);
    }
  }
  const presence = attributes.default === undefined ? "required" : "default";
  return finish(parts, parsersOf(parts, parts.kind === "object"), presence, parts.takesNull ?? false);
}

type Check = (value: unknown) => string | undefined;

/** Adds a rule of the program's own after all others. */
function withCheck(parts: SchemaParts, check: Check): SchemaParts {
  // A build calls no code of the program with values that it makes up.
  const problemOf: Check = (value) => (platform[buildingKey] ? undefined : check(value));
  const checked = (parse: Parse): Parse => {
    return (value, failures) => {
      const parsed = parse(value, failures);
      const problem = parsed === INVALID ? undefined : problemOf(parsed);
      if (problem === undefined) return parsed;
      if (typeof problem !== "string") throw new TypeError('"check" must return undefined or a text');
      return fail(failures, "check", problem);
    };
  };
  const writeQuick: WriteQuick = (value, code, arrival) => {
    const parsed = code.variable(parts.writeQuick(value, code, arrival));
    code.require(`${code.constant(problemOf)}(${parsed})===undefined`);
    return parsed;
  };
  const { json, text = json } = parts;
  return { ...parts, json: checked(json), text: checked(text), writeQuick };
}

/** Makes the schema of an object. The public functions `Type`, `Path` and `Query` restrict its fields. */
export function createObject(
  label: string,
  role: Role,
  name: string,
  fields: Fields,
  attributes: Attributes = {},
): Schema {
  return createSchema(`${label} ${name}`, { ...objectParts(label, role, name, fields), attributes });
}

function parsersOf({ json, text = json, writeQuick, sample }: SchemaParts, shared: boolean): Parsers {
  const compiled: { [A in Arrival]?: Quick } = {};
  const quick = (arrival: Arrival) => {
    compiled[arrival] ??= compileQuick(writeQuick, arrival);
    return compiled[arrival];
  };
  return { json, text, writeQuick, shared, quick, createObject, sample };
}

/** The parsers that also accept null, which only JSON has. */
function orNull(parts: SchemaParts, inner: Parsers): Parsers {
  const json: Parse = (value, failures) => (value === null ? null : inner.json(value, failures));
  const writeQuick: WriteQuick = (value, code, arrival) => {
    const result = code.variable("null");
    code.write(`if(${value}!==null){`);
    code.write(`${result}=${writePart(inner, value, code, arrival)}}`);
    return result;
  };
  return parsersOf({ ...parts, json, text: inner.text, writeQuick }, false);
}

function finish<P extends Presence>(
  parts: SchemaParts,
  parsers: Parsers,
  presence: P,
  takesNull: boolean,
): Schema<unknown, P> {
  const { kind, attributes, extra, textual = false } = parts;
  const nullable = () => finish(parts, takesNull ? parsers : orNull(parts, parsers), presence, true);
  return Object.freeze({
    ...extra,
    kind,
    presence,
    takesNull,
    attributes: Object.freeze({ ...attributes }),
    parsers,
    optional: () => finish(parts, parsers, (presence === "default" ? "default" : "optional") as Optional<P>, takesNull),
    nullable,
    nullish: () => nullable().optional(),
    "~standard": Object.freeze({
      version: 1 as const,
      vendor: "tenon",
      validate: (value: unknown) =>
        presence !== "required" && value === undefined
          ? { value: attributes.default as never }
          : validate(parsers, textual, value),
    }),
  });
}

function validate({ json, text, quick }: Parsers, textual: boolean, value: unknown): StandardResult<never> {
  const accepted = textual ? undefined : quick("json")(value);
  if (accepted !== undefined) return { value: accepted as never };
  const failures = new Failures();
  const parsed = (textual ? text : json)(value, failures);
  if (parsed !== INVALID) return { value: parsed as never };
  return { issues: failures.list.map(({ path, code, detail }) => ({ message: detail, path, code })) };
}
