import { join, relative } from "node:path";
import type { Command } from "commander";
import type { BuildOptions, BuildResult } from "../build/build.ts";
import { failureToTell, TenonError } from "../errors.ts";
import { exitOnInterrupt } from "../lifecycle.ts";
import { type CommonOptions, terminalFor, withCommonOptions } from "../options.ts";
import { configFile, type Project, projectsFrom } from "../project/project.ts";
import type { Terminal } from "../terminal.ts";

interface Options extends CommonOptions {
  readonly release?: boolean;
  readonly compose?: boolean;
  readonly json?: boolean;
  readonly reference?: boolean;
  readonly server?: boolean;
}

/** `tenon build`: the project's component in `dist/`. */
export function buildCommand(program: Command): void {
  const command = program
    .command("build")
    .summary("build the project's component")
    .description(
      "Builds dist/<name>.wasm, which `tenon run` serves. With --compose it also writes dist/<name>-composed.wasm, which " +
        "runs on every server for wasi:http. At the root of a workspace it builds every project in it.",
    )
    .option("-r, --release", "optimize for serving")
    .option("-c, --compose", "compose with the bridge")
    .option("--reference", "let componentize-js make the component with the engine SpiderMonkey; to compare")
    .option("--server", "write dist/server/, which the program tenon-server serves without Node")
    .option("--json", "print the written files as JSON, one line for each project");
  withCommonOptions(command).action(async (options: Options) => {
    exitOnInterrupt();
    const terminal = terminalFor(options);
    const projects = await projectsFrom(process.cwd());
    const wanted: BuildOptions = {
      release: options.release === true,
      compose: options.compose === true,
      reference: options.reference === true,
    };
    const { buildProject } = await import("../build/build.ts");
    const failed: string[] = [];
    for (const project of projects) {
      const { name } = project.config.project;
      try {
        if (wanted.compose) requireComposable(project);
        const result = await buildProject(project, wanted, terminal);
        const server = options.server ? await buildServer(project, terminal) : undefined;
        if (options.json) process.stdout.write(`${JSON.stringify(summary(name, result, server))}\n`);
      } catch (error) {
        // In a workspace the others are built all the same.
        const told = failureToTell(error);
        if (projects.length === 1 || told === undefined) throw error;
        terminal.failure(told.message, told.hint);
        failed.push(name);
      }
    }
    if (failed.length > 0) {
      throw new TenonError("BUILD", `of ${projects.length} projects these were not built: ${failed.join(", ")}`);
    }
  });
}

function requireComposable({ config: { project, composition } }: Project): void {
  if (composition.httpHandler) return;
  throw new TenonError(
    "CONFIG",
    `composition.http_handler is false in ${configFile}, so ${project.name} is not composed`,
    "set it to true, or build without --compose",
  );
}

/** Writes the folder for `tenon-server`. Imported when it is wanted: registries come with it. */
async function buildServer(project: Project, terminal: Terminal): Promise<string> {
  const { writeServerFolder } = await import("../build/server-folder.ts");
  const folder = join(project.folder, "dist", "server");
  const write = () => writeServerFolder(project, folder);
  const { leftOut } = await terminal.step(
    "Server",
    relative(process.cwd(), folder),
    write,
    ({ modules }) => `(${modules.length === 1 ? "1 module" : `${modules.length} modules`})`,
  );
  for (const part of leftOut) terminal.say(`warning: tenon-server does not serve ${part}`);
  return folder;
}

function summary(name: string, { component, composed }: BuildResult, server: string | undefined): object {
  const file = ({ path, bytes }: { path: string; bytes: number }) => ({ path: relative(process.cwd(), path), bytes });
  return {
    name,
    component: file(component),
    ...(composed === undefined ? {} : { composed: file(composed) }),
    ...(server === undefined ? {} : { server: relative(process.cwd(), server) }),
  };
}
