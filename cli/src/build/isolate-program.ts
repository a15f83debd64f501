/** A plugin that bundles the program inside the isolate of code mode, which is evaluated by itself, into a text. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";
import { isolateFolder } from "./guest-folders.ts";

const name = "tenon-isolate:program";
const namespace = "tenon-isolate-program";

type Text = typeof import("@tenon/guest/isolate/program-text");

let made: Promise<string> | undefined;

async function bundle(): Promise<string> {
  const { programOptions, programText }: Text = await import(
    pathToFileURL(join(isolateFolder, "program-text.js")).href
  );
  const { outputFiles } = await build({ ...programOptions, entryPoints: [join(isolateFolder, "program.js")] });
  return programText(outputFiles);
}

/** Loads the text as a module. */
export const isolateProgram: Plugin = {
  name: "isolate-program",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: new RegExp(`^${name}$`) }, () => ({ path: name, namespace, sideEffects: false }));
    onLoad({ filter: /./, namespace }, async () => {
      made ??= bundle();
      return { contents: `export default ${JSON.stringify(await made)};` };
    });
  },
};
