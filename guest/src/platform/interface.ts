/** Gives classes the shape that Web IDL demands (section 3.7), and defines them as globals. */

/** A class whose members are to be enumerable. */
type Class = abstract new (...given: never[]) => object;

const { defineProperty, getOwnPropertyDescriptor, getOwnPropertyNames } = Object;

function showMembers(target: object, skipped: readonly string[]): void {
  for (const key of getOwnPropertyNames(target)) {
    const found = getOwnPropertyDescriptor(target, key);
    if (found?.configurable && !skipped.includes(key)) defineProperty(target, key, { ...found, enumerable: true });
  }
}

/** The prototypes of platform classes, whose objects are not plain data. */
export const platformPrototypes = new WeakSet<object>();

/** Makes the members of a class enumerable, and sets its name and `Symbol.toStringTag`. A bundler may have changed the name. */
export function defineInterface(name: string, of: Class): void {
  platformPrototypes.add(of.prototype);
  showMembers(of.prototype, ["constructor"]);
  showMembers(of, ["length", "name", "prototype"]);
  defineProperty(of, "name", { value: name, configurable: true });
  defineProperty(of.prototype, Symbol.toStringTag, { value: name, configurable: true });
}

/** Defines globals: writable, configurable and not enumerable. */
export function defineGlobals(values: Readonly<Record<string, unknown>>): void {
  for (const name in values) {
    defineProperty(globalThis, name, { value: values[name], writable: true, configurable: true });
  }
}

/** {@link defineInterface} for several classes, which become globals. */
export function installInterfaces(classes: Readonly<Record<string, Class>>): void {
  for (const name in classes) defineInterface(name, classes[name] as Class);
  defineGlobals(classes);
}

/** Defines functions that scripts can list, such as those of the global (Web IDL, section 3.7.7). */
export function defineMethods(target: object, methods: Readonly<Record<string, unknown>>): void {
  for (const name in methods) {
    defineProperty(target, name, { value: methods[name], writable: true, enumerable: true, configurable: true });
  }
}

/** Defines the constants of an interface, on the class and on its prototype (Web IDL, section 3.7.5). */
export function defineConstants(of: Class, constants: Readonly<Record<string, number>>): void {
  for (const name in constants) {
    const constant = { value: constants[name], enumerable: true };
    defineProperty(of, name, constant);
    defineProperty(of.prototype, name, constant);
  }
}
