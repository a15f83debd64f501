import type { Command } from "commander";
import { ask, detailOf } from "../ask.ts";
import { exitCode, TenonError } from "../errors.ts";
import { type CommonOptions, withCommonOptions } from "../options.ts";
import { positive } from "./sidecar-options.ts";

interface Options extends CommonOptions {
  readonly timeout: number;
}

/** `tenon sidecar health`: whether a sidecar and its store answer, for probes. */
export function addHealth(sidecar: Command): void {
  const command = sidecar
    .command("health")
    .summary("check that a sidecar answers")
    .description(
      "Asks a sidecar for /health, and prints one line, with --quiet only if it does not answer. The exit code is 0 when the sidecar and its store answer, and 1 " +
        "otherwise.",
    )
    .argument("<address>", "where it listens: unix:///run/name.sock or http://127.0.0.1:port")
    .option("--timeout <ms>", "milliseconds to wait for the answer", positive, 2500);
  withCommonOptions(command).action(check);
}

async function check(address: string, { timeout, quiet }: Options): Promise<void> {
  const reason = await failureOf(address, timeout);
  const isSaid = reason !== undefined || !quiet;
  if (isSaid) process.stdout.write(`${address} is ${reason === undefined ? "up" : `down: ${reason}`}\n`);
  process.exitCode = reason === undefined ? exitCode.done : exitCode.failed;
}

async function failureOf(address: string, timeoutMs: number): Promise<string | undefined> {
  try {
    const reply = await ask({ address, method: "GET", path: "/health", timeoutMs });
    return reply.status === 200 ? undefined : detailOf(reply);
  } catch (error) {
    if (error instanceof TenonError) throw error;
    return (error as Error).message;
  }
}
