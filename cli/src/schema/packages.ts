import { relative, resolve } from "node:path";
import { findPackage, isHandlerPackage } from "@tenon/sdk/openapi";
import { TenonError } from "../errors.ts";
import { workspaceMembers } from "../project/workspace.ts";
import { asTenonError } from "./document.ts";

/**
 * The folders whose documents are asked for from `folder`: of the package with a handler that it is in, or, at the root of
 * a workspace, of every package with a handler in it.
 *
 * @param all every package of the workspace that `folder` is in, wherever in it that is
 * @throws TenonError `NO_PROJECT` when there is none, `SCHEMA` or `CONFIG` when a `package.json` is wrong
 */
export function packagesFrom(folder: string, all: boolean): string[] {
  const own = asTenonError(() => findPackage(folder)?.folder);
  if (own !== undefined && !all) return [own];
  const members = workspaceMembers(folder);
  const meant = all || members[0] === resolve(folder) ? members : [];
  const found = [...new Set(own === undefined ? meant : [own, ...meant])].filter(isHandlerPackage);
  if (found.length === 0) {
    const elsewhere = members.some(isHandlerPackage) ? "; --workspaces means all packages of the workspace" : "";
    throw new TenonError(
      "NO_PROJECT",
      `there is no package with a src/handler.ts in ${relative(process.cwd(), folder) || "this folder"} or above it`,
      `go to a project's folder, or to the root of a workspace that has some${elsewhere}`,
    );
  }
  return found;
}
