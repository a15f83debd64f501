/** The options that all commands share, and parsers of options. */
import { type Command, InvalidArgumentError } from "commander";
import { type ErrorCode, TenonError } from "./errors.ts";
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
  if (!(port <= 65_535))
    throw new InvalidArgumentError("A port must be a number from 0 to 65535; 0 chooses a free one.");
  return port;
}

/** Parses `--host`. */
export function parseHost(text: string): string {
  if (text.trim() === "") throw new InvalidArgumentError("A host must be an address such as 127.0.0.1, or a name.");
  return text;
}

/** The next step when a command cannot listen, by the error's code. */
const remedies: Partial<Record<ErrorCode, string>> = {
  ADDRESS_IN_USE: "another program listens there; choose another port with --port",
  LISTEN: "choose an address of this machine with --host, or another port with --port",
};

/** Names the option that chooses another port or host, when a command cannot listen. */
export async function suggestPort<T>(listening: Promise<T>): Promise<T> {
  try {
    return await listening;
  } catch (error) {
    const hint = error instanceof TenonError ? remedies[error.code] : undefined;
    if (!(error instanceof TenonError) || hint === undefined) throw error;
    throw new TenonError(error.code, error.message, hint, error);
  }
}
