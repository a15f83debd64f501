/** Imports of WebAssembly: reads each module, and writes the JavaScript module that a handler gets instead. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { relative, resolve, sep } from "node:path";
import type { LinkedModule, ModuleExports, ModuleFunction } from "@tenon/native";
import type { Metafile, OnLoadResult, Plugin } from "esbuild";
import { systemReason, TenonError } from "../errors.ts";
import { fromNative, native } from "../native.ts";
import { type ComponentExport, exportsOf } from "./component-types.ts";
import type { HostName } from "./entry.ts";
import { isOfGuest } from "./guest-folders.ts";
import { writeDeclaration } from "./module-declarations.ts";
import { packageNameOf } from "./packages.ts";

/** The imported WebAssembly modules of a bundle. */
export class LinkedModules {
  readonly #folder: string;
  readonly #host: HostName;
  readonly #warn: (text: string) => void;
  readonly #modules = new Map<string, LinkedModule>();
  readonly #exports = new Map<string, ModuleExports>();

  /** @param folder the project's */
  constructor(folder: string, host: HostName, warn: (text: string) => void) {
    this.#folder = folder;
    this.#host = host;
    this.#warn = warn;
  }

  /** Loads a file as a JavaScript module with the exports of a WebAssembly module. */
  get plugin(): Plugin {
    return {
      name: "linked-modules",
      setup: ({ onLoad }) => {
        onLoad({ filter: /\.wasm$/ }, ({ path }) => this.#load(path));
      },
    };
  }

  async #load(path: string): Promise<OnLoadResult> {
    const shown = relative(process.cwd(), path);
    if (this.#host === "reference")
      return {
        errors: [{ text: `componentize-js cannot link WebAssembly, such as ${shown}: build without --reference` }],
      };
    try {
      const bytes = await readFile(path);
      const exports = await fromNative(native().exportsOfModule(bytes));
      const id = idOf(this.#name(path), bytes);
      this.#modules.set(path, { id, name: shown, bytes });
      this.#exports.set(path, exports);
      const isOwn = packageNameOf(path) === undefined && !isOfGuest(path);
      if (isOwn) await writeDeclaration(path, exports).catch((error) => this.#lacks(path, error));
      return { contents: javaScriptFor(id, exports), loader: "js", resolveDir: this.#folder };
    } catch (error) {
      const isRefused = error instanceof TenonError && error.code === "BUILD";
      const text = isRefused ? `${shown} ${error.message}` : `cannot read ${shown}: ${systemReason(error)}`;
      return { errors: [{ text }] };
    }
  }

  /** Explains esbuild's message about an export that a module lacks. */
  remarksOn(text: string): readonly string[] {
    const [, file, name] = /^No matching export in "(.+)" for import "(.+)"$/.exec(text) ?? [];
    const exports = file === undefined ? undefined : this.#exports.get(resolve(this.#folder, file));
    if (exports === undefined) return [];
    const other = exports.others.find((each) => each.name === name);
    if (other !== undefined)
      return [`it has "${name}", but ${other.reason}: a handler gets a module's functions of numbers and its memories`];
    const typed = exportsOf(exports.typed ?? []);
    const named = [...exports.functions, ...typed].map((each) => each.name);
    const names = [...named, ...exports.memories].slice(0, 20);
    return [names.length === 0 ? "it exports nothing that a handler can use" : `it exports ${names.join(", ")}`];
  }

  /** Sources may be read-only, and the component does not depend on declarations. */
  #lacks(path: string, error: unknown): void {
    const file = relative(process.cwd(), `${path}.d.ts`);
    this.#warn(`cannot write the declaration ${file}: ${systemReason(error)}`);
  }

  /** A file's name that is the same on each machine. */
  #name(path: string): string {
    return relative(this.#folder, path).split(sep).join("/");
  }

  /** The modules whose JavaScript is in a bundle. */
  in({ outputs }: Metafile): LinkedModule[] {
    const inputs = Object.values(outputs).flatMap((output) => Object.entries(output.inputs));
    const used = inputs.filter(([, { bytesInOutput }]) => bytesInOutput > 0);
    const paths = new Set(used.map(([input]) => resolve(this.#folder, input)));
    return [...this.#modules].filter(([path]) => paths.has(path)).map(([, module]) => module);
  }
}

/** Two files are two modules, even with the same content: each has a memory of its own. */
function idOf(name: string, bytes: Uint8Array): string {
  return createHash("sha256").update(`${name}\0`).update(bytes).digest("hex").slice(0, 16);
}

const letters: Readonly<Record<string, string>> = { i32: "i", i64: "I", f32: "f", f64: "F" };

const lettersOf = (types: readonly string[]) => JSON.stringify(types.map((type) => letters[type]).join(""));

/**
 * Writes the module; `guest/src/polyfills/linked.ts` and `linked-component.ts` are what it calls. Exports that nobody imports cost
 * nothing.
 */
function javaScriptFor(id: string, { functions, memories, typed }: ModuleExports): string {
  const made = [
    ...functions.map((each, index) => ({ name: each.name, value: functionFor(each, index) })),
    ...memories.map((name, index) => ({ name, value: `/* @__PURE__ */ module.memory(${index})` })),
    ...(typed === undefined ? [] : exportsOf(typed).map(componentExport)),
  ];
  const lines = made.flatMap(({ name, value }, index) => [
    `const export${index} = ${value};`,
    `export { export${index} as ${JSON.stringify(name)} };`,
  ]);
  const [type, file] = typed === undefined ? ["LinkedModule", "linked"] : ["LinkedComponent", "linked-component"];
  return `import { ${type} } from "tenon-polyfills:${file}.js";
const module = /* @__PURE__ */ new ${type}(0x${id.slice(8)}, 0x${id.slice(0, 8)});
${lines.join("\n")}
`;
}

function functionFor({ params, results }: ModuleFunction, index: number): string {
  return `/* @__PURE__ */ module.function(${index}, ${lettersOf(params)}, ${lettersOf(results)})`;
}

function componentExport({ name, functions, isInterface }: ComponentExport): { name: string; value: string } {
  const made = functions.map(({ name, place, params, result }) => {
    const types = params.map(([, type]) => type);
    return [
      name,
      `/* @__PURE__ */ module.typed(${place}, ${JSON.stringify(types)}, ${JSON.stringify(result)})`,
    ] as const;
  });
  if (!isInterface) return { name, value: made[0]?.[1] ?? "undefined" };
  const members = made.map(([member, value]) => `${JSON.stringify(member)}: ${value}`);
  return { name, value: `{ ${members.join(", ")} }` };
}
