/** Defines globals as Web IDL demands (section 3.7): writable, configurable and not enumerable. */
import { shapeClass } from "@tenon/sdk/web-idl";

type Class = Parameters<typeof shapeClass>[1];

/** Defines globals. */
export function defineGlobals(values: Readonly<Record<string, unknown>>): void {
  for (const name in values) {
    Object.defineProperty(globalThis, name, { value: values[name], writable: true, configurable: true });
  }
}

/** Gives classes the shape of interfaces, and defines them as globals. */
export function installInterfaces(classes: Readonly<Record<string, Class>>): void {
  for (const name in classes) shapeClass(name, classes[name] as Class);
  defineGlobals(classes);
}
