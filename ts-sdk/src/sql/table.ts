import type { TypeSchema } from "../schema/object.ts";
import type { Kind } from "../schema/schema.ts";
import { SqlError } from "./errors.ts";
import { isIdentifier } from "./identifier.ts";

/** The properties of a column in a table's schema. */
export interface TableColumn {
  readonly kind: Kind;
  /** True when its field is optional or nullable, so that the column may have NULL. */
  readonly nullable: boolean;
}

/** A table with known columns, from `table(Type)`: it can be used instead of a table's name. */
export interface Table<out Row extends object> {
  readonly name: string;
  readonly columns: ReadonlyMap<string, TableColumn>;
  /** Never set: it carries the row's type. */
  readonly row?: Row;
}

/**
 * The table that stores values of a `Type`, with a column for each field: the compiler checks a statement's columns,
 * filter, values and order. At run time its schema shows which columns may be NULL (those of optional and nullable
 * fields), so that a keyset uses the index. Merged filters and cursors refuse values of another kind.
 *
 * @param schema from `Type(…)`
 * @param name the table's name; by default the type's in snake case and plural: `User` → `users`, `OrderLine` →
 *   `order_lines`, `Category` → `categories`, `Address` → `addresses`
 * @throws {SqlError} `identifier` when the name is invalid
 */
export function table<Row extends object>(schema: TypeSchema<Row>, name: string = tableName(schema.name)): Table<Row> {
  if (!isIdentifier(name)) throw new SqlError("identifier", "is not an identifier", String(name));
  const columns = new Map<string, TableColumn>();
  for (const [field, { kind, presence, takesNull }] of Object.entries(schema.fields)) {
    columns.set(field, { kind, nullable: takesNull || presence === "optional" });
  }
  return Object.freeze({ name, columns });
}

function tableName(type: string): string {
  const snake = type.replace(/([a-z0-9])(?=[A-Z])|([A-Z])(?=[A-Z][a-z])/g, "$1$2_").toLowerCase();
  if (/(?:ss|x|z|ch|sh)$/.test(snake)) return `${snake}es`;
  if (/[^aeiou]y$/.test(snake)) return `${snake.slice(0, -1)}ies`;
  return snake.endsWith("s") ? snake : `${snake}s`;
}
