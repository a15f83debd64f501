/** Calls of the core modules in `crates/bridge/crypto`, whose documentation describes the blocks of arguments. */
import { operationError } from "./errors.ts";

export type Bytes = Uint8Array<ArrayBuffer>;

/** The memory of an imported core module. */
export interface CoreMemory {
  /** In bytes. */
  readonly size: number;
  read(offset: number, length: number): Bytes;
  write(offset: number, bytes: Uint8Array): void;
}

/** The exports that every module has. */
export interface CoreModule {
  readonly memory: CoreMemory;
  allocate(size: number): number;
  release(block: number, size: number): void;
}

/** An input, or the length of an output. */
export type Part = Uint8Array | number;

/** The result of a call for data that are not authentic, or for a computation without a result. */
const FAILED = -1;

/** A finished call: its result, and the parts of its block. */
export interface Called {
  /** Not negative. */
  readonly result: number;
  /** Returns a part, or its first bytes. */
  part(index: number, length?: number): Bytes;
}

/**
 * Calls a function with a block of arguments, and hands the outcome on before the block is overwritten and freed.
 *
 * @returns undefined when a key or another argument is not valid
 * @throws DOMException `OperationError` when the function fails
 */
export function withBlock<Module extends CoreModule, Result>(
  module: Module,
  parts: readonly Part[],
  call: (block: number, module: Module) => number,
  use: (called: Called) => Result,
): Result | undefined {
  const offsets = [0];
  for (const part of parts) offsets.push((offsets.at(-1) as number) + lengthOf(part));
  const size = offsets.at(-1) as number;
  const block = module.allocate(size) >>> 0;
  if (block === 0) throw operationError("there is no memory for it");
  try {
    parts.forEach((part, index) => {
      if (typeof part !== "number" && part.length > 0) module.memory.write(block + (offsets[index] as number), part);
    });
    const result = call(block, module);
    if (result === FAILED) throw operationError("the data do not fit the key, or are not authentic");
    if (result < 0) return undefined;
    const part = (index: number, length = lengthOf(parts[index] as Part)) =>
      module.memory.read(block + (offsets[index] as number), length);
    return use({ result, part });
  } finally {
    module.release(block, size);
  }
}

const lengthOf = (part: Part): number => (typeof part === "number" ? part : part.length);
