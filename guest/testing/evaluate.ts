/** Evaluates programs in the engine and in Node, whose classes are what ours are compared with. */
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { startEngine } from "./engine.ts";

const root = fileURLToPath(new URL("../src/", import.meta.url));
const engines = {
  lean: new URL("../../crates/engine/engine.wasm", import.meta.url),
  full: new URL("../../crates/engine/engine-full.wasm", import.meta.url),
};

/** Evaluates the body of a function, in one instance for all. */
export interface Evaluator {
  (program: string): unknown;
  /** Takes what was logged since the last call of this. */
  printed(): string;
}

/**
 * Bundles modules with a handler that evaluates the bodies of functions, which it is sent, and answers with their results as JSON. A
 * promise is waited for.
 *
 * @param modules paths in `guest/src`, such as `platform/url/install.ts`; they define globals
 * @param engine the lean one has no functions of the Rust library
 */
export async function evaluator(modules: readonly string[], engine: keyof typeof engines = "full"): Promise<Evaluator> {
  const source = `
    import { utf8Decode, utf8Encode } from "tenon:engine";
    ${modules.map((module) => `import ${JSON.stringify(`./${module}`)};`).join("\n")}
    const answer = (result) => ({ status: 200, headers: [], body: utf8Encode(JSON.stringify(result ?? null)) });
    export const handler = {
      handle: (request) => {
        const result = new Function(utf8Decode(request.body))();
        return result instanceof Promise ? result.then(answer) : answer(result);
      },
    };`;
  const { outputFiles } = await build({
    stdin: { contents: source, resolveDir: root, loader: "js" },
    bundle: true,
    format: "esm",
    target: "esnext",
    external: ["tenon:engine"],
    write: false,
  });
  const started = startEngine(engines[engine], outputFiles[0]?.text ?? "");
  const encoder = new TextEncoder();
  const decoder = new TextDecoder();
  const evaluate = (program: string) => {
    const { status, body } = started.handle({ body: encoder.encode(program) });
    if (status !== 200) throw new Error(started.printed());
    return JSON.parse(decoder.decode(body));
  };
  return Object.assign(evaluate, { printed: () => started.printed() });
}

/** Evaluates the body of a function in Node. */
export function evaluateInNode(program: string): unknown {
  return JSON.parse(JSON.stringify(new Function(program)() ?? null));
}

/** The same, of a function that returns a promise. */
export async function evaluateAsyncInNode(program: string): Promise<unknown> {
  return JSON.parse(JSON.stringify((await new Function(program)()) ?? null));
}
