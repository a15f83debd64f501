import { randomBytes } from "node:crypto";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import type { Command } from "commander";
import { systemReason, TenonError } from "../errors.ts";
import { exitOnInterrupt } from "../lifecycle.ts";
import { fromNative, native } from "../native.ts";
import { interfacesOf } from "../oci/interfaces.ts";
import { type CommonOptions, terminalFor, withCommonOptions } from "../options.ts";
import { formatBytes } from "../terminal.ts";

interface Options extends CommonOptions {
  readonly output?: string;
  readonly target?: string;
  readonly targetCpu?: string;
}

/** `tenon compile`: machine code of a component, so that a server starts at once where it has no cache. */
export function compileCommand(program: Command): void {
  const command = program
    .command("compile")
    .summary("compile a component to machine code")
    .description(
      "Compiles a component ahead of time, for images and machines whose cache is empty. `tenon run --trust-compiled` serves " +
        "the file. It runs with this version of Tenon alone, on the system and the processor that it is compiled for and newer ones.",
    )
    .argument("<component>", "the component's file, such as dist/shop.wasm")
    .option("-o, --output <file>", "where to write it; the component's name with .cwasm when left out")
    .option(
      "--target-cpu <name>",
      "native: this machine's (the default without --target); or a level such as x86-64-v3, which all processors of a cluster have",
    )
    .option(
      "--target <system>",
      "another system than this one: linux-x64, linux-arm64, darwin-x64, darwin-arm64 or win32-x64",
    );
  withCommonOptions(command).action(async (component: string, options: Options) => {
    exitOnInterrupt();
    const output = options.output ?? component.replace(/(\.wasm)?$/, ".cwasm");
    if (!output.endsWith(".cwasm")) {
      throw new TenonError("USAGE", `cannot write ${output}: the name of compiled code must end in .cwasm`);
    }
    const bytes = await readFile(component).catch((error: unknown) => {
      const isAbsent = (error as NodeJS.ErrnoException).code === "ENOENT";
      const hint = isAbsent ? "run `tenon build` first" : undefined;
      throw new TenonError("MODULE_READ", `cannot read ${component}: ${systemReason(error)}`, hint);
    });
    await interfacesOf(bytes, component);
    const compile = async () => {
      const code = await fromNative(native().compileAhead(bytes, options.targetCpu, options.target)).catch(asUsage);
      await replace(output, code);
      return code.length;
    };
    const processor = [options.target, options.targetCpu].filter((name) => name !== undefined).join(" ") || "native";
    const shown = `${component} for ${processor}`;
    await terminalFor(options).step("Compile", shown, compile, (size) => `${output} (${formatBytes(size)})`);
  });
}

/** An unknown processor or system is wrong usage. */
function asUsage(error: unknown): never {
  if (error instanceof TenonError && error.code === "CONFIG") {
    throw new TenonError("USAGE", error.message, undefined, error);
  }
  throw error;
}

/** Writes a file at once: a server may have the former one mapped. */
async function replace(file: string, content: Uint8Array): Promise<void> {
  const partial = `${file}.${randomBytes(6).toString("hex")}.partial`;
  try {
    await writeFile(partial, content);
    await rename(partial, file);
  } catch (error) {
    await rm(partial, { force: true });
    throw new TenonError("WRITE", `cannot write ${file}: ${systemReason(error)}`);
  }
}
