/** Checks of prefixes. */
import { parsePattern } from "../routing/pattern.ts";

/** @throws TypeError naming the route or the group when its prefix is invalid. */
export function checkPrefix(name: string, prefix: string): void {
  const pattern = atRoute(name, () => parsePattern(prefix));
  if (prefix.endsWith("/") || pattern.placeholders.length > 0) {
    throw new TypeError(
      `routes: "${name}": the prefix ${JSON.stringify(prefix)} must not end in "/" or have placeholders`,
    );
  }
}

/** Names the route in errors of a path. */
export function atRoute<T>(name: string, make: () => T): T {
  try {
    return make();
  } catch (thrown) {
    throw new TypeError(`routes: "${name}": ${(thrown as Error).message}`);
  }
}
