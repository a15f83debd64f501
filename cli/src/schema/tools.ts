/** The tools of a project whose app has the option `mcp`. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { findPackage, moduleTools, type ToolTable } from "@tenon/sdk/openapi";
import type { Project } from "../project/project.ts";
import { asTenonError, refuseRejections } from "./document.ts";

/**
 * Returns the tools of a project's app; undefined without the option `mcp`. The name and the version come from its
 * `package.json`, or from its `tenon.toml` if that is missing.
 *
 * @throws TenonError `SCHEMA` when the handler module can't be loaded, or its schemas can't be expressed
 */
export function toolsFor({ folder, source, config }: Project): Promise<ToolTable | undefined> {
  return refuseRejections(source, () =>
    asTenonError(() => {
      const own = existsSync(join(folder, "package.json")) ? findPackage(folder)?.manifest : undefined;
      const { name, version } = config.project;
      return moduleTools(source, own ?? { name, ...(version === undefined ? {} : { version }) });
    }),
  );
}
