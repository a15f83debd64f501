/** Deep equality, as in `assert.deepStrictEqual` and `assert.deepEqual`. */

type Pairs = Map<object, object>;

/**
 * Compares two values.
 *
 * @param strict whether types, prototypes and signs of zero count
 */
export function isDeepEqual(a: unknown, b: unknown, strict: boolean, pairs: Pairs = new Map()): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) {
    if (strict) return false;
    // biome-ignore lint/suspicious/noDoubleEquals: it implements the loose comparison.
    return (typeof a !== "object" && typeof b !== "object" && a == b) || (a === null && b === undefined) || a === b;
  }
  if (strict && Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
  if (tagOf(a) !== tagOf(b)) return false;
  // Cyclic values are equal if their cycles are at the same places.
  const seen = pairs.get(a);
  if (seen !== undefined) return seen === b;
  pairs.set(a, b);
  const equal = haveEqualContent(a, b, strict, pairs) && haveEqualProperties(a, b, strict, pairs);
  pairs.delete(a);
  return equal;
}

export const tagOf = (value: unknown): string => Object.prototype.toString.call(value).slice(8, -1);

function haveEqualContent(a: object, b: object, strict: boolean, pairs: Pairs): boolean {
  if (Array.isArray(a) || Array.isArray(b)) {
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length;
  }
  if (a instanceof Date || b instanceof Date) {
    return a instanceof Date && b instanceof Date && Object.is(a.getTime(), b.getTime());
  }
  if (a instanceof RegExp || b instanceof RegExp) {
    return a instanceof RegExp && b instanceof RegExp && String(a) === String(b) && a.lastIndex === b.lastIndex;
  }
  if (a instanceof Error || b instanceof Error) {
    return a instanceof Error && b instanceof Error && a.name === b.name && a.message === b.message;
  }
  if (a instanceof Map || b instanceof Map) {
    return a instanceof Map && b instanceof Map && haveEqualEntries([...a], [...b], strict, pairs);
  }
  if (a instanceof Set || b instanceof Set) {
    return a instanceof Set && b instanceof Set && haveEqualEntries(entriesOf(a), entriesOf(b), strict, pairs);
  }
  if (a instanceof ArrayBuffer && b instanceof ArrayBuffer) {
    return isDeepEqual(new Uint8Array(a), new Uint8Array(b), strict, pairs);
  }
  if (ArrayBuffer.isView(a) && ArrayBuffer.isView(b)) return a.byteLength === b.byteLength;
  if (isBoxed(a) || isBoxed(b)) return isBoxed(a) && isBoxed(b) && Object.is(a.valueOf(), b.valueOf());
  if (a instanceof Promise || a instanceof WeakMap || a instanceof WeakSet) return false;
  return true;
}

const entriesOf = (set: Set<unknown>) => [...set].map((each) => [each, undefined] as const);

const isBoxed = (value: object) =>
  value instanceof Number ||
  value instanceof String ||
  value instanceof Boolean ||
  value instanceof BigInt ||
  value instanceof Symbol;

/** Returns whether entries are equal in any order: each one matches a different one of the other side. */
function haveEqualEntries(
  a: readonly (readonly [unknown, unknown])[],
  b: readonly (readonly [unknown, unknown])[],
  strict: boolean,
  pairs: Pairs,
): boolean {
  if (a.length !== b.length) return false;
  const left = [...b];
  return a.every(([key, value]) => {
    const equals = ([otherKey, otherValue]: readonly [unknown, unknown]) =>
      isDeepEqual(key, otherKey, strict, pairs) && isDeepEqual(value, otherValue, strict, pairs);
    const same = left.findIndex((entry) => Object.is(entry[0], key) && equals(entry));
    const at = same >= 0 ? same : left.findIndex(equals);
    if (at < 0) return false;
    left.splice(at, 1);
    return true;
  });
}

function haveEqualProperties(a: object, b: object, strict: boolean, pairs: Pairs): boolean {
  const keys = keysOf(a, strict);
  if (keys.length !== keysOf(b, strict).length) return false;
  return keys.every(
    (key) =>
      Object.prototype.propertyIsEnumerable.call(b, key) &&
      isDeepEqual(a[key as never], b[key as never], strict, pairs),
  );
}

function keysOf(value: object, strict: boolean): (string | symbol)[] {
  if (!strict) return Object.keys(value);
  const symbols = Object.getOwnPropertySymbols(value);
  return [...Object.keys(value), ...symbols.filter((each) => Object.prototype.propertyIsEnumerable.call(value, each))];
}
