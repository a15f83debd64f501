import { SqlError } from "./errors.ts";

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)?$/;

/** Whether `name` is letters, digits and `_`, not starting with a digit, with at most one dot between two such names. */
export function isIdentifier(name: unknown): name is string {
  return typeof name === "string" && IDENTIFIER.test(name);
}

/**
 * The name as it stands in SQL: bare, or in double quotes where a part is one of the words `reserved`.
 *
 * @throws {SqlError} `identifier` when it is none
 */
export function writeIdentifier(name: string, reserved: ReadonlySet<string>): string {
  if (!isIdentifier(name)) throw new SqlError("identifier", "is no identifier", String(name));
  const dot = name.indexOf(".");
  if (dot < 0) return writePart(name, reserved);
  return `${writePart(name.slice(0, dot), reserved)}.${writePart(name.slice(dot + 1), reserved)}`;
}

/** The pattern above leaves no quote inside a part, so there is nothing to double. */
function writePart(part: string, reserved: ReadonlySet<string>): string {
  return reserved.has(part.toLowerCase()) ? `"${part}"` : part;
}

/** Whether `names` is a list of strings, without holes, which the list's own methods would pass over. */
export function isNameList(names: unknown): names is readonly string[] {
  if (!Array.isArray(names)) return false;
  for (let i = 0; i < names.length; i++) if (typeof names[i] !== "string") return false;
  return true;
}
