import { buildingKey } from "@tenon/sdk/abi";

/** Reports whether the module's top level runs for a build. */
export const isBuilding = (): boolean => buildingKey in globalThis;

/**
 * Throws at the top level of a module that is being built, where request features do not exist.
 *
 * @param what name of the feature, for the error
 */
export function requireRequest(what: string): void {
  if (isBuilding()) throw new Error(`${what} works in a handler, not at top level`);
}
