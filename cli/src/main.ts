import { CommanderError } from "commander";
import { exitCode, systemReason, TenonError } from "./errors.ts";
import { createProgram } from "./program.ts";
import { Terminal } from "./terminal.ts";

/** Runs the command with the arguments of a process and sets its exit code. */
export async function main(argv: readonly string[]): Promise<void> {
  // A reader that has seen enough (`tenon … | head -1`) is no failure.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(process.exitCode ?? exitCode.done);
    new Terminal().failure(`cannot write to standard output: ${systemReason(error)}`);
    process.exit(exitCode.failed);
  });
  try {
    await createProgram().parseAsync([...argv]);
  } catch (error) {
    process.exitCode = report(error);
  }
}

function report(error: unknown): number {
  // Commander has printed its message by itself; --help and --version end this way too, with 0.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCode.done : exitCode.usage;
  const terminal = new Terminal();
  if (error instanceof TenonError) {
    terminal.failure(error.message, error.hint);
    return error.code === "USAGE" || error.code === "NAME" ? exitCode.usage : exitCode.failed;
  }
  if (isOfSystem(error)) {
    terminal.failure(error.path === undefined ? systemReason(error) : `${error.path}: ${systemReason(error)}`);
    return exitCode.failed;
  }
  terminal.failure(
    error instanceof Error ? (error.stack ?? error.message) : String(error),
    "this is a bug in tenon; please report it",
  );
  return exitCode.failed;
}

/** Whether the machine said no: of a file, a folder, a socket. */
function isOfSystem(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && typeof (error as NodeJS.ErrnoException).syscall === "string";
}
