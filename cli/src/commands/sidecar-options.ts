/** Options that all sidecars share. */
import { readFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { type Command, InvalidArgumentError, Option } from "commander";
import { exitCode, systemReason, TenonError } from "../errors.ts";
import { Lifecycle, stopping } from "../lifecycle.ts";
import { type CommonOptions, terminalFor } from "../options.ts";
import { Terminal } from "../terminal.ts";

/** The variable that the bearer token may come from. */
export const TOKEN_VARIABLE = "TENON_SIDECAR_TOKEN";

/** The help of `--insecure`. */
export const INSECURE = "answer every request of other machines, without a bearer token";

/** The bearer token that requests must have, when one is said. */
export function tokenFrom({ tokenFile }: { readonly tokenFile?: string }): string | undefined {
  const token = tokenFile === undefined ? process.env[TOKEN_VARIABLE] : secretFile(tokenFile);
  if (token === "") throw new TenonError("CONFIG", "the bearer token is empty", "put a long random text into it");
  return token;
}

/** The text of a file, without the line end that editors leave. */
export function secretFile(file: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    throw new TenonError("CONFIG", `${file} cannot be read: ${systemReason(error)}`, undefined, error);
  }
}

/** The options of a sidecar that {@link serveSidecar} and {@link logFormatOf} read. */
export interface ServerOptions {
  readonly logFormat?: "readable" | "json";
  readonly drain?: number;
}

/** Adds {@link ServerOptions} to a command. */
export function withServerOptions(command: Command): Command {
  return command
    .addOption(new Option("--log-format <format>", "how lines are logged").choices(["readable", "json"]))
    .option("--drain <ms>", "milliseconds for which it goes on accepting after SIGTERM", positive);
}

/** The format of the log, which holds for the lines of the command as well. */
export function logFormatOf({ logFormat = "readable" }: ServerOptions): "readable" | "json" {
  if (logFormat === "json") Terminal.useJson();
  return logFormat;
}

/** The level of the log, by `--quiet` and `--verbose`. */
export function logLevelOf({ quiet, verbose }: CommonOptions): "error" | "debug" | "info" {
  return quiet ? "error" : verbose ? "debug" : "info";
}

/** The options of {@link serveSidecar}. */
interface ServeOptions extends CommonOptions, ServerOptions {
  readonly json?: boolean;
}

/**
 * Serves a sidecar until a signal, and ends the process.
 *
 * @param subject the store or the API, for the line that says where it is served
 */
export async function serveSidecar(
  kind: string,
  subject: string,
  starting: Promise<{ readonly address: string; close(): Promise<void> }>,
  options: ServeOptions,
): Promise<void> {
  const terminal = terminalFor(options);
  const lifecycle = new Lifecycle();
  const sidecar = await lifecycle.starting(starting).catch(asUsage);
  const { address } = sidecar;
  terminal.note("Serve", `${subject} at ${address}`);
  if (options.json) process.stdout.write(`${JSON.stringify({ kind, address })}\n`);
  process.exitCode = await endOf(lifecycle, options, terminal);
  terminal.note("Stop", stopping);
  await sidecar.close();
  process.exit();
}

/** An address or a URL that means nothing is wrong usage: nothing was asked yet. */
function asUsage(error: unknown): never {
  if (error instanceof TenonError && error.code === "CONFIG") {
    throw new TenonError("USAGE", error.message, error.hint, error);
  }
  throw error;
}

/** Resolves with the exit code when the sidecar is to stop: after a SIGTERM it goes on for the time of `--drain`. */
async function endOf(lifecycle: Lifecycle, { drain = 0 }: ServerOptions, terminal: Terminal): Promise<number> {
  const code = await lifecycle.ended;
  if (code === exitCode.done && drain > 0) {
    terminal.note("Drain", `for ${drain} ms`);
    await setTimeout(drain);
  }
  return code;
}

/** A whole number from 1 on. */
export function positive(text: string): number {
  const number = /^[0-9]{1,10}$/.test(text) ? Number(text) : 0;
  if (number < 1 || number > 0xffff_ffff)
    throw new InvalidArgumentError("It must be a whole number from 1 to 4294967295.");
  return number;
}
