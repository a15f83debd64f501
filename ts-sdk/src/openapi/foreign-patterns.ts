/** Writes the regular expressions of other libraries without flags. The libraries write the source alone, or refuse flags. */
import type { SchemaObject } from "./components.ts";
import { withoutFlags } from "./pattern-flags.ts";

/** A part of JSON Schema with patterns, which is changed in its place. */
export interface Patterns {
  pattern?: string;
  readonly allOf?: readonly Patterns[];
  patternProperties?: Readonly<Record<string, unknown>>;
}

/** The parts of a Zod schema that have regular expressions. */
export interface ZodSchema {
  readonly _zod: {
    readonly def: {
      readonly type: string;
      readonly pattern?: unknown;
      readonly checks?: readonly ZodSchema[];
      readonly keyType?: ZodSchema;
    };
    readonly bag?: { readonly patterns?: Iterable<unknown> };
  };
}

/** Writes the patterns that Zod has written for a schema without their flags. */
export function writeZodPatterns(schema: ZodSchema, json: Patterns): void {
  const { type, keyType } = schema._zod.def;
  const regexes = regexesOf(type === "record" && keyType !== undefined ? keyType : schema);
  if (regexes.every(({ flags }) => flags === "")) return;
  const left = [...regexes];
  const written = (source: string): string => {
    // Zod writes two with one source in their order.
    const at = left.findIndex((regex) => regex.source === source);
    const [regex] = at < 0 ? [] : left.splice(at, 1);
    return regex === undefined ? source : withoutFlags(regex);
  };
  if (type === "record") {
    const keys = Object.entries(json.patternProperties ?? {});
    if (keys.length > 0) json.patternProperties = Object.fromEntries(keys.map(([key, value]) => [written(key), value]));
    return;
  }
  for (const part of [json, ...(json.allOf ?? [])])
    if (part.pattern !== undefined) part.pattern = written(part.pattern);
}

/** The regular expressions of a schema and its checks, each once. */
function regexesOf({ _zod: { def, bag } }: ZodSchema): RegExp[] {
  const all = [
    def.pattern,
    ...(def.checks ?? []).flatMap((check) => [check._zod.def.pattern]),
    ...(bag?.patterns ?? []),
  ];
  return [...new Set(all)].filter((each): each is RegExp => each instanceof RegExp);
}

/** Valibot's call for each action of a pipe, once it has written its part. */
export interface ValibotContext {
  readonly valibotAction: { readonly type: string; readonly requirement?: unknown };
  readonly jsonSchema: SchemaObject;
  readonly errors: readonly string[] | undefined;
}

/** Writes the pattern of an action of Valibot without flags; undefined leaves what Valibot has written, or its errors. */
export function valibotPattern({ valibotAction, jsonSchema, errors = [] }: ValibotContext): SchemaObject | undefined {
  const { type, requirement } = valibotAction;
  if (!(requirement instanceof RegExp) || requirement.flags === "") return undefined;
  if (jsonSchema["pattern"] !== requirement.source) return undefined;
  // Valibot refuses the flags of an action "regex" alone. Another error is about something else.
  if (errors.length > (type === "regex" ? 1 : 0)) return undefined;
  return { ...jsonSchema, pattern: withoutFlags(requirement) };
}

/** Writes the patterns of a type of ArkType without flags, which its own description has beside them. */
export function writeArkTypePatterns(described: unknown, json: SchemaObject): void {
  const flagged = new Map<string, Set<string>>();
  const note = (rule: string, flags: string) => flagged.set(rule, (flagged.get(rule) ?? new Set()).add(flags));
  visit(described, ({ rule, flags = "", pattern }) => {
    if (typeof rule === "string" && typeof flags === "string") note(rule, flags);
    // Without flags it is the source alone.
    for (const each of Array.isArray(pattern) ? pattern : []) if (typeof each === "string") note(each, "");
  });
  visit(json, (part) => {
    const found = typeof part["pattern"] === "string" ? [...(flagged.get(part["pattern"]) ?? [])] : [];
    if (found.every((flags) => flags === "")) return;
    const [flags, ...others] = found;
    if (others.length > 0)
      throw new TypeError(`/${part["pattern"]}/ is used with several flags: use it with the same ones`);
    part["pattern"] = withoutFlags(new RegExp(part["pattern"] as string, flags));
  });
}

/** Visits all objects in a value. */
function visit(value: unknown, each: (object: Record<string, unknown>) => void): void {
  if (value === null || typeof value !== "object") return;
  if (!Array.isArray(value)) each(value as Record<string, unknown>);
  for (const inner of Object.values(value)) visit(inner, each);
}
