/** The options that all commands share, and parsers of options. */
import { type Command, InvalidArgumentError } from "commander";
import { TenonError } from "./errors.ts";
import { Terminal, type Verbosity } from "./terminal.ts";

/** The options that every command takes. */
export interface CommonOptions {
  readonly quiet?: boolean;
  readonly verbose?: boolean;
}

/** Adds {@link CommonOptions} to a command. */
export function withCommonOptions(command: Command): Command {
  return command.option("-q, --quiet", "print errors only").option("-v, --verbose", "print every detail");
}

/** The terminal that the options ask for. */
export function terminalFor(options: CommonOptions): Terminal {
  const verbosity: Verbosity = options.quiet ? "quiet" : options.verbose ? "verbose" : "normal";
  return new Terminal(verbosity);
}

/** Parses `--port`. */
export function parsePort(text: string): number {
  const port = /^[0-9]{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(port <= 65_535)) throw new InvalidArgumentError("A port is a number from 0 to 65535; 0 takes a free one.");
  return port;
}

/** Names the option that chooses another port, when the port that a command would listen on is taken. */
export async function suggestPort<T>(listening: Promise<T>): Promise<T> {
  try {
    return await listening;
  } catch (error) {
    if (!(error instanceof TenonError) || error.code !== "ADDRESS_IN_USE") throw error;
    const hint = "another program listens there; choose another port with --port";
    throw new TenonError(error.code, error.message, hint, error);
  }
}
