import { relative } from "node:path";
import { findPackage, isHandlerPackage } from "@tenon/sdk/openapi";
import { TenonError } from "../errors.ts";
import { workspaceMembers } from "../project/workspace.ts";

/**
 * The folders whose documents are asked for from `folder`: of the package with a handler that it is in, or else of every
 * package with a handler in the npm workspace that it is in.
 *
 * @param all every package of the workspace, also when `folder` is in one of them
 * @throws TenonError `NO_PROJECT` when there is none
 */
export function packagesFrom(folder: string, all: boolean): string[] {
  const own = findPackage(folder)?.folder;
  if (own !== undefined && !all) return [own];
  const members = workspaceMembers(folder);
  const found = [...new Set(own === undefined ? members : [own, ...members])].filter(isHandlerPackage);
  if (found.length === 0) {
    throw new TenonError(
      "NO_PROJECT",
      `there is no package with a src/handler.ts in ${relative(process.cwd(), folder) || "this folder"} or above it`,
      "go to a project's folder, or to the root of an npm workspace that has some",
    );
  }
  return found;
}
