import { relative } from "node:path";
import type { Command } from "commander";
import { type BuildResult, buildProject } from "../build/build.ts";
import { type CommonOptions, terminalFor, withCommonOptions } from "../options.ts";
import { requireProject } from "../project/project.ts";

interface Options extends CommonOptions {
  readonly release?: boolean;
  readonly compose?: boolean;
  readonly json?: boolean;
}

/** `tenon build`: the project's component in `dist/`. */
export function buildCommand(program: Command): void {
  const command = program
    .command("build")
    .summary("build the project's component")
    .description(
      "Builds dist/<name>.wasm, which `tenon run` serves. With --compose it also writes dist/<name>-composed.wasm, which " +
        "runs on every server for wasi:http.",
    )
    .option("-r, --release", "optimize for serving")
    .option("-c, --compose", "compose with the bridge")
    .option("--json", "print what was written as JSON");
  withCommonOptions(command).action(async (options: Options) => {
    const terminal = terminalFor(options);
    const project = await requireProject(process.cwd());
    const wanted = { release: options.release === true, compose: options.compose === true };
    const result = await buildProject(project, wanted, terminal);
    if (options.json) process.stdout.write(`${JSON.stringify(summary(project.config.project.name, result))}\n`);
  });
}

function summary(name: string, { component, composed }: BuildResult): object {
  const file = ({ path, bytes }: { path: string; bytes: number }) => ({ path: relative(process.cwd(), path), bytes });
  return { name, component: file(component), ...(composed === undefined ? {} : { composed: file(composed) }) };
}
