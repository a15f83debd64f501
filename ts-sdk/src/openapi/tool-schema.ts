import type { SchemaObject } from "./components.ts";
import type { Document } from "./document.ts";

const DIALECT = "https://json-schema.org/draft/2020-12/schema";
const COMPONENT = /^#\/components\/schemas\/(.*)$/;

/**
 * A schema that stands alone. A component that it names once is written in its place, because this is shorter; one that it
 * names more often, or that names itself, is in `$defs`, whose dialect is named. The root has its keywords itself, because clients look for `type`.
 */
export function definedSchema(root: SchemaObject, { components: { schemas } }: Document): SchemaObject {
  const counts = new Map<string, number>();
  const count = (value: unknown): void => {
    const name = nameIn(value);
    if (name !== undefined) {
      counts.set(name, (counts.get(name) ?? 0) + 1);
      if (counts.get(name) === 1) count(schemas[name]);
    }
    for (const member of membersOf(value)) count(member);
  };
  const first = nameIn(root);
  const start = first === undefined ? root : { ...schemas[first], ...withoutRef(root) };
  count(start);
  const defs: Record<string, unknown> = {};
  const written = write(start) as SchemaObject;
  return Object.keys(defs).length === 0 ? written : { $schema: DIALECT, ...written, $defs: defs };

  function write(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(write);
    if (typeof value !== "object" || value === null) return value;
    const name = nameIn(value);
    if (name !== undefined) {
      const others = write(withoutRef(value as SchemaObject)) as SchemaObject;
      if (counts.get(name) === 1) return { ...(write(schemas[name]) as SchemaObject), ...others };
      if (!(name in defs)) {
        defs[name] = {};
        defs[name] = write(schemas[name]);
      }
      return { $ref: `#/$defs/${name}`, ...others };
    }
    const entries = Object.entries(value).flatMap(([key, member]) => {
      // OpenAPI's own keyword names components; "oneOf" has the alternatives.
      if (key === "discriminator") return [];
      return [[key, DATA.has(key) ? member : write(member)] as const];
    });
    return Object.fromEntries(entries);
  }
}

/** Keywords whose values are data, and no schemas. */
const DATA = new Set(["default", "example", "examples", "enum", "const"]);

function nameIn(value: unknown): string | undefined {
  const { $ref } = Object(value) as { $ref?: unknown };
  return typeof $ref === "string" ? COMPONENT.exec($ref)?.[1] : undefined;
}

function withoutRef({ $ref: _, ...others }: SchemaObject): SchemaObject {
  return others;
}

function membersOf(value: unknown): unknown[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => (DATA.has(key) || key === "discriminator" ? [] : [member]));
}
