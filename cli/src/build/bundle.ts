import { mkdir } from "node:fs/promises";
import { builtinModules } from "node:module";
import { dirname, join, relative } from "node:path";
import { build, type Message, type Plugin } from "esbuild";
import { TenonError } from "../errors.ts";
import type { Project } from "../project/project.ts";
import { entryModule } from "./entry.ts";
import { codeFrame } from "./place.ts";

/** A handler and all it imports as one ES module, on disk with its source map beside it. */
export interface Bundle {
  readonly file: string;
  readonly sourceMap: string;
  /** Bytes of JavaScript. */
  readonly size: number;
}

/** The entry's name in errors; it is generated, so an error in it is about what the handler module exports. */
const entryNamespace = "tenon-entry";

/**
 * Bundles the project's handler.
 *
 * @throws TenonError `BUILD` with file, line, column and the line itself, for each error
 */
export async function bundle(project: Project, options: { readonly minify: boolean }): Promise<Bundle> {
  const file = join(project.scratch, "build", `${project.config.project.name}.js`);
  await mkdir(dirname(file), { recursive: true });
  try {
    const result = await build({
      absWorkingDir: project.folder,
      stdin: {
        contents: entryModule(project.source),
        resolveDir: project.folder,
        sourcefile: entryNamespace,
        loader: "js",
      },
      outfile: file,
      bundle: true,
      format: "esm",
      platform: "neutral",
      target: "es2023",
      mainFields: ["module", "main"],
      conditions: ["tenon", "worker", "import", "default"],
      external: ["wasi:*"],
      plugins: [explainNode],
      sourcemap: "linked",
      sourcesContent: true,
      minify: options.minify,
      legalComments: "none",
      metafile: true,
      logLevel: "silent",
    });
    const output = Object.values(result.metafile.outputs).find((each) => each.entryPoint !== undefined);
    return { file, sourceMap: `${file}.map`, size: output?.bytes ?? 0 };
  } catch (error) {
    if (error !== null && typeof error === "object" && "errors" in error)
      throw failure(project, error.errors as Message[]);
    throw error;
  }
}

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

function failure(project: Project, errors: readonly Message[]): TenonError {
  const shown = errors.map(({ text, location, notes }) => {
    const source = relative(process.cwd(), project.source);
    if (location === null || location.file === entryNamespace || location.file.startsWith("<")) {
      return text.includes('"default"') || text.includes("default")
        ? `${source}: it has no default export; export what routes() gives: export default routes({ … })`
        : `${source}: ${text}`;
    }
    const file = relative(process.cwd(), join(project.folder, location.file));
    const place = `${file}:${location.line}:${location.column + 1}: ${text}`;
    const remarks = notes.map((note) => `  ${note.text}\n`).join("");
    return `${place}\n${codeFrame(location.lineText, location.line, location.column + 1, location.length)}\n${remarks}`.trimEnd();
  });
  return new TenonError("BUILD", shown.join("\n"));
}
