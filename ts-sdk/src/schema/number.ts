import { type Attributes, checkAttributes, type NumberAttributes } from "./attributes.ts";
import { fail, type Parse } from "./failures.ts";
import { createSchema, type WithDefault } from "./schema.ts";

/** The kinds of number. */
type NumberKind = "u32" | "i32" | "i64" | "f64";

interface Range {
  readonly low: number;
  readonly high: number;
  readonly whole: boolean;
  readonly expected: string;
}

// i64 ends where JavaScript's numbers stop being exact: beyond that a value would be rounded, and is refused instead.
const RANGES: Readonly<Record<NumberKind, Range>> = {
  u32: integers(0, 4_294_967_295),
  i32: integers(-2_147_483_648, 2_147_483_647),
  i64: integers(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
  f64: { low: -Number.MAX_VALUE, high: Number.MAX_VALUE, whole: false, expected: "must be a finite number" },
};

function integers(low: number, high: number): Range {
  return { low, high, whole: true, expected: `must be a whole number from ${low} to ${high}` };
}

/** A whole number from 0 to 4294967295. `min` and `max` are bounds, themselves allowed. */
export function u32<Default extends number | undefined = undefined>(
  attributes: NumberAttributes<Default> = {},
): WithDefault<number, Default> {
  return number("u32", attributes) as WithDefault<number, Default>;
}

/** A whole number from -2147483648 to 2147483647. `min` and `max` are bounds, themselves allowed. */
export function i32<Default extends number | undefined = undefined>(
  attributes: NumberAttributes<Default> = {},
): WithDefault<number, Default> {
  return number("i32", attributes) as WithDefault<number, Default>;
}

/** A whole number that JavaScript holds exactly, within ±9007199254740991; beyond that it is refused, not rounded. */
export function i64<Default extends number | undefined = undefined>(
  attributes: NumberAttributes<Default> = {},
): WithDefault<number, Default> {
  return number("i64", attributes) as WithDefault<number, Default>;
}

/** A finite number. `min` and `max` are bounds, themselves allowed. */
export function f64<Default extends number | undefined = undefined>(
  attributes: NumberAttributes<Default> = {},
): WithDefault<number, Default> {
  return number("f64", attributes) as WithDefault<number, Default>;
}

function number(kind: NumberKind, attributes: NumberAttributes): unknown {
  const label = `field.${kind}`;
  const given = attributes as Attributes;
  const range = RANGES[kind];
  checkAttributes(label, given, ["min", "max"]);
  for (const bound of [given.min, given.max]) {
    if (bound !== undefined && !isWithin(range, bound)) {
      throw new RangeError(`${label}: a bound ${range.expected}, not be ${bound}`);
    }
  }
  const json = parseNumber(range, given.min ?? range.low, given.max ?? range.high);
  const text = range.whole ? fromText(WHOLE, json, range.expected) : fromText(DECIMAL, json, range.expected);
  return createSchema(label, { kind, attributes: given, json, text });
}

function isWithin({ low, high, whole }: Range, value: number): boolean {
  return value >= low && value <= high && !(whole && value % 1 !== 0);
}

function parseNumber(range: Range, min: number, max: number): Parse {
  const { whole } = range;
  return (value, failures) => {
    // The bounds are within the range of the kind; NaN fails every comparison. -0 is no other number than 0.
    if (typeof value === "number" && value >= min && value <= max && !(whole && value % 1 !== 0)) return value + 0;
    if (typeof value !== "number" || !isWithin(range, value)) return fail(failures, "type", range.expected);
    if (value < min) return fail(failures, "min", `must be at least ${min}`);
    return fail(failures, "max", `must be at most ${max}`);
  };
}

const WHOLE = /^-?\d+$/;
const DECIMAL = /^-?(?:\d+(?:\.\d*)?|\.\d+)(?:[Ee][+-]?\d+)?$/;

function fromText(grammar: RegExp, json: Parse, expected: string): Parse {
  return (value, failures) => {
    if (typeof value !== "string") return json(value, failures);
    if (!grammar.test(value)) return fail(failures, "type", expected);
    return json(Number(value), failures);
  };
}
