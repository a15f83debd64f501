/**
 * Saves the built-in objects that an answer uses before a test, and restores them after it. Tests replace
 * `Array.prototype[Symbol.iterator]`, `Promise`, `JSON` and others, which the code around the test needs as well. This
 * module uses only values from the time when it was loaded.
 */
const { ownKeys, getPrototypeOf, getOwnPropertyDescriptor, defineProperty, deleteProperty, apply } = Reflect;
const { is } = Object;
const isRecorded = Set.prototype.has;

const prototypeOf = (value) => getPrototypeOf(value);
const iteratorPrototype = prototypeOf(prototypeOf([][Symbol.iterator]()));
const roots = [
  Object,
  Function,
  Array,
  ArrayBuffer,
  prototypeOf(Uint8Array),
  Uint8Array,
  Uint32Array,
  String,
  Number,
  Boolean,
  Symbol,
  Map,
  Set,
  WeakMap,
  Promise,
  RegExp,
  Error,
  TypeError,
  Date,
  URL,
  TextEncoder,
  TextDecoder,
  // As texts, because the build adds other classes to a program that names these, and the engine's are compared.
  ...["Headers", "Request", "Response", "ReadableStream"].flatMap((name) => globalThis[name] ?? []),
].flatMap((root) => [root, root.prototype]);
const kept = [
  ...roots,
  JSON,
  Math,
  Reflect,
  iteratorPrototype,
  ...[[][Symbol.iterator](), new Map().entries(), new Set().values(), ""[Symbol.iterator](), "".matchAll(/a/g)].map(
    prototypeOf,
  ),
  prototypeOf(function* () {}),
  prototypeOf(async () => {}),
  prototypeOf(async function* () {}),
].map((object) => {
  const keys = ownKeys(object);
  return { object, keys, known: new Set(keys), descriptors: keys.map((key) => plain(object, key)) };
});
const globals = ownKeys(globalThis).map((key) => ({ key, descriptor: plain(globalThis, key) }));

/**
 * Returns a descriptor without a prototype, because tests give `Object.prototype` properties such as `get` and
 * `writable`.
 */
function plain(object, key) {
  const descriptor = getOwnPropertyDescriptor(object, key);
  return descriptor && Object.setPrototypeOf(descriptor, null);
}

/** Restores the objects, as far as the test has left that possible. */
export function restoreRealm() {
  for (let index = 0; index < globals.length; index++)
    putBack(globalThis, globals[index].key, globals[index].descriptor);
  for (let index = 0; index < kept.length; index++) {
    const { object, keys, known, descriptors } = kept[index];
    const now = ownKeys(object);
    for (let each = 0; each < now.length; each++) {
      if (!apply(isRecorded, known, [now[each]])) deleteProperty(object, now[each]);
    }
    for (let each = 0; each < keys.length; each++) putBack(object, keys[each], descriptors[each]);
  }
}

function putBack(object, key, descriptor) {
  const now = getOwnPropertyDescriptor(object, key);
  const isSame =
    now !== undefined &&
    is(now.value, descriptor.value) &&
    now.get === descriptor.get &&
    now.set === descriptor.set &&
    now.writable === descriptor.writable;
  if (!isSame) defineProperty(object, key, descriptor);
}
