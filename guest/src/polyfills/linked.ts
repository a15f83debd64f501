/**
 * The functions and memories of WebAssembly modules that a handler imports. The build links the modules to the engine
 * (`crates/link`), whose dispatcher has the operations below. A module has no JavaScript buffer, because the engine's memory is
 * the only one that JavaScript sees; bytes are copied in and out.
 */

import { bytes, type Engine, engine, values, view } from "./linked-engine.ts";

/** Operations of the dispatcher (`crates/link/src/dispatcher.rs`). */
const [FIND, CALL, READ, WRITE, SIZE, GROW] = [0, 1, 2, 3, 4, 5] as const;

/** Bytes of a value. */
const VALUE = 8;

const PAGE = 65_536;

/** A value's type: `i` and `I` are `i32` and `i64`, `f` and `F` `f32` and `f64`. */
function put(at: number, type: string, value: unknown): void {
  if (type === "I") values.setBigInt64(at, value as bigint, true);
  else if (type === "f") values.setFloat32(at, value as number, true);
  else if (type === "F") values.setFloat64(at, value as number, true);
  else values.setInt32(at, value as number, true);
}

function take(at: number, type: string | undefined): number | bigint | undefined {
  if (type === undefined) return undefined;
  if (type === "I") return values.getBigInt64(at, true);
  if (type === "f") return values.getFloat32(at, true);
  return type === "F" ? values.getFloat64(at, true) : values.getInt32(at, true);
}

/** An exported memory. */
export interface ModuleMemory {
  /** Copies bytes out of the memory. Throws a RangeError beyond its end. */
  read(offset: number, length: number): Uint8Array<ArrayBuffer>;
  /** Copies bytes into the memory. Throws a RangeError beyond its end, and a TypeError for another type. */
  write(offset: number, bytes: Uint8Array): void;
  /** Bytes. */
  readonly size: number;
  /** Makes it larger by pages of 64 KiB, and returns the pages before. Throws a RangeError beyond its maximum. */
  grow(pages: number): number;
}

/** A linked module, by the halves of its id. */
export class LinkedModule {
  readonly #low: number;
  readonly #high: number;
  /** The numbers of its first function and its first memory. */
  #first: readonly [functions: number, memories: number] | undefined;

  constructor(low: number, high: number) {
    this.#low = low;
    this.#high = high;
  }

  #numbers(engine: Engine): readonly [functions: number, memories: number] {
    if (this.#first !== undefined) return this.#first;
    const at = engine.allocate(0, 0, 4, VALUE);
    view(engine, at + VALUE);
    const isFound = engine.ask(FIND, this.#low, this.#high, at, 0);
    const first = [values.getInt32(at, true), values.getInt32(at + 4, true)] as const;
    engine.free(at, VALUE, 4);
    if (isFound !== 1) throw new Error("the component lacks a WebAssembly module that it imports");
    this.#first = first;
    return first;
  }

  /** The function of a place among the module's functions, by the types of its parameters and results. */
  function(place: number, params: string, results: string): (...given: unknown[]) => unknown {
    const size = VALUE * Math.max(params.length, results.length);
    return (...given) => {
      const its = engine();
      const number = this.#numbers(its)[0] + place;
      if (size === 0) {
        its.ask(CALL, number, 0, 0, 0);
        return undefined;
      }
      const at = its.allocate(0, 0, VALUE, size);
      view(its, at + size);
      try {
        for (let index = 0; index < params.length; index++)
          put(at + VALUE * index, params[index] as string, given[index]);
        its.ask(CALL, number, at, 0, 0);
        if (results.length < 2) return take(at, results[0]);
        return Array.from(results, (type, index) => take(at + VALUE * index, type));
      } finally {
        its.free(at, size, VALUE);
      }
    };
  }

  /** The memory of a place among the module's memories. */
  memory(place: number): ModuleMemory {
    const ask = (operation: number, its: Engine, b: number, c: number, d: number): number =>
      its.ask(operation, this.#numbers(its)[1] + place, b, c, d);
    const pages = (its: Engine) => ask(SIZE, its, 0, 0, 0) >>> 0;
    const outside = (its: Engine, offset: number, length: number) =>
      new RangeError(`${length} bytes at ${offset} are not within the memory of ${pages(its) * PAGE} bytes`);
    const copy = (operation: number, its: Engine, offset: number, at: number, length: number): void => {
      if (!isAddress(offset) || ask(operation, its, offset, at, length) !== 1) throw outside(its, offset, length);
    };
    return {
      read(offset, length) {
        const its = engine();
        if (!isAddress(length) || length > pages(its) * PAGE) throw outside(its, offset, length);
        if (length === 0) {
          copy(READ, its, offset, 0, 0);
          return new Uint8Array(0);
        }
        const at = its.allocate(0, 0, 1, length);
        try {
          copy(READ, its, offset, at, length);
          view(its, at + length);
          return bytes.slice(at, at + length) as Uint8Array<ArrayBuffer>;
        } finally {
          its.free(at, length, 1);
        }
      },
      write(offset, from) {
        // A text and another view have a length, too.
        if (tagOf(from) !== "Uint8Array")
          throw new TypeError(`memory.write: the bytes are a Uint8Array, and not ${kindOf(from)}`);
        const its = engine();
        const { length } = from;
        if (length === 0) return copy(WRITE, its, offset, 0, 0);
        const at = its.allocate(0, 0, 1, length);
        try {
          view(its, at + length);
          bytes.set(from, at);
          copy(WRITE, its, offset, at, length);
        } finally {
          its.free(at, length, 1);
        }
      },
      get size() {
        return pages(engine()) * PAGE;
      },
      grow(more) {
        const its = engine();
        const before = isAddress(more) ? ask(GROW, its, more, 0, 0) : -1;
        if (before < 0) throw new RangeError(`the memory of ${pages(its)} pages cannot have ${more} more`);
        return before;
      },
    };
  }
}

const isAddress = (value: number): boolean => Number.isInteger(value) && value >= 0 && value < 2 ** 32;

/** The class of a value of any realm, such as `Uint8Array`: the bytes of a request are of another realm. */
const tagOf = (value: unknown): string => Object.prototype.toString.call(value).slice(8, -1);

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  const kind = typeof value === "object" ? tagOf(value) : typeof value;
  return `${/^[AEIO]/i.test(kind) ? "an" : "a"} ${kind}`;
}
