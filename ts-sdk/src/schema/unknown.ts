/**
 * Throws when `given` has a key that is not in `known`. It is for users of plain JavaScript: the type checker reports
 * it sooner, with the key that was probably meant.
 */
export function refuseUnknown(what: string, given: object, known: readonly string[], extension?: RegExp): void {
  for (const key of Object.keys(given)) {
    if (!known.includes(key) && !extension?.test(key)) {
      throw new TypeError(`${what}: unknown "${key}" (known: ${known.join(", ")})`);
    }
  }
}
