/** The app of a project, built and run in this process, for `tenon mcp`. */
import { buildProject } from "../build/build.ts";
import { Runtime } from "../embed/runtime.ts";
import { TenonError } from "../errors.ts";
import { requireProject } from "../project/project.ts";
import { withEnvironmentFile } from "../project/secrets.ts";
import { readConfiguration } from "../serve/configuration.ts";
import { Terminal } from "../terminal.ts";
import type { StdioTarget } from "./stdio.ts";

/** A running app. */
export interface RunningApp extends Omit<StdioTarget, "headers"> {
  close(): Promise<void>;
}

/**
 * Builds and loads the project of the working directory. Its messages go to standard error, because standard output is the
 * protocol's.
 */
export async function startApp(isVerbose: boolean): Promise<RunningApp> {
  const terminal = new Terminal(isVerbose ? "verbose" : "quiet");
  const project = await requireProject(process.cwd());
  // A client starts this on the developer's machine, without the variables of a shell.
  Object.assign(process.env, withEnvironmentFile(project.folder, process.env));
  const { component } = await buildProject(project, { release: false, compose: false }, terminal);
  const { modules, serving } = await readConfiguration([component.path], () => {
    throw new TenonError("USAGE", "tenon mcp runs the project's own component");
  });
  const runtime = await Runtime.create({
    ...serving,
    modules,
    accessLog: false,
    logLevel: isVerbose ? "info" : "error",
  });
  const url = `http://localhost/run/${project.config.project.name}/mcp`;
  return { url, fetch: (request) => runtime.fetch(request), close: () => runtime.close() };
}
