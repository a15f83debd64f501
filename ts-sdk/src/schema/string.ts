import { type Attributes, checkAttributes, checkCounts, type StringAttributes } from "./attributes.ts";
import { fail, INVALID, type Parse } from "./failures.ts";
import { type Format, formats } from "./formats.ts";
import { createSchema, type WithDefault } from "./schema.ts";

/**
 * A text. `min` and `max` are lengths in Unicode code points, `format` is one of `email`, `uuid`, `date`, `date-time`,
 * `uri`, `ipv4`, `ipv6`.
 */
export function string<Default extends string | undefined = undefined>(
  attributes: StringAttributes<Default> = {},
): WithDefault<string, Default> {
  const given = attributes as Attributes;
  checkAttributes("field.string", given, ["min", "max", "format"]);
  checkCounts("field.string", given);
  const { format } = given;
  if (format !== undefined && !Object.hasOwn(formats, format)) {
    throw new TypeError(`field.string: unknown format "${format}" (known: ${Object.keys(formats).join(", ")})`);
  }
  const json = parseString(given.min ?? 0, given.max ?? Number.POSITIVE_INFINITY, format);
  return createSchema("field.string", { kind: "string", attributes: given, json }) as WithDefault<string, Default>;
}

function parseString(min: number, max: number, format: Format | undefined): Parse {
  const unit = (count: number) => (count === 1 ? "1 character" : `${count} characters`);
  const matches = format && formats[format];
  return (value, failures) => {
    if (typeof value !== "string") return fail(failures, "type", "must be a string");
    let result: unknown = value;
    if (isShorter(value, min)) result = fail(failures, "min", `must have at least ${unit(min)}`);
    if (isLonger(value, max)) result = fail(failures, "max", `must have at most ${unit(max)}`);
    if (matches && !matches(value)) result = fail(failures, "format", `must be a valid ${format}`);
    return result === INVALID ? INVALID : value;
  };
}

// A code point is one or two UTF-16 units, so most texts need no counting at all.

function isShorter(text: string, min: number): boolean {
  if (text.length < min) return true;
  return text.length < 2 * min && codePoints(text) < min;
}

function isLonger(text: string, max: number): boolean {
  if (text.length <= max) return false;
  return text.length > 2 * max || codePoints(text) > max;
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}
