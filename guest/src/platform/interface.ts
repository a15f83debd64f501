/** Gives classes the shape that Web IDL demands (section 3.7), and defines them as globals. */

import { shapeClass } from "@tenon/sdk/web-idl";

/** A class whose members are to be enumerable. */
type Class = Parameters<typeof shapeClass>[1];

const { defineProperty } = Object;

export { shapeClass as defineInterface };

/** Defines globals: writable, configurable and not enumerable. */
export function defineGlobals(values: Readonly<Record<string, unknown>>): void {
  for (const name in values) {
    defineProperty(globalThis, name, { value: values[name], writable: true, configurable: true });
  }
}

/** {@link shapeClass} for several classes, which become globals. */
export function installInterfaces(classes: Readonly<Record<string, Class>>): void {
  for (const name in classes) shapeClass(name, classes[name] as Class);
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
