import { Command } from "commander";
import { bridgeCommand } from "./commands/bridge.ts";
import { buildCommand } from "./commands/build.ts";
import { newCommand } from "./commands/new.ts";
import { runCommand } from "./commands/run.ts";
import { version } from "./package.ts";

/** The command `tenon` with all its subcommands; one file each, in `commands/`. */
export function createProgram(): Command {
  const program = new Command("tenon")
    .description("Write HTTP handlers in TypeScript, build them as WebAssembly components, and serve them.")
    .version(version, "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .showHelpAfterError("(tenon --help lists the commands)")
    .showSuggestionAfterError()
    // Throws instead of exiting, so that main.ts has the last word on exit codes. Subcommands inherit it.
    .exitOverride()
    .helpCommand("help [command]", "print help for a command");
  for (const add of [newCommand, buildCommand, runCommand, bridgeCommand]) add(program);
  return program;
}
