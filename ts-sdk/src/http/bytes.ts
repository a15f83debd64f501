/**
 * Tells whether a value is a `Uint8Array` of any realm. Inside the component, the bytes of a request are of another realm than
 * the handler, and so is all that Node makes in Jest's tests.
 */
export function isBytes(value: unknown): value is Uint8Array {
  return Object.prototype.toString.call(value) === "[object Uint8Array]";
}
