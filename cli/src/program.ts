/** The program `tenon` with all its subcommands. */
import { Command, CommanderError } from "commander";
import { bridgeCommand } from "./commands/bridge.ts";
import { buildCommand } from "./commands/build.ts";
import { compileCommand } from "./commands/compile.ts";
import { completionsCommand } from "./commands/completions.ts";
import { ctlCommand } from "./commands/ctl.ts";
import { devCommand } from "./commands/dev.ts";
import { doctorCommand } from "./commands/doctor.ts";
import { evalCommand } from "./commands/eval.ts";
import { helpCommand } from "./commands/help.ts";
import { initCommand } from "./commands/init.ts";
import { mcpCommand } from "./commands/mcp.ts";
import { migrateCommand } from "./commands/migrate.ts";
import { newCommand } from "./commands/new.ts";
import { publishCommand } from "./commands/publish.ts";
import { recordCommand } from "./commands/record.ts";
import { replayCommand } from "./commands/replay.ts";
import { runCommand } from "./commands/run.ts";
import { schemaCommand } from "./commands/schema.ts";
import { sidecarCommand } from "./commands/sidecar.ts";
import { exitCode } from "./errors.ts";
import { version } from "./package.ts";
import { versionLine } from "./versions.ts";

/**
 * The command `tenon` with all its subcommands; one file each, in `commands/`. Every start loads all of these files, so
 * they only declare: an action imports the modules that its command alone needs (esbuild, the parser of TypeScript, the
 * watcher).
 */
export function createProgram(): Command {
  const program = new Command("tenon")
    .description("Write HTTP handlers in TypeScript, build them as WebAssembly components, and serve them.")
    .option("-V, --version", "print the versions of tenon, the engine and wasmtime")
    .on("option:version", () => {
      process.stdout.write(`${versionLine()}\n`);
      throw new CommanderError(exitCode.done, "commander.version", version);
    })
    .helpOption("-h, --help", "print this help")
    .showHelpAfterError("(tenon --help lists the commands)")
    .showSuggestionAfterError()
    // Throws instead of exiting, so that main.ts has the last word on exit codes. Subcommands inherit it.
    .exitOverride();
  const commands = [
    newCommand,
    initCommand,
    buildCommand,
    devCommand,
    runCommand,
    ctlCommand,
    publishCommand,
    schemaCommand,
    evalCommand,
    replayCommand,
    recordCommand,
  ];
  for (const add of [
    ...commands,
    sidecarCommand,
    mcpCommand,
    migrateCommand,
    doctorCommand,
    compileCommand,
    bridgeCommand,
    completionsCommand,
    helpCommand,
  ])
    add(program);
  for (const command of program.commands) tellHelp(command, program.name());
  return program;
}

/** After wrong usage of a command, points to its own help. */
function tellHelp(command: Command, parent: string): void {
  const path = `${parent} ${command.name()}`;
  command.showHelpAfterError(`(${path} --help lists its options)`);
  for (const each of command.commands) tellHelp(each, path);
}
