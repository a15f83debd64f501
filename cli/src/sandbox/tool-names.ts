/** Names of tools of other packages, which are not identifiers in general: `get-weather` is `get_weather` for a script. */

/** The words that `@cloudflare/codemode` refuses, whose declarations for the model have such names with `_` after them. */
const words = new Set(
  (
    "abstract arguments await boolean break byte case catch char class const continue debugger default delete do double else enum eval " +
    "export extends false final finally float for function goto if implements import in instanceof int interface let long native new " +
    "null package private protected public return short static super switch synchronized this throw throws transient true try typeof " +
    "undefined var void volatile while with yield"
  ).split(" "),
);

/** Makes an identifier of a name, as `@cloudflare/codemode` does. */
export function identifier(name: string): string {
  const letters = name.replace(/[-.\s]/g, "_").replace(/[^\w$]/g, "");
  if (letters === "") return "_";
  if (/^\d/.test(letters)) return `_${letters}`;
  return words.has(letters) ? `${letters}_` : letters;
}

/**
 * Gives each value an identifier in place of its name.
 *
 * @throws TypeError when two names have the same identifier
 */
export function byIdentifier<Value>(values: Readonly<Record<string, Value>>): [name: string, value: Value][] {
  const names = new Map<string, string>();
  return Object.entries(values).map(([name, value]) => {
    const safe = identifier(name);
    const other = names.get(safe);
    if (other !== undefined)
      throw new TypeError(`the tools "${other}" and "${name}" have the same identifier, ${safe}`);
    names.set(safe, name);
    return [safe, value];
  });
}
