/** `created_at` → `CreatedAt`. A character that a component's name can't have is left out. */
export function capitalized(name: string): string {
  const parts = name.split(/[^A-Za-z0-9]+/);
  return parts.map((part) => part.charAt(0).toUpperCase() + part.slice(1)).join("");
}

/**
 * The name of a Type that was made of another: `User`, `Without`, `["id", "name"]` → `UserWithoutIdAndName`. Names of
 * components stand for one shape each, so everything that the shape depends on is in it.
 */
export function derivedName(name: string, how: string, fields: readonly string[], more = ""): string {
  return name + how + fields.map(capitalized).join("And") + more;
}
