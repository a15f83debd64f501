import { readFileSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import type { Metafile } from "esbuild";
import { type Imports, importsOf } from "../import-circle.ts";
import { parseModule, type SourceModule } from "./source-module.ts";

/** Files of code. A bundle has others too, such as JSON and text. */
const SCRIPT = /\.[cm]?[jt]sx?$/;

/** The modules of a handler module's bundle, each parsed on demand. */
export class SourceGraph {
  readonly #file: string;
  readonly #inputs: Metafile["inputs"];
  readonly #modules = new Map<string, SourceModule>();

  /** @param metafile of a bundle of `file`, with the resolution of every import; made in `file`'s folder */
  constructor(file: string, metafile: Metafile) {
    this.#file = file;
    this.#inputs = Object.fromEntries(
      Object.entries(metafile.inputs).map(([path, input]) => {
        const imports = input.imports.map((each) =>
          each.external ? each : { ...each, path: this.#absolute(each.path) },
        );
        return [this.#absolute(path), { ...input, imports }];
      }),
    );
  }

  /** The imports of the modules outside of packages, by absolute paths. */
  get imports(): Imports {
    return importsOf({ inputs: this.#inputs });
  }

  get entry(): SourceModule {
    return this.#parse(this.#file);
  }

  /** The module that an import resolves to; undefined for data, and for one that is not part of the bundle. */
  resolve(from: string, specifier: string): SourceModule | undefined {
    const found = this.#inputs[from]?.imports.find(({ original, external }) => original === specifier && !external);
    return found && SCRIPT.test(found.path) ? this.#parse(found.path) : undefined;
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
