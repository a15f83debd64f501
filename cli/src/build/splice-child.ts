/** The child process of `engine.ts`: splices imports and exports into componentize-js' engine for a world. */
import { readFile } from "node:fs/promises";
import { preview1AdapterReactorPath } from "@bytecodealliance/jco";
import { fromNative, native } from "../native.ts";
import { answerParent } from "./child.ts";
import type { Spliced, SpliceRequest } from "./engine.ts";

/** The part of the splicer that is used; it is not among the exports of its package. */
interface Splicer {
  spliceBindings(
    engine: Uint8Array,
    features: readonly string[],
    witWorld: undefined,
    witPath: string,
    worldName: string,
    debug: boolean,
  ): {
    readonly wasm: Uint8Array;
    readonly jsBindings: string;
    readonly exports: readonly (readonly [string, CoreFunction])[];
    readonly imports: readonly (readonly [specifier: string, name: string, argumentCount: number])[];
  };
  stubWasi(
    engine: Uint8Array,
    features: readonly string[],
    witWorld: undefined,
    witPath: string,
    worldName: string,
  ): Uint8Array;
}

/** The signature of an export, in the engine's form. */
interface CoreFunction {
  readonly params: readonly string[];
  readonly paramptr: boolean;
  readonly ret?: string;
  readonly retptr: boolean;
  readonly retsize: number;
}

/** The features that componentize-js enables by default. */
const features = ["stdio", "random", "clocks", "http", "fetch-event"];

const library = new URL("../lib/", import.meta.resolve("@bytecodealliance/componentize-js"));

answerParent<SpliceRequest, Spliced>(async ({ engine: file, witPath, worldName }) => {
  const { splicer } = (await import(new URL("spidermonkey-embedding-splicer.js", library).href)) as {
    splicer: Splicer;
  };
  const engine = await readFile(file);
  const hollow = await fromNative(native().hollowEngine(engine));
  const spliced = splicer.spliceBindings(hollow, features, undefined, witPath, worldName, false);
  return {
    spliced: spliced.wasm,
    stubbed: splicer.stubWasi(spliced.wasm, features, undefined, witPath, worldName),
    adapter: await readFile(preview1AdapterReactorPath()),
    bindings: spliced.jsBindings,
    environment: [
      "DEBUG=",
      "SOURCE_NAME=handler.js",
      "FEATURE_CLOCKS=1",
      `EXPORT_CNT=${spliced.exports.length}`,
      ...spliced.exports.flatMap(([name, { paramptr, params, retptr, ret = "", retsize }], index) => [
        `EXPORT${index}_NAME=${name}`,
        `EXPORT${index}_ARGS=${paramptr ? "*" : ""}${params.join(",")}`,
        `EXPORT${index}_RET=${retptr ? "*" : ""}${ret}`,
        `EXPORT${index}_RETSIZE=${retsize}`,
      ]),
      `IMPORT_CNT=${spliced.imports.length}`,
      ...spliced.imports.flatMap(([, name, argumentCount], index) => [
        `IMPORT${index}_NAME=${name}`,
        `IMPORT${index}_ARGCNT=${argumentCount}`,
      ]),
    ],
  };
});
