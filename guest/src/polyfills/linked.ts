/**
 * The functions and memories of WebAssembly modules that a handler imports. The build links the modules to the engine
 * (`crates/link`), whose dispatcher has the operations below. A module has no JavaScript buffer, because the engine's memory is
 * the only one that JavaScript sees; bytes are copied in and out.
 */

import { buildingKey } from "@tenon/sdk/abi";
import { call, find, grow, pages, read, write } from "./linked-engine.ts";

const PAGE = 65_536;

/** Throws at top level, because the module's memory would not be in the component. */
export function refuseTopLevel(): void {
  if ((globalThis as { [key: symbol]: unknown })[buildingKey] !== undefined)
    throw new Error("a WebAssembly module works in a handler, not at top level");
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

  #numbers(): readonly [functions: number, memories: number] {
    refuseTopLevel();
    this.#first ??= find(this.#low, this.#high);
    if (this.#first === undefined) throw new Error("the component lacks a WebAssembly module that it imports");
    return this.#first;
  }

  /**
   * The function of a place among the module's functions, by the types of its parameters and results: `i` and `I` are `i32` and
   * `i64`, `f` and `F` `f32` and `f64`.
   */
  function(place: number, params: string, results: string): (...given: unknown[]) => unknown {
    return (...given) => call(this.#numbers()[0] + place, params, results, given);
  }

  /** The memory of a place among the module's memories. */
  memory(place: number): ModuleMemory {
    const number = () => this.#numbers()[1] + place;
    const outside = (memory: number, offset: number, length: number) =>
      new RangeError(`${length} bytes at ${offset} are not within the memory of ${pages(memory) * PAGE} bytes`);
    return {
      read(offset, length) {
        const memory = number();
        if (!isAddress(length) || length > pages(memory) * PAGE) throw outside(memory, offset, length);
        const bytes = new Uint8Array(length);
        if (!isAddress(offset) || !read(memory, offset, bytes)) throw outside(memory, offset, length);
        return bytes;
      },
      write(offset, bytes) {
        // A text and another view have a length, too.
        if (tagOf(bytes) !== "Uint8Array")
          throw new TypeError(`memory.write: the bytes must be a Uint8Array, not ${kindOf(bytes)}`);
        const memory = number();
        if (!isAddress(offset) || !write(memory, offset, bytes)) throw outside(memory, offset, bytes.length);
      },
      get size() {
        return pages(number()) * PAGE;
      },
      grow(more) {
        const memory = number();
        const before = isAddress(more) ? grow(memory, more) : -1;
        if (before < 0) throw new RangeError(`the memory of ${pages(memory)} pages cannot have ${more} more`);
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
