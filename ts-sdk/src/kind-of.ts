/** Names the kind of a value, for the error about a default export. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value === "function") return String(value).startsWith("class") ? "a class" : "a function";
  if (typeof value !== "object") return `a ${typeof value}`;
  const [kind] = /\w+(?=]$)/.exec(Object.prototype.toString.call(value)) ?? [];
  if (kind !== "Object") return `${/^[AEIO]/.test(String(kind)) ? "an" : "a"} ${kind}`;
  const keys = Object.keys(value).slice(0, 5).join(", ");
  return keys === "" ? "an object without properties" : `an object with ${keys}`;
}
