/** Core modules of WebAssembly, where a component is wanted. */
import { closeSync, openSync, readSync } from "node:fs";
import { TenonError } from "./errors.ts";

/** The magic and the version of a core module; a component has another version (component model, `Binary.md`). */
const head = Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);

/**
 * Refuses a core module.
 *
 * @param bytes its first eight bytes, or more
 * @throws TenonError `NOT_A_COMPONENT`
 */
export function refuseCoreModule(bytes: Uint8Array, file: string): void {
  if (!head.equals(bytes.subarray(0, head.length))) return;
  throw new TenonError(
    "NOT_A_COMPONENT",
    `${file} is a core module of WebAssembly, not a component`,
    "make a component of it with `wasm-tools component new`, or import it into a handler that `tenon build` builds",
  );
}

/**
 * The same for a file. One that cannot be read is reported when it is loaded.
 *
 * @param shown its name in the error
 */
export function refuseCoreFile(file: string, shown: string = file): void {
  let descriptor: number;
  try {
    descriptor = openSync(file, "r");
  } catch {
    return;
  }
  try {
    const bytes = Buffer.alloc(head.length);
    readSync(descriptor, bytes, 0, bytes.length, 0);
    refuseCoreModule(bytes, shown);
  } finally {
    closeSync(descriptor);
  }
}
