/** The imports of packages, from the user's sources to where an error is. */
import { relative } from "node:path";
import type { OnResolveArgs } from "esbuild";
import { packageNameOf } from "./packages.ts";

/** Notes who imports packages while a bundle is made. */
export class Importers {
  /** For each package, the files that import it. */
  readonly #files = new Map<string, Set<string>>();

  note({ path, importer }: OnResolveArgs): void {
    const [name] = /^(?:@[^/]+\/)?[^/]+/.exec(path) ?? [];
    if (name === undefined || importer === "") return;
    const files = this.#files.get(name) ?? new Set();
    this.#files.set(name, files.add(importer));
  }

  /**
   * Says how a package's file is reached: `src/db.ts imports drizzle-orm, which imports pg`; undefined for a file of the user's own.
   */
  chainTo(file: string): string | undefined {
    const last = packageNameOf(file);
    if (last === undefined) return undefined;
    // The shortest way, found backwards.
    const next = new Map<string, string | undefined>([[last, undefined]]);
    for (const name of next.keys()) {
      for (const importer of this.#files.get(name) ?? []) {
        const owner = packageNameOf(importer);
        if (owner === undefined) return said(relative(process.cwd(), importer), name, next);
        if (!next.has(owner)) next.set(owner, name);
      }
    }
    return undefined;
  }
}

function said(source: string, first: string, next: ReadonlyMap<string, string | undefined>): string {
  const names: string[] = [];
  for (let name: string | undefined = first; name !== undefined; name = next.get(name)) names.push(name);
  return `${source} imports ${names.join(", which imports ")}`;
}
