import { type Attributes, checkAttributes, checkCounts, type StringAttributes } from "./attributes.ts";
import { type FailureCode, type Failures, fail, INVALID, type Parse } from "./failures.ts";
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
  // From here on a text has enough code points, however its UTF-16 units pair up.
  const surelyEnough = 2 * min;
  return (value, failures) => {
    if (typeof value !== "string") return fail(failures, "type", "must be a string");
    const { length } = value;
    if (length >= surelyEnough && length <= max && matches === undefined) return value;
    let valid = true;
    if (isShorter(value, min)) valid = report(failures, "min", `must have at least ${unit(min)}`);
    if (isLonger(value, max)) valid = report(failures, "max", `must have at most ${unit(max)}`);
    if (matches && !matches(value)) valid = report(failures, "format", `must be a valid ${format}`);
    return valid ? value : INVALID;
  };
}

function report(failures: Failures, code: FailureCode, detail: string): false {
  fail(failures, code, detail);
  return false;
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
