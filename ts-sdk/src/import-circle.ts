/** Modules that import each other, for the errors of builds and of documents. */

/** The part of esbuild's metafile that is read. */
interface Inputs {
  readonly inputs: Readonly<
    Record<string, { readonly imports: readonly { readonly path: string; readonly kind: string }[] }>
  >;
}

/** The imports of modules, by their files. */
export type Imports = ReadonlyMap<string, readonly string[]>;

/** The imports of the project's own modules in a bundle. */
export function importsOf({ inputs }: Inputs): Imports {
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

/**
 * The circle of imports that leaves a value undefined, as the end of the error about it; empty when the reason is another one.
 *
 * @param reason the SDK's error about an argument
 */
export function circleOf(reason: string, file: string, imports: Imports): string {
  if (!/ is undefined$/.test(reason)) return "";
  const circle = circleThrough(file, imports);
  if (circle === undefined) return "";
  if (circle.length === 1) return `; ${circle[0]} imports itself`;
  return `; ${circle.slice(0, -1).join(", ")} and ${circle.at(-1)} import each other`;
}
