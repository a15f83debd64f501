import {
  type Attributes,
  type CheckAttribute,
  checkAttributes,
  checkCounts,
  type ListAttributes,
} from "./attributes.ts";
import { fail, failCount, INVALID, MAX_COLLECTED, type Parse, within } from "./failures.ts";
import { isSchema, notSchema } from "./is-schema.ts";
import { type WriteQuick, writePart } from "./quick.ts";
import { createSchema, type Optional, type Presence, type Schema } from "./schema.ts";

/** A schema of a list with items of one kind. */
export interface ListSchema<out Item = unknown, out P extends Presence = Presence> extends Schema<Item[], P> {
  readonly kind: "list";
  /** The schema of each item. */
  readonly items: Schema<Item>;
  optional(): ListSchema<Item, Optional<P>>;
}

/**
 * A list; `min` and `max` count its items. In a query the repeated key fills it: `?tag=a&tag=b`.
 *
 * @example
 * const Users = Type("Users", { users: list(User), tags: list(field.string(), { max: 10, default: [] }) });
 */
export function list<Item, Default extends readonly Item[] | undefined = undefined>(
  items: Schema<Item, "required">,
  attributes: ListAttributes<Default> & CheckAttribute<Item[]> = {},
): ListSchema<Item, Default extends undefined ? "required" : "default"> {
  const given = attributes as Attributes;
  if (!isSchema(items)) throw new TypeError(`list: the first argument ${notSchema(items)}`);
  if (items.presence !== "required") throw new TypeError("list: the items must not be optional");
  checkAttributes("list", given, ["min", "max"]);
  checkCounts("list", given);
  const min = given.min ?? 0;
  const max = given.max ?? Number.POSITIVE_INFINITY;
  const { json, text } = items.parsers;
  const parseText = parseList(text, min, max);
  return createSchema("list", {
    kind: "list",
    attributes: given,
    json: parseList(json, min, max),
    writeQuick: writeList(items, min, max),
    // A single key in a query is a list of one.
    text: (value, failures) => parseText(typeof value === "string" ? [value] : value, failures),
    extra: { items },
  }) as ListSchema<Item, never>;
}

function parseList(parse: Parse, min: number, max: number): Parse {
  return (value, failures) => {
    if (!Array.isArray(value)) return fail(failures, "type", "must be a list");
    const { length } = value;
    let valid = length >= min && length <= max;
    if (length < min) failCount(failures, "min", min, "item");
    if (length > max) failCount(failures, "max", max, "item");
    const result = [];
    let from = failures.list.length;
    for (let i = 0; i < length; i++) {
      const parsed = parse(value[i], failures);
      if (parsed === INVALID) {
        valid = false;
        within(failures, from, i);
        from = failures.list.length;
        if (from >= MAX_COLLECTED) return INVALID;
      } else if (valid) result[i] = parsed;
    }
    return valid ? result : INVALID;
  };
}

function writeList(items: Schema, min: number, max: number): WriteQuick {
  return (value, code, arrival) => {
    code.require(`${code.constant(Array.isArray)}(${value})`);
    const length = code.variable(`${value}.length`);
    code.require(`${length}>=${min}&&${length}<=${max}`);
    const result = code.variable("[]");
    const i = code.variable("0");
    code.write(`for(;${i}<${length};${i}++){`);
    const parsed = writePart(items.parsers, code.variable(`${value}[${i}]`), code, arrival);
    code.write(`${result}[${i}]=${parsed}}`);
    return result;
  };
}
