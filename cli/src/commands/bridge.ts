import { writeFile } from "node:fs/promises";
import type { Command } from "commander";
import { systemReason, TenonError } from "../errors.ts";
import { native } from "../native.ts";
import { type CommonOptions, terminalFor, withCommonOptions } from "../options.ts";
import { formatBytes } from "../terminal.ts";

interface Options extends CommonOptions {
  readonly output: string;
}

/** `tenon bridge`: the bridge component, for composing by other tools. */
export function bridgeCommand(program: Command): void {
  const command = program
    .command("bridge")
    .summary("write the bridge component")
    .description("Writes the bridge, for: wac plug bridge.wasm --plug handler.wasm -o service.wasm")
    .option("-o, --output <file>", "where to write it; - for standard output", "bridge.wasm");
  withCommonOptions(command).action(async (options: Options) => {
    const bytes = native().bridge();
    if (options.output === "-") {
      process.stdout.write(bytes);
      return;
    }
    try {
      await writeFile(options.output, bytes);
    } catch (error) {
      throw new TenonError("WRITE", `cannot write ${options.output}: ${systemReason(error)}`);
    }
    terminalFor(options).say(`Wrote ${options.output} (${formatBytes(bytes.length)})`);
  });
}
