/** Checks of the current project: its configuration, its handler, and its installed SDK. */
import { existsSync } from "node:fs";
import { relative } from "node:path";
import { version } from "../package.ts";
import { type Project, sourceHint } from "../project/project.ts";
import { installedVersion } from "../versions.ts";
import { type Check, error, ok } from "./check.ts";

/** Checks a project whose `tenon.toml` was read. */
export function projectChecks(project: Project): Check[] {
  return [
    ok("project", `${project.config.project.name}, in ${project.folder}`),
    ...sourceCheck(project),
    sdkCheck(project),
  ];
}

function sourceCheck(project: Project): Check[] {
  const { source } = project;
  if (existsSync(source)) return [];
  const shown = relative(process.cwd(), source);
  return [error("handler", `there is no ${shown}`, sourceHint(project))];
}

function sdkCheck({ folder }: Project): Check {
  const installed = installedVersion("@tenon/sdk", folder);
  if (installed === undefined) return error("SDK", "@tenon/sdk is not installed", "run `npm install` in the project");
  if (installed === version) return ok("SDK", `@tenon/sdk ${installed}`);
  return error("SDK", `@tenon/sdk is ${installed}, and tenon ${version}`, `npm install @tenon/sdk@${version}`);
}
