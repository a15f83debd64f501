/** The packages whose documents `tenon schema` writes. */
import { relative, resolve } from "node:path";
import { findPackage, isHandlerPackage } from "@tenon/sdk/openapi";
import { TenonError } from "../errors.ts";
import { workspaceMembers } from "../project/workspace.ts";
import { asTenonError } from "./document.ts";

/**
 * Returns the folders whose documents are requested from `folder`. In a package with a handler, that is the package. At
 * the root of a workspace, it is every package with a handler.
 *
 * @param all every package of the surrounding workspace, from any folder in it
 * @throws TenonError `NO_PROJECT` when there is none, `SCHEMA` or `CONFIG` when a `package.json` is invalid
 */
export function packagesFrom(folder: string, all: boolean): string[] {
  const own = asTenonError(() => findPackage(folder)?.folder);
  if (own !== undefined && !all) return [own];
  const members = workspaceMembers(folder);
  const meant = all || members[0] === resolve(folder) ? members : [];
  const found = [...new Set(own === undefined ? meant : [own, ...meant])].filter(isHandlerPackage);
  if (found.length === 0) {
    const elsewhere = members.some(isHandlerPackage) ? "; --workspaces selects all packages of the workspace" : "";
    throw new TenonError(
      "NO_PROJECT",
      `there is no package with a src/handler.ts in ${relative(process.cwd(), folder) || "this folder"} or above it`,
      `go to a project's folder, or to the root of a workspace that has some${elsewhere}`,
    );
  }
  return found;
}
