/** Checks of prefixes. */
import { parsePattern } from "../routing/pattern.ts";
import { atRoute } from "./at-route.ts";

/**
 * @param declared whether the placeholders of the prefix are declared
 * @throws TypeError naming the route or the group when its prefix is invalid.
 */
export function checkPrefix(name: string, prefix: string, declared = false): void {
  const { placeholders } = atRoute(name, () => parsePattern(prefix));
  if (prefix.endsWith("/") || prefix.endsWith("*}") || (placeholders.length > 0 && !declared)) {
    throw new TypeError(
      `routes: "${name}": the prefix ${JSON.stringify(prefix)} must not end in "/" or "*}", or have placeholders without a group's "path"`,
    );
  }
}
