/** Random bytes for keys, salts and blinding. */
import { requireRequest } from "../../node/building.ts";
import type { Bytes } from "./core-module.ts";

/**
 * Draws random bytes. At the top level it throws, because a key or a seed of the build would be in every instance.
 *
 * @param what the called function, for the error
 */
export function randomBytes(length: number, what: string): Bytes {
  requireRequest(`crypto.subtle.${what}`);
  return crypto.getRandomValues(new Uint8Array(length));
}
