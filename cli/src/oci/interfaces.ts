import { TenonError } from "../errors.ts";

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
export async function interfacesOf(component: Uint8Array, file: string): Promise<Interfaces> {
  const { componentWit } = await import("@bytecodealliance/jco");
  let wit: string;
  try {
    wit = await componentWit(component);
  } catch (error) {
    throw new TenonError(
      "NOT_A_COMPONENT",
      `${file} is not a WebAssembly component`,
      "build it with `tenon build`, or name another file",
      error,
    );
  }
  const [, world = ""] = /^world root \{\n(.*?)^\}/ms.exec(wit) ?? [];
  const names = (keyword: string) =>
    [...world.matchAll(new RegExp(`^  ${keyword} ([a-z0-9:/@.+-]+)[;:]`, "gm"))].map(([, name = ""]) => name);
  return { imports: names("import"), exports: names("export") };
}
