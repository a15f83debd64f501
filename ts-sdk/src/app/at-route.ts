/** Names the route in errors of a path. */
export function atRoute<T>(name: string, make: () => T): T {
  try {
    return make();
  } catch (thrown) {
    throw new TypeError(`routes: "${name}": ${(thrown as Error).message}`);
  }
}
