/** A plugin that bundles the program inside the isolate of code mode, which is evaluated by itself, into a text. */
import { join } from "node:path";
import { build, type Plugin } from "esbuild";
import { isolateFolder } from "./guest-folders.ts";

const name = "tenon-isolate:program";
const namespace = "tenon-isolate-program";

let made: Promise<string> | undefined;

/** Returns the text: an expression whose value is the default export of `program.ts`. */
export function isolateText(file = join(isolateFolder, "program.js")): Promise<string> {
  made ??= bundle(file);
  return made;
}

async function bundle(file: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [file],
    bundle: true,
    write: false,
    minify: true,
    format: "cjs",
    platform: "neutral",
    target: "es2023",
    mainFields: ["module", "main"],
    legalComments: "none",
    logLevel: "silent",
  });
  const [output] = outputFiles;
  return `(evaluate) => { const module = { exports: {} }; ${output?.text}\nreturn module.exports.default(evaluate); }`;
}

/** Loads the text as a module. */
export const isolateProgram: Plugin = {
  name: "isolate-program",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: new RegExp(`^${name}$`) }, () => ({ path: name, namespace, sideEffects: false }));
    onLoad({ filter: /./, namespace }, async () => ({
      contents: `export default ${JSON.stringify(await isolateText())};`,
    }));
  },
};
