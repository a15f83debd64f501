import { resolve } from "node:path";
import type { Command } from "commander";
import { type CommonOptions, terminalFor, withCommonOptions } from "../options.ts";
import { createProject } from "../project/create.ts";
import { checkProjectName } from "../project/name.ts";

interface Options extends CommonOptions {
  readonly template: string;
}

/** `tenon new`: a project that builds, tests and serves as it is. */
export function newCommand(program: Command): void {
  const command = program
    .command("new")
    .summary("make a project")
    .description("Makes a folder <name> with a handler, its test, and all that building and serving it needs.")
    .argument("<name>", "the project's name, which is also the module's in URLs")
    .option("-t, --template <name>", "what to begin with: hello", "hello");
  withCommonOptions(command).action(async (name: string, options: Options) => {
    checkProjectName(name);
    const terminal = terminalFor(options);
    const files = await createProject(resolve(name), name, options.template);
    for (const file of files) terminal.detail(`${"Create".padStart(12)} ${name}/${file}`);
    terminal.say(`${terminal.bold("Create".padStart(12))} ${name} (${files.length} files)

Next:
  cd ${name}
  npm install
  npx tenon build -rc
  npx tenon run`);
  });
}
