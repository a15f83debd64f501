/** Iterators over pairs (Web IDL, section 3.7.10). They see changes that are made during the iteration. */

type Kind = "entries" | "keys" | "values";
type Pair = readonly [name: string, value: unknown];

const { defineProperty, getPrototypeOf, setPrototypeOf } = Object;
const iteratorPrototype = getPrototypeOf(getPrototypeOf([][Symbol.iterator]()));

/**
 * Returns a function that makes the iterators of one interface.
 *
 * @param name the interface, such as `FormData`
 */
export function pairIterators<T>(name: string, pairsOf: (from: T) => readonly Pair[]) {
  class PairIterator {
    readonly #from: T;
    readonly #kind: Kind;
    #at = 0;

    constructor(from: T, kind: Kind) {
      this.#from = from;
      this.#kind = kind;
    }

    next(): IteratorResult<unknown> {
      const pair = pairsOf(this.#from)[this.#at];
      if (pair === undefined) return { value: undefined, done: true };
      this.#at++;
      const value = this.#kind === "entries" ? [pair[0], pair[1]] : pair[this.#kind === "keys" ? 0 : 1];
      return { value, done: false };
    }
  }
  const { prototype } = PairIterator;
  setPrototypeOf(prototype, iteratorPrototype);
  Reflect.deleteProperty(prototype, "constructor");
  defineProperty(prototype, "next", { value: prototype.next, writable: true, enumerable: true, configurable: true });
  defineProperty(prototype, Symbol.toStringTag, { value: `${name} Iterator`, configurable: true });
  return (from: T, kind: Kind): IterableIterator<never> => new PairIterator(from, kind) as never;
}
