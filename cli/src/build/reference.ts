/** The componentizer of `--reference`: componentize-js, in a child process. */
import { TenonError } from "../errors.ts";
import { witFolder } from "../package.ts";
import { askChild } from "./child.ts";
import type { Componentizer } from "./componentize.ts";
import { explain } from "./explain.ts";

/** The package, and its version; a test compares it with `build/package.json`. */
export const referencePackage = "@bytecodealliance/componentize-js";
export const referenceVersion = "0.23.0";

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
 * @throws TenonError `NO_BUILD` when that is not installed, `BUILD` with the place in the TypeScript when the module's top level throws
 */
export const referenceComponentizer: Componentizer = async (bundle) => {
  requireInstalled();
  const request: ReferenceRequest = { sourcePath: bundle.file, witPath: witFolder, worldName: "streaming-glue" };
  const result = await askChild<ReferenceRequest, ReferenceResult>("reference-child.js", request);
  if ("component" in result) return result.component;
  throw await explain(result.error, bundle);
};

function requireInstalled(): void {
  try {
    import.meta.resolve(referencePackage);
  } catch (error) {
    throw new TenonError(
      "NO_BUILD",
      `--reference needs the package ${referencePackage}, which is not installed`,
      `npm install --save-dev ${referencePackage}@${referenceVersion}`,
      error,
    );
  }
}
