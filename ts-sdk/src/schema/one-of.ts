import type { Attributes } from "./attributes.ts";
import { capitalized, derivedName } from "./derived-name.ts";
import { type EnumSchema, enumOf } from "./enum.ts";
import { Failures, fail, INVALID, type Parse, within } from "./failures.ts";
import type { TypeSchema } from "./object.ts";
import type { Quick, WriteQuick } from "./quick.ts";
import { createObject, createSchema, isSchema, type Presence, type Schema } from "./schema.ts";

/** A schema of objects of several shapes, which the value of one field distinguishes. */
export interface UnionSchema<out Output = unknown, out P extends Presence = Presence> extends Schema<Output, P> {
  readonly kind: "union";
  /** The name of the field that distinguishes the shapes. */
  readonly tag: string;
  /** The shape for each of its values, including that field. */
  readonly variants: Readonly<Record<string, TypeSchema>>;
}

/** The shapes of a union, by the value of the field that distinguishes them. */
export type Variants = Readonly<Record<string, TypeSchema<unknown, "required">>>;

/** One object for each variant, whose tag is its key. */
export type OneOf<Tag extends string, V extends Variants> = {
  [K in keyof V & string]: Tagged<Tag, K, OutputOfType<V[K]>>;
}[keyof V & string] extends infer Any
  ? Any
  : never;

type OutputOfType<S> = S extends TypeSchema<infer Output> ? Output : never;
// Through `infer`, so that an editor shows the object and not its derivation.
type Tagged<Tag extends string, Value, O> = { [T in Tag]: Value } & Omit<O, Tag> extends infer All
  ? { [K in keyof All]: All[K] }
  : never;

/**
 * An object of one of several shapes: `oneOf("kind", { circle: Circle, square: Square })` takes a `Circle` whose `kind`
 * is `"circle"`. A `Type` gets the field `kind` here, or declares it itself as `field.enum("circle")`.
 *
 * @example
 * const Shape = oneOf("kind", { circle: Type("Circle", { radius: field.f64() }), square: Type("Square", { side: field.f64() }) });
 * @throws TypeError at definition: without variants, for one that is not a `Type`, and for one that declares the field
 *   differently.
 */
export function oneOf<const Tag extends string, V extends Variants>(
  tag: Tag,
  variants: V,
): UnionSchema<OneOf<Tag, V>, "required"> {
  if (typeof tag !== "string" || tag === "" || tag === "__proto__") {
    throw new TypeError(`oneOf: the first argument must be the name of a field, not ${JSON.stringify(tag)}`);
  }
  const tagged = new Map<string, TypeSchema>();
  for (const [value, type] of entriesOf(variants)) tagged.set(value, withTag(tag, value, type, variants, tagged));
  const words = enumOf(...tagged.keys()).parsers.json;
  const parsers = new Map([...tagged].map(([value, type]) => [value as unknown, type.parsers]));
  const json: Parse = (value, failures) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      return fail(failures, "type", "must be an object");
    }
    const given = Object.hasOwn(value, tag) ? (value as Record<string, unknown>)[tag] : undefined;
    const variant = parsers.get(given);
    if (variant !== undefined) return variant.json(value, failures);
    const from = failures.list.length;
    if (given === undefined) fail(failures, "required", "is required");
    else words(given, failures);
    within(failures, from, tag);
    return INVALID;
  };
  const writeQuick: WriteQuick = (value, code, arrival) => {
    const quick = new Map<unknown, Quick>([...parsers].map(([key, one]) => [key, one.quick(arrival)]));
    code.require(`typeof ${value}=="object"&&${value}!==null`);
    const variant = code.variable(`${code.constant(quick)}.get(${value}[${JSON.stringify(tag)}])`);
    code.require(variant);
    const parsed = code.variable(`${variant}(${value})`);
    code.require(`${parsed}!==undefined`);
    return parsed;
  };
  return createSchema("oneOf", {
    kind: "union",
    attributes: {} satisfies Attributes,
    json,
    writeQuick,
    extra: { tag, variants: Object.freeze(Object.fromEntries(tagged)) },
    sample: (example) => {
      // A body has one variant, so the others are parsed here.
      const samples = [...tagged.values()].map((type) => {
        const value = example(type);
        type.parsers.json(value, new Failures());
        return value;
      });
      return samples[0];
    },
  }) as unknown as UnionSchema<OneOf<Tag, V>, "required">;
}

function entriesOf(variants: Variants): [string, TypeSchema][] {
  const isObject = typeof variants === "object" && variants !== null;
  // { __proto__: … } in a literal sets the prototype, and would silently lose the variant.
  if (!isObject || Object.getPrototypeOf(variants) !== Object.prototype || Object.hasOwn(variants, "__proto__")) {
    throw new TypeError('oneOf: the variants must be an object of Types, and none may be named "__proto__"');
  }
  const entries = Object.entries(variants);
  if (entries.length === 0) throw new TypeError("oneOf: it must have at least one variant");
  for (const [key, type] of entries) {
    const plain = isSchema(type) && type.presence === "required" && !type.takesNull;
    if (!plain || type.role !== "type") {
      throw new TypeError(`oneOf: the variant "${key}" must be a Type that is neither optional nor nullable`);
    }
  }
  return entries;
}

/** The variant with its tag: as it declares it, or with a first field of one literal. */
function withTag(
  tag: string,
  value: string,
  type: TypeSchema,
  variants: Variants,
  before: ReadonlyMap<string, TypeSchema>,
): TypeSchema {
  const own = Object.hasOwn(type.fields, tag) ? type.fields[tag] : undefined;
  if (own === undefined) {
    const same = derivedName(type.name, "With", [tag], capitalized(value) === type.name ? "" : capitalized(value));
    const names = [...before.values()].map((other) => other.name);
    // Words such as "a-b" and "a b" differ only in characters that a name can't have.
    let name = same;
    for (let n = 2; names.includes(name); n++) name = `${same}${n}`;
    return createObject("oneOf", "type", name, { [tag]: enumOf(value), ...type.fields }) as TypeSchema;
  }
  const keys = Object.keys(variants).filter((key) => variants[key] === type);
  const { kind, presence, takesNull } = own;
  const words = kind === "enum" && presence === "required" && !takesNull ? (own as EnumSchema).values : [];
  if (words.length !== keys.length || !keys.every((key) => words.includes(key))) {
    const expected = keys.map((key) => JSON.stringify(key)).join(", ");
    throw new TypeError(
      `oneOf: the variant "${value}" declares "${tag}" itself, which must be field.enum(${expected})`,
    );
  }
  return type;
}
