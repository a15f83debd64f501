/** Modules that import each other. */
import type { Metafile } from "esbuild";

/** The imports of modules, by their files. */
export type Imports = ReadonlyMap<string, readonly string[]>;

/** The imports of the project's own modules in a bundle. */
export function importsOf({ inputs }: Metafile): Imports {
  const isOwn = (file: string) => file in inputs && !file.includes("node_modules/");
  const entries = Object.entries(inputs).filter(([file]) => isOwn(file));
  return new Map(
    entries.map(([file, { imports }]) => [
      file,
      imports
        .filter(({ kind }) => kind === "import-statement")
        .map(({ path }) => path)
        .filter(isOwn),
    ]),
  );
}

/** The shortest circle of imports through a module, which is its first member; undefined when there is none. */
export function circleThrough(file: string, imports: Imports): readonly string[] | undefined {
  const before = new Map<string, string>();
  const queue = [file];
  for (const at of queue) {
    for (const next of imports.get(at) ?? []) {
      if (next === file) {
        const circle = [at];
        for (let step = before.get(at); step !== undefined; step = before.get(step)) circle.unshift(step);
        return circle;
      }
      if (before.has(next)) continue;
      before.set(next, at);
      queue.push(next);
    }
  }
  return undefined;
}
