/**
 * Reports whether a value is a `Uint8Array` of any realm. The bytes of a request inside a component are of another
 * realm than the handler, and so are all bytes that Node makes in Jest's tests.
 */
export function isBytes(value: unknown): value is Uint8Array {
  return Object.prototype.toString.call(value) === "[object Uint8Array]";
}

/** Joins pieces; `length` is the sum of their lengths. A single piece is returned as it is. */
export function joinBytes<B extends Uint8Array>(pieces: readonly B[], length: number): B | Uint8Array<ArrayBuffer> {
  if (pieces.length === 1) return pieces[0] as B;
  const whole = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
