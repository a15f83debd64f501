import { basename, join, resolve } from "node:path";
import { type Command, Option } from "commander";
import { type CommonOptions, terminalFor, withCommonOptions } from "../options.ts";
import { createProject, templates } from "../project/create.ts";
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
    .argument("<name>", "the project's name, which is also the module's in URLs; . is the working folder and its name")
    .addOption(
      new Option("-t, --template <name>", `what to begin with: ${described()}`)
        .choices(Object.keys(templates))
        .default("hello"),
    );
  withCommonOptions(command).action(async (folder: string, options: Options) => {
    const isHere = folder === "." || folder === "./";
    const name = isHere ? basename(process.cwd()) : folder;
    checkProjectName(name);
    const terminal = terminalFor(options);
    const files = await createProject(resolve(folder), name, options.template);
    for (const file of files) terminal.detail(`${"Create".padStart(12)} ${join(folder, file)}`);
    const steps = [...(isHere ? [] : [`  cd ${name}`]), ...next(options.template)];
    terminal.note("Create", `${name} (${files.length} files)\n\nNext:\n${steps.join("\n")}`);
  });
}

function described(): string {
  return Object.entries(templates)
    .map(([name, { summary }]) => `${name} (${summary})`)
    .join(", ");
}

/** What to do in a new project, line by line. */
function next(template: string): string[] {
  const steps = [
    ["npx tenon dev", "serves it and builds it anew when a source changes"],
    ...(templates[template]?.steps ?? []),
    ["npx vitest run", "its tests"],
    ["npx tenon build -rc", "the component to deploy, in dist/"],
  ] as const;
  return ["  npm install", ...steps.map(([command, what]) => `  ${command.padEnd(22)} # ${what}`)];
}
