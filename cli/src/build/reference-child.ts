/** The child process of `reference.ts`: one bundle in, one component out. */
import { componentize } from "@bytecodealliance/componentize-js";
import { answerParent } from "./child.ts";
import type { ReferenceRequest, ReferenceResult } from "./reference.ts";

answerParent<ReferenceRequest, ReferenceResult>(async ({ sourcePath, witPath, worldName }) => {
  const { component } = await componentize({ sourcePath, witPath, worldName });
  return { component };
});
