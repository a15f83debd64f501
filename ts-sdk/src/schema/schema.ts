import type { Attributes } from "./attributes.ts";
import { Failures, INVALID, type Parse } from "./failures.ts";
import { type Arrival, compileQuick, type Quick, type WriteQuick } from "./quick.ts";
import type { StandardProps, StandardResult } from "./standard.ts";

/** What kind of value a schema describes. */
export type Kind = "string" | "u32" | "i32" | "i64" | "f64" | "bool" | "enum" | "list" | "object";

/** Whether a field must be given: `default` fills it when it is absent, `optional` leaves it out. */
export type Presence = "required" | "optional" | "default";

/**
 * What a value must be. A schema is plain data (its kind and attributes, from which the OpenAPI document is written)
 * and a closure that parses, made once when the schema is.
 */
export interface Schema<out Output = unknown, out P extends Presence = Presence> {
  readonly kind: Kind;
  readonly presence: P;
  /** True after `.optional()`: `null` in a JSON body counts as absent. */
  readonly nullable: boolean;
  /** The attributes as they were given. */
  readonly attributes: Attributes;
  /** The same schema for a value that may be absent. In a JSON body `null` counts as absent. */
  optional(): Schema<Output, Optional<P>>;
  /** Standard Schema v1. Path and query schemas also take text, as it stands in a URL. */
  readonly "~standard": StandardProps<unknown, P extends "optional" ? Output | undefined : Output>;
  /** @internal */
  readonly parsers: Parsers;
}

/** What {@link Schema.optional} makes of a presence: a default keeps standing in for what is absent. */
export type Optional<P extends Presence> = P extends "default" ? "default" : "optional";

/** The two ways in which one value arrives. */
export interface Parsers {
  /** A value as JSON gives it; nothing is converted. */
  readonly json: Parse;
  /** A value from a path or a query: text is converted to the schema's kind. */
  readonly text: Parse;
  /** Writes what accepts a valid value in one go. */
  readonly writeQuick: WriteQuick;
  /** That, compiled when it is first asked for. */
  quick(arrival: Arrival): Quick;
}

/** A schema for which the default's value is known to the type checker. */
export type WithDefault<Output, Default> = Schema<Output, Default extends undefined ? "required" : "default">;

/** What {@link createSchema} needs to know. */
export interface SchemaParts {
  readonly kind: Kind;
  readonly attributes: Attributes;
  readonly json: Parse;
  /** Writes what accepts a valid value in one go. */
  readonly writeQuick: WriteQuick;
  /** The same as `json` unless text needs converting. */
  readonly text?: Parse;
  /** What a particular kind adds: items, values, fields. */
  readonly extra?: Readonly<Record<string, unknown>>;
  /** Take text in Standard Schema's `validate`: true for path and query schemas. */
  readonly textual?: boolean;
}

/** Makes a schema of its parts. `label` names it in the error when its default does not satisfy it. */
export function createSchema(label: string, parts: SchemaParts): Schema {
  const { attributes } = parts;
  if (attributes.default !== undefined) {
    const failures = new Failures();
    if (parts.json(attributes.default, failures) === INVALID) {
      throw new RangeError(`${label}: "default" ${failures.list[0]?.detail}`);
    }
  }
  return withPresence(parts, parsersOf(parts), attributes.default === undefined ? "required" : "default", false);
}

function parsersOf({ json, text = json, writeQuick }: SchemaParts): Parsers {
  const compiled: { [A in Arrival]?: Quick } = {};
  const quick = (arrival: Arrival) => {
    compiled[arrival] ??= compileQuick(writeQuick, arrival);
    return compiled[arrival];
  };
  return { json, text, writeQuick, quick };
}

function withPresence<P extends Presence>(
  parts: SchemaParts,
  parsers: Parsers,
  presence: P,
  nullable: boolean,
): Schema<unknown, P> {
  const { kind, attributes, extra, textual = false } = parts;
  return Object.freeze({
    ...extra,
    kind,
    presence,
    nullable,
    attributes: Object.freeze({ ...attributes }),
    parsers,
    optional: () =>
      withPresence(parts, parsers, (presence === "default" ? "default" : "optional") as Optional<P>, true),
    "~standard": Object.freeze({
      version: 1 as const,
      vendor: "tenon",
      validate: (value: unknown) =>
        presence !== "required" && (value === undefined || (value === null && nullable))
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

/** True for one of Tenon's own schemas, false for another library's. */
export function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && "parsers" in value && "~standard" in value;
}
