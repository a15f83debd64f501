/** `linked-engine.ts` for StarlingMonkey, which reaches the dispatcher and its memory through the glue of `cli/src/build/glue.ts`. */

interface Glue {
  readonly memory: { readonly buffer: ArrayBuffer };
  readonly allocate: (old: number, was: number, align: number, size: number) => number;
  readonly free: (at: number, size: number, align: number) => void;
  readonly ask: (operation: number, a: number, b: number, c: number, d: number) => number;
}

const key = Symbol.for("tenon.modules");
const glue = () => (globalThis as { [key: symbol]: unknown })[key] as Glue;

/** Operations of the dispatcher (`crates/link/src/dispatcher.rs`). */
const [FIND, CALL, READ, WRITE, SIZE, GROW] = [0, 1, 2, 3, 4, 5] as const;

/** Bytes of a value. */
const VALUE = 8;

export const origin = 0;
export let bytes = new Uint8Array(0);
export let values = new DataView(bytes.buffer);

export function view(end: number): void {
  if (end <= bytes.length) return;
  const { memory } = glue();
  bytes = new Uint8Array(memory.buffer);
  values = new DataView(memory.buffer);
}

/** Runs with a block of the engine's memory. */
function within<T>(size: number, align: number, run: (at: number) => T): T {
  if (size === 0) return run(0);
  const at = glue().allocate(0, 0, align, size);
  try {
    view(at + size);
    return run(at);
  } finally {
    glue().free(at, size, align);
  }
}

export function find(low: number, high: number): readonly [functions: number, memories: number] | undefined {
  return within(VALUE, 4, (at) => {
    if (glue().ask(FIND, low, high, at, 0) !== 1) return undefined;
    return [values.getInt32(at, true), values.getInt32(at + 4, true)];
  });
}

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

export function call(number: number, params: string, results: string, given: readonly unknown[]): unknown {
  return within(VALUE * Math.max(params.length, results.length), VALUE, (at) => {
    for (let index = 0; index < params.length; index++) put(at + VALUE * index, params[index] as string, given[index]);
    glue().ask(CALL, number, at, 0, 0);
    if (results.length < 2) return take(at, results[0]);
    return Array.from(results, (type, index) => take(at + VALUE * index, type));
  });
}

export function read(memory: number, offset: number, into: Uint8Array): boolean {
  const { length } = into;
  return within(length, 1, (at) => {
    const isWithin = glue().ask(READ, memory, offset, at, length) === 1;
    if (isWithin) into.set(bytes.subarray(at, at + length));
    return isWithin;
  });
}

export function write(memory: number, offset: number, from: Uint8Array): boolean {
  return within(from.length, 1, (at) => {
    bytes.set(from, at);
    return glue().ask(WRITE, memory, offset, at, from.length) === 1;
  });
}

export const pages = (memory: number): number => glue().ask(SIZE, memory, 0, 0, 0) >>> 0;
export const grow = (memory: number, more: number): number => glue().ask(GROW, memory, more, 0, 0);

/** Allocations of the call that runs, which are freed after it. */
let allocated: (readonly [at: number, size: number, align: number])[] = [];

export function allocate(size: number, align: number): number {
  const at = glue().allocate(0, 0, align, size);
  allocated.push([at, size, align]);
  return at;
}

export function scope<T>(run: () => T): T {
  const outer = allocated;
  allocated = [];
  try {
    return run();
  } finally {
    for (const [at, size, align] of allocated) glue().free(at, size, align);
    allocated = outer;
  }
}

export const release = (at: number, size: number, align: number): void => glue().free(at, size, align);
