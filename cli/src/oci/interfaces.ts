import { refuseCoreModule } from "../core-module.ts";
import { TenonError } from "../errors.ts";
import { fromNative, native } from "../native.ts";

/** The imported and exported interfaces of a component, such as `wasi:http/incoming-handler@0.2.10`. */
export interface Interfaces {
  readonly imports: readonly string[];
  readonly exports: readonly string[];
}

/**
 * Reads a component's own world.
 *
 * @throws TenonError `NOT_A_COMPONENT`
 */
export async function interfacesOf(component: Buffer, file: string): Promise<Interfaces> {
  refuseCoreModule(component, file);
  try {
    return await fromNative(native().interfacesOf(component));
  } catch (error) {
    throw new TenonError(
      "NOT_A_COMPONENT",
      `${file} is not a WebAssembly component`,
      "build it with `tenon build`, or name another file",
      error,
    );
  }
}
