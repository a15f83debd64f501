/** `parseFilter`: a user's filter from JSON. */
import { FilterError } from "./errors.ts";
import { type FilterGuard, readFilter } from "./filter.ts";
import type { Filter } from "./filter-types.ts";
import { isIdentifier } from "./identifier.ts";
import { scanJson } from "./json-scan.ts";
import { MAX_FILTER_NESTING, MAX_FILTER_TEXT, MAX_PARSED_LIST } from "./limits.ts";

/** `merge` checks the allowed fields and operators; this checks only that names are valid. */
const anyField: FilterGuard = {
  logical() {},
  condition(field) {
    if (!isIdentifier(field)) throw new FilterError("field", "is not an identifier", field);
  },
};

/**
 * Parses a filter from JSON text, as a user sends it. The result goes to `merge`, which checks it against `allow`.
 *
 * The text may have 262,144 UTF-16 units, 128 open brackets at any place, and lists of 10,000 elements; a repeated key
 * is refused. The time is linear in the text.
 *
 * @throws {FilterError} for any text that is not a filter; the message never repeats a value
 */
export function parseFilter(text: string): Filter {
  if (typeof text !== "string") throw new FilterError("json", "a filter's text is not a string");
  if (text.length > MAX_FILTER_TEXT) throw new FilterError("size", `more than ${MAX_FILTER_TEXT} characters`);
  const filter = parseJson(text);
  readFilter(filter, anyField, undefined);
  return filter as Filter;
}

function parseJson(text: string): unknown {
  switch (scanJson(text, { nesting: MAX_FILTER_NESTING, list: MAX_PARSED_LIST })) {
    case "nesting":
      throw new FilterError("size", `more than ${MAX_FILTER_NESTING} open brackets`);
    case "list":
      throw new FilterError("list", `a list of more than ${MAX_PARSED_LIST} elements`);
    case "duplicate":
      throw new FilterError("json", "a key is repeated");
  }
  try {
    return JSON.parse(text);
  } catch {
    // The engine's message quotes the text, so it is dropped.
    throw new FilterError("json", "the text is not JSON");
  }
}
