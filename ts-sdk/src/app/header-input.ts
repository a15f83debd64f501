/** Reads headers into the values of a schema. */
import type { Headers } from "../http/headers.ts";
import type { Fields, ObjectSchema } from "../schema/object.ts";
import { isSchema } from "../schema/schema.ts";
import type { StandardSchema } from "../schema/standard.ts";

/** Reads the values of a schema from a request's headers: a text for each name, or a list of them. */
type ReadHeaders = (headers: Headers) => Record<string, string | string[]>;

/**
 * Composes an operation's header reader, once. A repeated header is one text, joined by `", "`; for a list it is split
 * at commas (RFC 9110, section 5.6.1). Another library's schema gets every header as a text.
 *
 * @throws TypeError for a name that is not in lower case
 */
export function headerReader(schema: StandardSchema, route: string): ReadHeaders {
  if (!isSchema(schema)) {
    return (headers) => {
      const values = Object.create(null);
      for (const [name] of headers) values[name] ??= headers.get(name);
      return values;
    };
  }
  const { fields } = schema as unknown as { readonly fields: Fields } & ObjectSchema;
  const names = Object.keys(fields);
  const upper = names.find((name) => name !== name.toLowerCase());
  if (upper !== undefined) throw new TypeError(`routes: "${route}": the header "${upper}" must be in lower case`);
  return (headers) => {
    const values = Object.create(null);
    for (let i = 0; i < names.length; i++) {
      const name = names[i] as string;
      const value = headers.get(name);
      if (value !== undefined) values[name] = fields[name]?.kind === "list" ? split(value) : value;
    }
    return values;
  };
}

function split(value: string): string[] {
  const items = value.split(",").map((item) => item.trim());
  return items.filter((item) => item !== "");
}
