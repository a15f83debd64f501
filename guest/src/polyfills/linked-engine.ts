/** The engine's part of linked modules, for `linked.ts` and `linked-component.ts`. */
import { linkedMemory } from "tenon:engine";

export {
  linkedAllocate as allocate,
  linkedCall as call,
  linkedFind as find,
  linkedGrow as grow,
  linkedPages as pages,
  linkedRead as read,
  linkedScope as scope,
  linkedWrite as write,
} from "tenon:engine";

/** The address of the first byte of {@link bytes}. */
export const origin = 8;

/** Views of the engine's memory, as far as {@link view} was asked for. */
export let bytes = new Uint8Array(0);
export let values = new DataView(bytes.buffer);

/** Makes views of the engine's memory up to an address. Old views stay valid when it grows, because it does not move. */
export function view(end: number): void {
  if (end <= origin + bytes.length) return;
  bytes = linkedMemory();
  values = new DataView(bytes.buffer);
}
