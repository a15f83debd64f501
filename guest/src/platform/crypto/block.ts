/** Calls of the engine's functions that take a block of arguments (`crates/engine/platform/crypto`). */
import { operationError } from "./errors.ts";

export type Bytes = Uint8Array<ArrayBuffer>;

/** An input, or the length of an output. */
export type Part = Uint8Array | number;

/** The result of a call for data that are not authentic, or for a computation without a result. */
const FAILED = -1;

/** A finished call: its result, and the parts of its block. */
export interface Called {
  /** Not negative. */
  readonly result: number;
  /** Copies a part, or its first bytes. */
  part(index: number, length?: number): Bytes;
}

/**
 * Calls a function with a block of arguments, and hands the outcome on before the block is overwritten with zeros.
 *
 * @returns undefined when a key or another argument is not valid
 * @throws DOMException `OperationError` when the function fails
 */
export function withBlock<Result>(
  parts: readonly Part[],
  call: (block: Uint8Array) => number,
  use: (called: Called) => Result,
): Result | undefined {
  const offsets: number[] = [];
  let size = 0;
  for (const part of parts) {
    offsets.push(size);
    size += lengthOf(part);
  }
  const block = new Uint8Array(size);
  try {
    for (let index = 0; index < parts.length; index++) {
      const part = parts[index] as Part;
      if (typeof part !== "number") block.set(part, offsets[index]);
    }
    const result = call(block);
    if (result === FAILED) throw operationError("the data do not fit the key, or are not authentic");
    if (result < 0) return undefined;
    const part = (index: number, length = lengthOf(parts[index] as Part)) => {
      const start = offsets[index] as number;
      return block.slice(start, start + length);
    };
    return use({ result, part });
  } finally {
    block.fill(0);
  }
}

const lengthOf = (part: Part): number => (typeof part === "number" ? part : part.length);
