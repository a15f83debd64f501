import type { OrderTerm } from "./ast.ts";
import { SqlError } from "./errors.ts";
import { isNameList } from "./identifier.ts";

/**
 * Reads `order`: a column or a list of them, `-` in front for descending. The names are checked when they are printed.
 *
 * @throws {SqlError} `option` when it is neither, or `key` is not a string
 */
export function readOrder(order: unknown, key?: unknown): OrderTerm[] {
  if (order === undefined && key === undefined) return [];
  const names: unknown = order === undefined ? [] : typeof order === "string" ? [order] : order;
  if (!isNameList(names)) {
    throw new SqlError("option", "must be a column or a list of columns", "order");
  }
  const terms: OrderTerm[] = [];
  for (let i = 0; i < names.length; i++) terms.push(readTerm(names[i] as string));
  if (key === undefined) return terms;
  if (typeof key !== "string") throw new SqlError("option", "must be a column", "key");
  // The key takes the last term's direction, which keeps a uniform order uniform, and so its row-value form.
  if (!terms.some(({ column }) => column === key)) {
    terms.push({ column: key, descending: terms[terms.length - 1]?.descending ?? false });
  }
  return terms;
}

function readTerm(name: string): OrderTerm {
  return name.startsWith("-") ? { column: name.slice(1), descending: true } : { column: name, descending: false };
}

/** The exact reverse of an order: NULLs change ends too, in both databases. */
export function reversed(order: readonly OrderTerm[]): OrderTerm[] {
  return order.map(({ column, descending }) => ({ column, descending: !descending }));
}
