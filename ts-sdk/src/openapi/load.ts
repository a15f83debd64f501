import { dirname, relative } from "node:path";
import { compileFunction } from "node:vm";
import { type BuildFailure, buildSync } from "esbuild";
import { type App, appKey } from "../app/app.ts";
import { OpenApiError } from "./errors.ts";
import { SourceGraph } from "./source-graph.ts";

/** A handler module in one piece, and what it was made of. */
export interface Bundled {
  readonly code: string;
  readonly graph: SourceGraph;
}

/**
 * Bundles a handler module as `tenon build` does, but for Node: it resolves imports by the same rules, from TypeScript.
 *
 * @throws OpenApiError with file, line and column when it can't be
 */
export function bundle(source: string): Bundled {
  try {
    const { outputFiles, metafile } = buildSync({
      entryPoints: [source],
      absWorkingDir: dirname(source),
      bundle: true,
      write: false,
      metafile: true,
      format: "cjs",
      platform: "node",
      mainFields: ["module", "main"],
      conditions: ["tenon", "worker", "import", "default"],
      target: "node20",
      external: ["wasi:*"],
      logLevel: "silent",
    });
    return { code: outputFiles[0]?.text ?? "", graph: new SourceGraph(source, metafile) };
  } catch (error) {
    const [first] = (error as BuildFailure).errors ?? [];
    if (first === undefined) throw error;
    const { location } = first;
    const place = location ? `:${location.line}:${location.column + 1}` : "";
    throw new OpenApiError(`${shown(source)}${place}: ${first.text}`);
  }
}

/**
 * Runs a bundled handler module and gives the app that it exports. It is compiled as a function, not imported: that can
 * be forgotten again, where `tenon dev` loads a module after every change.
 *
 * @throws OpenApiError when its top level throws, or exports no app
 */
export function evaluate(source: string, code: string): App {
  const module: { exports: { default?: App } } = { exports: {} };
  try {
    compileFunction(code, ["module", "exports", "require"], { filename: source })(module, module.exports, absent);
  } catch (error) {
    const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    throw new OpenApiError(`${shown(source)}: the module's top level failed: ${reason}`, { cause: error });
  }
  const app = module.exports.default;
  if (app?.[appKey] === true) return app;
  throw new OpenApiError(
    `${shown(source)}: the default export is not what routes() gives: export default routes({ … })`,
  );
}

function absent(name: string): never {
  throw new TypeError(`"${name}" is not part of a handler: there is no Node in a component`);
}

function shown(source: string): string {
  return relative(process.cwd(), source);
}
