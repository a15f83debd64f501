import { type Command, InvalidArgumentError } from "commander";
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
