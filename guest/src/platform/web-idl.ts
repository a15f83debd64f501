/** Conversions of Web IDL that several interfaces need (section 3.2). */

/** Refuses a call with too few arguments. */
export function required(name: string, given: readonly unknown[], count: number): void {
  if (given.length >= count) return;
  throw new TypeError(`${name}: ${count} argument${count === 1 ? "" : "s"} required, but ${given.length} present`);
}

export type Dictionary = Readonly<Record<string, unknown>>;

/** Converts an optional dictionary. Its members are read by the caller, in the order of their names. */
export function dictionary(name: string, given: unknown): Dictionary {
  if (given === undefined || given === null) return {};
  if (typeof given !== "object" && typeof given !== "function") throw new TypeError(`${name} must be an object`);
  return given as Dictionary;
}

/** Converts a sequence. */
export function sequence<Value>(name: string, given: unknown, convert: (value: unknown) => Value): Value[] {
  if ((typeof given !== "object" && typeof given !== "function") || given === null) {
    throw new TypeError(`${name} must be iterable`);
  }
  const values: Value[] = [];
  for (const value of given as Iterable<unknown>) values.push(convert(value));
  return values;
}
