/** The child process of `componentize.ts`: one bundle in, one component or error out. */
import { componentize } from "@bytecodealliance/componentize-js";
import type { ComponentizeRequest, ComponentizeResult } from "./componentize.ts";

process.once("message", async (request: ComponentizeRequest) => {
  const result = await attempt(request);
  process.send?.(result, () => process.disconnect());
});

async function attempt({ sourcePath, witPath, worldName }: ComponentizeRequest): Promise<ComponentizeResult> {
  try {
    const { component } = await componentize({ sourcePath, witPath, worldName });
    return { component };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}
