import { type Attributes, checkAttributes, checkCounts } from "./attributes.ts";
import { fail, failCount, type Parse } from "./failures.ts";
import { type Format, formats, samples } from "./formats.ts";
import type { WriteQuick } from "./quick.ts";
import { createSchema, type Schema } from "./schema.ts";

/** Makes the schema of a text; its types are those of `field.string`. */
export function string(attributes: Attributes = {}): Schema {
  checkAttributes("field.string", attributes, ["min", "max", "format", "pattern"]);
  checkCounts("field.string", attributes);
  const { min = 0, max = Infinity, format, pattern } = attributes;
  if (format !== undefined && !Object.hasOwn(formats, format)) {
    throw new TypeError(`field.string: unknown format "${format}" (known: ${Object.keys(formats).join(", ")})`);
  }
  const json = parseString(min, max, format, pattern);
  const writeQuick: WriteQuick = (value, code) => {
    code.require(`typeof ${value}=="string"`);
    if (min > 0) code.require(`${value}.length>=${2 * min - 1}||!${code.constant(isShorter)}(${value},${min})`);
    if (max < Infinity) code.require(`${value}.length<=${max}||!${code.constant(isLonger)}(${value},${max})`);
    if (format) code.require(`${code.constant(formats[format])}(${value})`);
    if (pattern) code.require(`${code.constant(pattern)}.test(${value})`);
    return value;
  };
  const sample = () => (format ? samples[format] : "x".repeat(Math.min(min, 100) || 1));
  return createSchema("field.string", { kind: "string", attributes, json, writeQuick, sample });
}

function parseString(min: number, max: number, format: Format | undefined, pattern: RegExp | undefined): Parse {
  const matches = format && formats[format];
  return (value, failures) => {
    if (typeof value !== "string") return fail(failures, "type", "must be a string");
    let result: unknown = value;
    if (isShorter(value, min)) result = failCount(failures, "min", min, "character");
    if (isLonger(value, max)) result = failCount(failures, "max", max, "character");
    if (matches && !matches(value)) result = fail(failures, "format", `must be a valid ${format}`);
    if (pattern && !pattern.test(value)) result = fail(failures, "format", `must match the pattern ${pattern.source}`);
    return result;
  };
}

// A code point is one or two UTF-16 units, so most texts need no counting.

function isShorter(text: string, min: number): boolean {
  if (text.length < min) return true;
  return text.length < 2 * min - 1 && codePoints(text) < min;
}

function isLonger(text: string, max: number): boolean {
  if (text.length <= max) return false;
  return text.length > 2 * max || codePoints(text) > max;
}

const PAIR = /[\ud800-\udbff][\udc00-\udfff]/;

/** Counts without iterating over the text, which takes an interpreter long. */
function codePoints(text: string): number {
  return PAIR.test(text) ? text.length - text.split(PAIR).length + 1 : text.length;
}
