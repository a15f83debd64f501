import { CommanderError } from "commander";
import { mainOf } from "./building.ts";
import { exitCode, failureToTell, systemReason, TenonError } from "./errors.ts";
import { createProgram } from "./program.ts";
import { Terminal } from "./terminal.ts";

/** Runs the command with the arguments of a process and sets its exit code. */
export async function main(argv: readonly string[]): Promise<void> {
  // A reader that has closed the pipe (`tenon … | head -1`) is not a failure.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(process.exitCode ?? exitCode.done);
    new Terminal().failure(`cannot write to standard output: ${systemReason(error)}`);
    process.exit(exitCode.failed);
  });
  // Nobody reads the messages, so there is nobody to tell. The command goes on.
  process.stderr.on("error", () => {});
  try {
    const other = await mainOf(argv);
    if (other !== undefined) return await other(argv);
    await createProgram().parseAsync([...argv]);
  } catch (error) {
    process.exitCode = report(error);
  }
}

function report(error: unknown): number {
  // Commander has printed its message by itself; --help and --version end this way too, with 0.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCode.done : exitCode.usage;
  const terminal = new Terminal();
  const told = failureToTell(error);
  if (told !== undefined) {
    terminal.failure(told.message, told.hint);
    const isUsage = error instanceof TenonError && (error.code === "USAGE" || error.code === "NAME");
    return isUsage ? exitCode.usage : exitCode.failed;
  }
  terminal.failure(
    error instanceof Error ? (error.stack ?? error.message) : String(error),
    "this is a bug in tenon; please report it",
  );
  return exitCode.failed;
}
