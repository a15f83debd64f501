/**
 * Makes random functions throw while a build calls handlers of `warm` routes, because all instances would share the values that a
 * handler keeps. Returns a function that ends this. It names `crypto` as a text, because a bundle that names the global contains it.
 */
export function refuseRandomness(): () => void {
  const { defineProperty, deleteProperty, get, getOwnPropertyDescriptor } = Reflect;
  const crypto = get(globalThis, "crypto") as { readonly subtle: object } | undefined;
  const random: [object, string][] = [[Math, "random"]];
  if (crypto !== undefined) {
    random.push([crypto, "getRandomValues"], [crypto, "randomUUID"], [crypto.subtle, "generateKey"]);
  }
  const ends = random.map(([owner, name]) => {
    const before = getOwnPropertyDescriptor(owner, name);
    const value = () => {
      throw new Error(`${name}: a build warms this route up, and all requests would have the same random values`);
    };
    defineProperty(owner, name, { configurable: true, writable: true, value });
    return () => (before === undefined ? deleteProperty(owner, name) : defineProperty(owner, name, before));
  });
  return () => {
    for (const end of ends) end();
  };
}
