/** Names a value's type for an error: `a string`, `an Array`, `a Uint16Array`, `null`. */
export function typeName(value: unknown): string {
  if (value == null) return `${value}`;
  const name = typeof value === "object" ? {}.toString.call(value).slice(8, -1) : typeof value;
  return (/^[AEIO]/.test(name) ? "an " : "a ") + name;
}
