import { readFileSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import type { Metafile } from "esbuild";
import { parseModule, type SourceModule } from "./source-module.ts";

/** The modules that a handler module is made of, each parsed when it is first asked for. */
export class SourceGraph {
  readonly #file: string;
  readonly #inputs: Metafile["inputs"];
  readonly #modules = new Map<string, SourceModule>();

  /** @param metafile of a bundle of `file`, which knows what every import resolves to; made in `file`'s folder */
  constructor(file: string, metafile: Metafile) {
    this.#file = file;
    this.#inputs = Object.fromEntries(
      Object.entries(metafile.inputs).map(([path, input]) => [this.#absolute(path), input]),
    );
  }

  get entry(): SourceModule {
    return this.#parse(this.#file);
  }

  /** The module that an import leads to; undefined for one that is not part of the bundle. */
  resolve(from: string, specifier: string): SourceModule | undefined {
    const found = this.#inputs[from]?.imports.find(({ original, external }) => original === specifier && !external);
    return found && this.#parse(this.#absolute(found.path));
  }

  #parse(file: string): SourceModule {
    const module = this.#modules.get(file) ?? parseModule(file, readFileSync(file, "utf8"));
    this.#modules.set(file, module);
    return module;
  }

  #absolute(path: string): string {
    return isAbsolute(path) ? path : join(dirname(this.#file), path);
  }
}
