/**
 * Refuses what only a request has where there is none: at the top level of a module that is being built.
 *
 * @param what the name of what was used, for the error
 */
export function requireRequest(what: string): void {
  if (Symbol.for("tenon.building") in globalThis) throw new Error(`${what} works in a handler, not at top level`);
}
