import { mkdir } from "node:fs/promises";
import { builtinModules } from "node:module";
import { dirname, join, relative } from "node:path";
import { build, type Message, type Metafile, type Plugin } from "esbuild";
import type { Project } from "../project/project.ts";
import { bundleError } from "./bundle-error.ts";
import { entryModule, entryName, fetchEntryModule, prologue } from "./entry.ts";
import { stripDocs } from "./strip-docs.ts";

/** A handler and all it imports as one ES module, on disk with its source map beside it. */
export interface Bundle {
  readonly file: string;
  /** The handler module; absolute. */
  readonly source: string;
  readonly sourceMap: string;
  /** Bytes of JavaScript. */
  readonly size: number;
  /** The files that went into it, outside `node_modules`; absolute. */
  readonly inputs: readonly string[];
}

/** How to bundle. */
export interface BundleOptions {
  readonly minify: boolean;
  /** See `entryModule`. */
  readonly checkResponses: boolean;
}

/**
 * Bundles the project's handler.
 *
 * @throws TenonError `BUILD` with file, line, column and the line itself, for each error
 */
export async function bundle(project: Project, options: BundleOptions): Promise<Bundle> {
  const file = join(project.scratch, "build", `${project.config.project.name}.js`);
  await mkdir(dirname(file), { recursive: true });
  try {
    // Relative, so that neither the bundle nor its source map says which folder the project is in.
    const handler = `./${relative(project.folder, project.source)}`;
    let result = await bundled(project, file, entryModule(handler, options.checkResponses), options.minify);
    if (!hasRoutes(result.metafile)) result = await bundled(project, file, fetchEntryModule(handler), options.minify);
    const output = Object.values(result.metafile.outputs).find((each) => each.entryPoint !== undefined);
    const inputs = Object.keys(result.metafile.inputs)
      .filter((input) => input !== entryName && !input.includes("node_modules/"))
      .map((input) => join(project.folder, input));
    return { file, source: project.source, sourceMap: `${file}.map`, size: output?.bytes ?? 0, inputs };
  } catch (error) {
    if (error !== null && typeof error === "object" && "errors" in error)
      throw bundleError(project, error.errors as Message[]);
    throw error;
  }
}

function bundled(project: Project, file: string, contents: string, minify: boolean) {
  return build({
    absWorkingDir: project.folder,
    stdin: { contents, resolveDir: project.folder, sourcefile: entryName, loader: "js" },
    banner: { js: prologue },
    outfile: file,
    bundle: true,
    format: "esm",
    platform: "neutral",
    target: "es2023",
    mainFields: ["module", "main"],
    conditions: ["tenon", "worker", "import", "default"],
    external: ["wasi:*"],
    plugins: [explainNode, stripDocs],
    sourcemap: "linked",
    sourcesContent: true,
    minify,
    legalComments: "none",
    metafile: true,
    logLevel: "silent",
  });
}

/** Tells whether a bundle calls `routes` of the SDK. A bundle without it can only be an app that speaks `fetch`. */
function hasRoutes({ outputs }: Metafile): boolean {
  const inputs = Object.values(outputs).flatMap((output) => Object.entries(output.inputs));
  return inputs.some(([input, { bytesInOutput }]) => bytesInOutput > 0 && routesModule.test(input));
}

/** The module of `@tenon/sdk` that defines `routes`, in a folder that may have another name where it is linked. */
const routesModule = /\/dist\/app\/routes\.js$/;

/** Says of Node's own modules what esbuild cannot know: that there is no Node inside a component. */
const explainNode: Plugin = {
  name: "explain-node",
  setup({ onResolve }) {
    const names = new Set(builtinModules);
    onResolve({ filter: /^[a-z]/ }, ({ path }) => {
      if (!path.startsWith("node:") && !names.has(path)) return undefined;
      const detail =
        "handlers run in a WebAssembly component, where there is no Node; files and databases are reached through sidecars";
      return { errors: [{ text: `"${path}" is a module of Node`, notes: [{ text: detail }] }] };
    });
  },
};
