/** The engine's memory and its dispatcher of linked modules, for `linked.ts` and `linked-component.ts`. */

/** The engine's part, which `glue.ts` in `cli/src/build` sets. */
export interface Engine {
  readonly memory: { readonly buffer: ArrayBuffer };
  readonly allocate: (old: number, was: number, align: number, size: number) => number;
  readonly free: (at: number, size: number, align: number) => void;
  readonly ask: (operation: number, a: number, b: number, c: number, d: number) => number;
}

const engineKey = Symbol.for("tenon.modules");
const buildingKey = Symbol.for("tenon.building");

/** Views of the engine's memory, as far as {@link view} was asked for. */
export let bytes = new Uint8Array(0);
export let values = new DataView(bytes.buffer);

/** Makes views of the engine's memory up to an address. Old views stay valid when it grows, because it does not move. */
export function view({ memory }: Engine, end: number): void {
  if (end <= bytes.length) return;
  bytes = new Uint8Array(memory.buffer);
  values = new DataView(memory.buffer);
}

/** Returns the engine; throws at top level, because the module's memory would not be in the component. */
export function engine(): Engine {
  const { [engineKey]: found, [buildingKey]: building } = globalThis as { [key: symbol]: unknown };
  if (building !== undefined) throw new Error("a WebAssembly module works in a handler, not at top level");
  return found as Engine;
}
