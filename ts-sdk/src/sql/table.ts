import type { TypeSchema } from "../schema/object.ts";
import type { Kind } from "../schema/schema.ts";
import { SqlError } from "./errors.ts";
import { isIdentifier } from "./identifier.ts";

/** What a table's schema says of a column. */
export interface Column {
  readonly kind: Kind;
  /** Whether its field is optional or nullable, and so the column may hold NULL. */
  readonly nullable: boolean;
}

/** A table whose columns are known, from `table(Type)`: it stands where a table's name does. */
export interface Table<out Row extends object> {
  readonly name: string;
  readonly columns: ReadonlyMap<string, Column>;
  /** Never there; carries the row's type. */
  readonly row?: Row;
}

/**
 * The table in which values of a `Type` are stored, field by column: a statement about it has its columns, filter,
 * values and order checked by the compiler. At run time its schema says which columns may be NULL (those of optional
 * and nullable fields), so that a keyset uses the index, and refuses values of another kind in merged filters and cursors.
 *
 * @param schema from `Type(…)`
 * @param name the table's name; by default the type's in snake case and the plural: `User` → `users`,
 *   `OrderLine` → `order_lines`, `Category` → `categories`, `Address` → `addresses`
 * @throws {SqlError} `identifier` when the name is none
 */
export function table<Row extends object>(schema: TypeSchema<Row>, name: string = tableName(schema.name)): Table<Row> {
  if (!isIdentifier(name)) throw new SqlError("identifier", "is no identifier", String(name));
  const columns = new Map<string, Column>();
  for (const [field, { kind, presence, takesNull, nullIsAbsent }] of Object.entries(schema.fields)) {
    columns.set(field, { kind, nullable: takesNull || nullIsAbsent || presence === "optional" });
  }
  return Object.freeze({ name, columns });
}

function tableName(type: string): string {
  const snake = type.replace(/([a-z0-9])(?=[A-Z])|([A-Z])(?=[A-Z][a-z])/g, "$1$2_").toLowerCase();
  if (/(?:ss|x|z|ch|sh)$/.test(snake)) return `${snake}es`;
  if (/[^aeiou]y$/.test(snake)) return `${snake.slice(0, -1)}ies`;
  return snake.endsWith("s") ? snake : `${snake}s`;
}
