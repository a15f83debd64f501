/**
 * Platform objects that `structuredClone` and `postMessage` handle (HTML Standard, section 2.7). A class registers itself by its prototype,
 * so that a bundle without the class has nothing of it. All other platform objects are refused.
 */

/** Makes the copy of a serializable object. `clone` copies the values in it. */
export type CloneSteps = (value: object, clone: (value: unknown) => unknown) => object;

export interface TransferSteps {
  readonly isDetached: (value: object) => boolean;
  /** Detaches an object, and returns the one that continues it. */
  readonly transfer: (value: object) => object;
}

export const cloneSteps = new Map<object, CloneSteps>();
export const transferSteps = new Map<object, TransferSteps>();

/** Makes objects with a prototype serializable. */
export function addSerializable(prototype: object, steps: CloneSteps): void {
  cloneSteps.set(prototype, steps);
}

/** Makes objects with a prototype transferable. */
export function addTransferable(prototype: object, steps: TransferSteps): void {
  transferSteps.set(prototype, steps);
}
