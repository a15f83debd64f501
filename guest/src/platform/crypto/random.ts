/** Random bytes for keys, salts and blinding. */
import { fillRandom } from "tenon:engine";
import { requireRequest } from "../../node/building.ts";
import type { Bytes } from "./block.ts";

/**
 * Draws random bytes. At the top level it throws, because a key or a seed of the build would be in every instance.
 *
 * @param what the called function, for the error
 */
export function randomBytes(length: number, what: string): Bytes {
  requireRequest(`crypto.subtle.${what}`);
  const bytes = new Uint8Array(length);
  fillRandom(bytes);
  return bytes;
}
