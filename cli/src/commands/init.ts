import { existsSync } from "node:fs";
import type { Command } from "commander";
import { type CommonOptions, terminalFor, withCommonOptions } from "../options.ts";
import { packageManager } from "../project/package-manager.ts";

interface Options extends CommonOptions {
  readonly entry?: string;
  readonly json?: boolean;
}

/** `tenon init`: adds what an existing project lacks to be built and served. */
export function initCommand(program: Command): void {
  const command = program
    .command("init")
    .summary("add tenon to an existing project")
    .description(
      "Adds what the project in the working folder lacks: tenon.toml, a handler that exports the app that package.json starts, entries of " +
        "tsconfig.json, package.json and .gitignore. It overwrites nothing, and names the parts of the app that will not work in a component.",
    )
    .option("--entry <file>", "the module whose default export is the app, instead of the one that package.json starts")
    .option("--json", "print what was done as JSON");
  withCommonOptions(command).action(async (options: Options) => {
    const { initProject, isInstalled } = await import("../project/init/init.ts");
    const terminal = terminalFor(options);
    const done = initProject(process.cwd(), options);
    if (options.json) process.stdout.write(`${JSON.stringify(done)}\n`);
    for (const file of done.created) terminal.note("Create", file);
    for (const { file, what } of done.added) terminal.note("Add", `${what} to ${file}`);
    for (const file of done.kept) terminal.note("Keep", file);
    for (const { place, problem } of done.findings) terminal.say(`warning: ${place}: ${problem}`);
    const manager = packageManager();
    const run = manager === "pnpm" ? "pnpm exec" : "npx";
    const steps = [
      ...(isInstalled(process.cwd()) ? [] : [`${manager} install`]),
      ...(existsSync(".env.example") && !existsSync(".env") ? ["cp .env.example .env     # and fill it in"] : []),
      `${run} tenon dev`,
    ];
    terminal.note("App", `${done.app}\n\nNext:\n${steps.map((step) => `  ${step}`).join("\n")}`);
  });
}
