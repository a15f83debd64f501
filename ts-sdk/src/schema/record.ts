import {
  type Attributes,
  type CheckAttribute,
  checkAttributes,
  checkCounts,
  type RecordAttributes,
} from "./attributes.ts";
import { fail, failCount, INVALID, MAX_COLLECTED, type Parse, within } from "./failures.ts";
import { isSchema, notSchema } from "./is-schema.ts";
import { type WriteQuick, writePart } from "./quick.ts";
import { createSchema, type Presence, type Schema } from "./schema.ts";

/** A schema of an object with any keys and values of one kind. */
export interface RecordSchema<out Item = unknown, out P extends Presence = Presence>
  extends Schema<{ [key: string]: Item }, P> {
  readonly kind: "record";
  /** The schema of each value. */
  readonly items: Schema<Item>;
}

/** The default limit of a record's keys. */
const DEFAULT_MAX_KEYS = 1_000;

/**
 * An object with any keys and values of one kind: `record(field.u32())` takes `{"ada":3,"bob":5}`. `min` and `max`
 * count its keys; `max` is 1,000 by default.
 *
 * The handler's object has no prototype: `__proto__` and `constructor` are keys like any other, and a key that was not
 * sent is `undefined`.
 *
 * @throws TypeError at definition: for values that may be absent.
 * @example
 * const Scores = Type("Scores", { points: record(field.u32({ max: 100 })) });
 */
export function record<Item, Default extends { readonly [key: string]: Item } | undefined = undefined>(
  items: Schema<Item, "required">,
  attributes: RecordAttributes<Default> & CheckAttribute<{ [key: string]: Item }> = {},
): RecordSchema<Item, Default extends undefined ? "required" : "default"> {
  const given = attributes as Attributes;
  if (!isSchema(items)) throw new TypeError(`record: the first argument ${notSchema(items)}`);
  if (items.presence !== "required") throw new TypeError("record: the value must not be optional");
  checkAttributes("record", given, ["min", "max"]);
  checkCounts("record", given);
  const { min = 0, max = DEFAULT_MAX_KEYS } = given;
  if (min > max) throw new RangeError(`record: "min" ${min} is greater than "max" ${max}`);
  return createSchema("record", {
    kind: "record",
    attributes: { ...given, max },
    json: parseRecord(items.parsers.json, min, max),
    writeQuick: writeRecord(items, min, max),
    extra: { items },
    sample: (example) => ({ x: example(items) }),
  }) as RecordSchema<Item, never>;
}

function parseRecord(parse: Parse, min: number, max: number): Parse {
  return (value, failures) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      return fail(failures, "type", "must be an object");
    }
    const keys = Object.keys(value);
    const { length } = keys;
    // Nothing else is checked then, because the limit bounds the work.
    if (length > max) return failCount(failures, "max", max, "key");
    let valid = length >= min;
    if (!valid) failCount(failures, "min", min, "key");
    const result = Object.create(null);
    let from = failures.list.length;
    for (let i = 0; i < length; i++) {
      const key = keys[i] as string;
      const parsed = parse((value as Record<string, unknown>)[key], failures);
      if (parsed === INVALID) {
        valid = false;
        within(failures, from, key);
        from = failures.list.length;
        if (from >= MAX_COLLECTED) return INVALID;
      } else if (valid) result[key] = parsed;
    }
    return valid ? result : INVALID;
  };
}

function writeRecord(items: Schema, min: number, max: number): WriteQuick {
  return (value, code, arrival) => {
    code.require(`typeof ${value}=="object"&&${value}!==null&&!${code.constant(Array.isArray)}(${value})`);
    const keys = code.variable(`${code.constant(Object.keys)}(${value})`);
    const length = code.variable(`${keys}.length`);
    code.require(`${length}>=${min}&&${length}<=${max}`);
    const result = code.variable(`${code.constant(Object.create)}(null)`);
    const i = code.variable("0");
    code.write(`for(;${i}<${length};${i}++){`);
    const parsed = writePart(items.parsers, code.variable(`${value}[${keys}[${i}]]`), code, arrival);
    code.write(`${result}[${keys}[${i}]]=${parsed}}`);
    return result;
  };
}
