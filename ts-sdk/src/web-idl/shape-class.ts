/** The shape that Web IDL demands of classes (section 3.7). */
const { defineProperty, getOwnPropertyDescriptor, getOwnPropertyNames } = Object;

/** The prototypes of platform classes, whose objects are not plain data: `structuredClone` refuses them. */
export const platformPrototypes: WeakSet<object> = new WeakSet();

/** Makes the members of a class enumerable, and sets its name and `Symbol.toStringTag`. A bundler may have changed the name. */
export function shapeClass(name: string, of: abstract new (...given: never[]) => object): void {
  platformPrototypes.add(of.prototype);
  show(of.prototype, ["constructor"]);
  show(of, ["length", "name", "prototype"]);
  defineProperty(of, "name", { value: name, configurable: true });
  defineProperty(of.prototype, Symbol.toStringTag, { value: name, configurable: true });
}

function show(target: object, skipped: readonly string[]): void {
  for (const key of getOwnPropertyNames(target)) {
    const found = getOwnPropertyDescriptor(target, key);
    if (found?.configurable && !skipped.includes(key)) defineProperty(target, key, { ...found, enumerable: true });
  }
}
