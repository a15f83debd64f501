/** The JSON Schema of `tenon.toml`. */
import type { Key, OpenSection, Section, TableSection } from "./key.ts";
import { sections } from "./keys.ts";

/** The JSON Schema (draft-07) of `tenon.toml`, published as `tenon.schema.json` in this package for editors. */
export function jsonSchema(): object {
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "tenon.toml",
    description: "A project of Tenon.",
    type: "object",
    additionalProperties: false,
    required: namesOf(sections, (section) => "keys" in section && hasRequired(section)),
    properties: mapped(sections as Readonly<Record<string, Section | OpenSection | TableSection>>, sectionSchema),
  };
}

function sectionSchema(section: Section | OpenSection | TableSection): object {
  const { docs } = section;
  if ("each" in section) {
    return {
      description: docs,
      type: "object",
      propertyNames: { pattern: section.names.pattern.source },
      additionalProperties: tableSchema(section),
    };
  }
  if (!("keys" in section)) {
    return {
      description: docs,
      type: "object",
      propertyNames: { pattern: section.names.pattern.source },
      additionalProperties: keySchema(section.values),
    };
  }
  const required = namesOf(section.keys, ({ presence }) => presence === "required");
  return {
    description: docs,
    type: "object",
    additionalProperties: false,
    ...(required.length > 0 && { required }),
    properties: mapped(section.keys, keySchema),
  };
}

/** One of the tables of a section. */
function tableSchema({ docs, each, within = {} }: TableSection): object {
  const table = sectionSchema({ docs, keys: each }) as { readonly properties: object };
  return { ...table, properties: { ...table.properties, ...mapped(within, sectionSchema) } };
}

function keySchema({ docs, kind, ...key }: Key<unknown>): object {
  return { description: docs, ...kind.schema, ...key.rule, ...(key.default !== undefined && { default: key.default }) };
}

function hasRequired({ keys }: Section): boolean {
  return Object.values(keys).some(({ presence }) => presence === "required");
}

function namesOf<T>(record: Readonly<Record<string, T>>, wanted: (value: T) => boolean): string[] {
  return Object.keys(record).filter((name) => wanted(record[name] as T));
}

function mapped<T>(record: Readonly<Record<string, T>>, change: (value: T) => object): Record<string, object> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));
}
