/** Warns of members that an answer has and its declaration lacks, in development and in tests. */
import { NOT_SENT } from "../abi.ts";
import { platform } from "../platform.ts";
import type { Operation } from "../routing/operation.ts";
import type { StandardSchema } from "../schema/standard.ts";
import { type Shape, shapeOf } from "./shape.ts";

const told = new Set<string>();

/** Writes a warning that names each member that is not sent, once for a route. */
export function warnOfUndeclared({ name }: Operation, schema: StandardSchema, value: unknown): void {
  const found = new Set<string>();
  collect(shapeOf(schema), value, "#", found);
  for (const at of found) {
    const text = `warning: ${name}: the response does not declare ${at}, ${NOT_SENT}`;
    if (told.has(text)) continue;
    told.add(text);
    platform.console.error(text);
  }
}

/** Adds the places of undeclared members; an index or a key of a record is `*`. */
function collect(
  { kind, fields = {}, open, items, tag = "", variants }: Shape,
  value: unknown,
  at: string,
  found: Set<string>,
): void {
  if (typeof value !== "object" || value === null) return;
  switch (kind) {
    case "list":
    case "record":
      for (const item of Object.values(value)) collect(items as Shape, item, `${at}/*`, found);
      break;
    case "union": {
      const variant = variants?.[(value as Record<string, string>)[tag] as string];
      if (variant !== undefined) collect(variant, value, at, found);
      break;
    }
    case "object":
      for (const [key, member] of Object.entries(open ? {} : value)) {
        const field = Object.hasOwn(fields, key) ? fields[key] : undefined;
        if (field === undefined) found.add(`${at}/${key}`);
        else collect(field, member, `${at}/${key}`, found);
      }
  }
}
