/** The packages of a workspace. */
import { OpenApiError, workspaceFolders } from "@tenon/sdk/openapi";
import { TenonError } from "../errors.ts";

/**
 * The packages of the workspace of npm, pnpm, Yarn or Bun that `folder` is in: the folders with a `package.json` that its
 * root names, the root itself first. Empty outside of any workspace.
 *
 * @throws TenonError `CONFIG` when a `package.json` cannot be read
 */
export function workspaceMembers(folder: string): string[] {
  try {
    return workspaceFolders(folder);
  } catch (error) {
    if (error instanceof OpenApiError) throw new TenonError("CONFIG", error.message, undefined, error);
    throw error;
  }
}
