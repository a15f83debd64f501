import { type Attributes, checkAttributes } from "./attributes.ts";
import { fail, type Parse } from "./failures.ts";
import type { WriteQuick } from "./quick.ts";
import { createSchema, type Schema } from "./schema.ts";

/** The kinds of number. */
type NumberKind = "u32" | "i32" | "i64" | "f64";

interface Range {
  readonly low: number;
  readonly high: number;
  readonly whole: boolean;
  readonly expected: string;
}

/** Makes the constructor of a kind of number. */
function numbers(kind: NumberKind, range: Range): (attributes?: Attributes) => Schema {
  const label = `field.${kind}`;
  return (attributes = {}) => {
    checkAttributes(label, attributes, ["min", "max"]);
    const { min = range.low, max = range.high } = attributes;
    for (const bound of [min, max]) {
      if (!isWithin(range, bound)) throw new RangeError(`${label}: a bound ${range.expected}, not be ${bound}`);
    }
    const json = parseNumber(range, min, max);
    const writeQuick: WriteQuick = (given, code, arrival) => {
      // Accepts only canonical numbers, because a comparison takes the engine less time than a grammar.
      const value = arrival === "json" ? given : code.variable(`+${given}`);
      code.require(arrival === "json" ? `typeof ${value}=="number"` : `${value}+""===${given}`);
      const whole = range.whole ? `&&${value}%1===0` : "";
      code.require(`${value}>=${min}&&${value}<=${max}${whole}`);
      return `${value}+0`;
    };
    const text = fromText(range.whole ? WHOLE : DECIMAL, json, range.expected);
    return createSchema(label, { kind, attributes, json, text, writeQuick });
  };
}

function integers(kind: NumberKind, low: number, high: number): (attributes?: Attributes) => Schema {
  return numbers(kind, { low, high, whole: true, expected: `must be a whole number from ${low} to ${high}` });
}

/** Reports whether a number is in a range; NaN fails every comparison. */
function isWithin({ low, high, whole }: Range, value: number): boolean {
  return value >= low && value <= high && !(whole && value % 1 !== 0);
}

function parseNumber(range: Range, min: number, max: number): Parse {
  return (value, failures) => {
    if (typeof value !== "number" || !isWithin(range, value)) return fail(failures, "type", range.expected);
    if (value < min) return fail(failures, "min", `must be at least ${min}`);
    if (value > max) return fail(failures, "max", `must be at most ${max}`);
    return value + 0; // -0 is no other number than 0.
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

export const u32 = integers("u32", 0, 4_294_967_295);
export const i32 = integers("i32", -2_147_483_648, 2_147_483_647);
// i64 ends where JavaScript's numbers stop being exact: beyond, a value is refused because it would be rounded.
export const i64 = integers("i64", Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
export const f64 = numbers("f64", {
  low: -Number.MAX_VALUE,
  high: Number.MAX_VALUE,
  whole: false,
  expected: "must be a finite number",
});
