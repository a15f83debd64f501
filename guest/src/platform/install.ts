/** Defines globals as Web IDL demands (section 3.7): writable, configurable and not enumerable. */
export function defineGlobals(values: Readonly<Record<string, unknown>>): void {
  for (const name in values) {
    Object.defineProperty(globalThis, name, { value: values[name], writable: true, configurable: true });
  }
}
