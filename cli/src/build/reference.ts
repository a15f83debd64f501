/** The componentizer of `--reference`: componentize-js, in a child process. */
import { fromNative, native } from "../native.ts";
import { witFolder } from "../package.ts";
import { askChild } from "./child.ts";
import type { Componentizer } from "./componentize.ts";
import { explain } from "./explain.ts";

/** The request to the child process. */
export interface ReferenceRequest {
  readonly sourcePath: string;
  readonly witPath: string;
  readonly worldName: string;
}

/** The answer of the child process. */
export interface ReferenceResult {
  readonly component: Uint8Array;
}

/**
 * Builds with `@bytecodealliance/componentize-js` itself, which compiles the engine for each build: for `tenon build
 * --reference`, and as the reference of tests.
 *
 * @throws TenonError `BUILD` with the place in the TypeScript when the module's top level throws
 */
export const referenceComponentizer: Componentizer = async (bundle) => {
  const request: ReferenceRequest = { sourcePath: bundle.file, witPath: witFolder, worldName: "handler-glue" };
  const result = await askChild<ReferenceRequest, ReferenceResult>("reference-child.js", request);
  if ("component" in result) return fromNative(native().enclose(Buffer.from(result.component)));
  throw await explain(result.error, bundle);
};
