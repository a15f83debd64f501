import { basename, join, resolve } from "node:path";
import { type Command, Option } from "commander";
import { type CommonOptions, terminalFor, withCommonOptions } from "../options.ts";
import { createProject, templates } from "../project/create.ts";
import { checkProjectName } from "../project/name.ts";
import { type PackageManager, packageManager } from "../project/package-manager.ts";

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
    const manager = packageManager();
    const files = await createProject(resolve(folder), name, options.template, manager);
    for (const file of files) terminal.detail(`${"Create".padStart(12)} ${join(folder, file)}`);
    const steps = [...(isHere ? [] : [`  cd ${name}`]), ...next(options.template, manager)];
    terminal.note("Create", `${name} (${files.length} files)\n\nNext:\n${steps.join("\n")}`);
  });
}

function described(): string {
  return Object.entries(templates)
    .map(([name, { summary }]) => `${name} (${summary})`)
    .join(", ");
}

/** The next steps in a new project, line by line. */
function next(template: string, manager: PackageManager): string[] {
  const run = manager === "pnpm" ? "pnpm exec" : "npx";
  const steps = [
    [`${run} tenon dev`, "serves it and rebuilds it when a source changes"],
    ...(templates[template]?.steps ?? []),
    [`${run} vitest run`, "its tests"],
    [`${run} tenon build -rc`, "the component to deploy, in dist/"],
  ] as const;
  const width = Math.max(22, ...steps.map(([command]) => command.length));
  return [`  ${manager} install`, ...steps.map(([command, what]) => `  ${command.padEnd(width)} # ${what}`)];
}
