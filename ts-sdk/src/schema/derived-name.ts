/** `created_at` → `CreatedAt`. Characters that a component's name can't have are dropped. */
export function capitalized(name: string): string {
  const parts = name.split(/[^A-Za-z0-9]+/);
  return parts.map((part) => part.charAt(0).toUpperCase() + part.slice(1)).join("");
}

/**
 * The name of a derived Type: `User`, `Without`, `["id", "name"]` → `UserWithoutIdAndName`. A component's name stands
 * for one shape, so it contains everything that the shape depends on.
 */
export function derivedName(name: string, how: string, fields: readonly string[], more = ""): string {
  return name + how + fields.map(capitalized).join("And") + more;
}
